/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Start, watch, change and stop the runners with these objects of the master. A Master owns Groups, one for each
 * runner; a Group owns Workers, one for each instance (child process) of the runner. There is one thread and one
 * libevent loop. Groups and Workers are freed only in the sweep (supervisor_sweep_soon()), never in their own
 * callbacks.
 *
 * A group changes as a whole: every old child has ended before the first new one starts, so no slice has two owners.
 *
 * The service manager (systemd) is told how the master is, by datagrams to the UNIX socket of $NOTIFY_SOCKET. A message
 * that cannot be sent is dropped: the service manager's time-outs decide then.
 */
#include <event2/event.h>
#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "master/listen.h"
#include "master/plan.h"
#include "master/scale.h"
#include "master/watch.h"

typedef struct Master {
    struct event_base *base;
    char *config_path;  /* the site's file */
    char *config_copy;  /* the configuration in force, what children read */
    char *config_text;  /* the same, for when that file is gone */
    Plan *plan;         /* the runners' part may be outdated by rescale */
    GPtrArray *groups;  /* Group * */
    Listen *listen;
    int state_dir;      /* SPOOL/.master */
    int64_t since;      /* wall clock */
    ClockBack clock;    /* has it been set back? */
    bool stopping;
    bool announced;     /* READY=1 was said */
    char *reload_fault; /* why the last reload was refused */
    struct event *sweep;
    struct History *history; /* NULL: not started yet */
    struct Scaler *scaler;   /* the same */
    struct Pause *pause;     /* NULL: children may run */
} Master;

typedef struct Group {
    Master *master;
    PlanRunner *plan; /* what runs */
    PlanRunner *next; /* while changing: what follows; NULL: nothing, the group goes */
    bool changing;
    GPtrArray *workers; /* Worker * */
    Scale scale;
    int64_t scaled_at; /* when their number was changed last because of the load, wall clock; 0: never */
    char *scaled_why;
} Group;

/* Make the master; nothing is started. config_path is absolute and copied. *plan is taken and set to NULL. base and
 * state_dir stay the caller's. Files of UNIX sockets on which runners listen belong to the group socket_group. */
Master *supervisor_new(struct event_base *base, const char *config_path, Plan **plan, int state_dir,
                       gid_t socket_group);
void supervisor_free(Master *master);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Master, supervisor_free)

/* Start every group of the plan, and run the event loop until the last child has ended. SIGHUP reloads, SIGTERM and
 * SIGINT stop. The caller has blocked the signals `held`, which are let in meanwhile. */
void supervisor_run(Master *master, const sigset_t *held);

/* Ask every child to end. The event loop is left when the last one is gone. */
void supervisor_stop(Master *master);

/* Schedule the sweep for after the callback that runs now. Call it when a child ended or became ready. The sweep goes
 * on with the changes of groups, frees the groups that have ended, and tells systemd when all children have been ready
 * or have failed. */
void supervisor_sweep_soon(Master *master);

Group *supervisor_find(const Master *master, const char *runner); /* NULL: no group runs it */

/* Stop the children of a group, and when all have ended start those of the plan next, which is copied. next NULL: the
 * sweep then removes the group. A call while the group is changing only replaces the plan that follows. */
void supervisor_change(Group *group, const PlanRunner *next);

/* Return the plan that the group follows or will follow; NULL when it is going. */
const PlanRunner *supervisor_goal(const Group *group);

/* Bind the addresses on which the plan's runners listen, as far as they are not bound yet. FAIL_CONFIG, one fault a
 * line; the addresses without a fault are bound then. */
bool supervisor_bind(Master *master, const Plan *plan, GError **error);

/* Write text to the copy of the configuration that children read (Master.config_copy), and keep it in config_text. */
bool supervisor_keep(Master *master, const char *text, GError **error);

/* Read the configuration anew and change the running groups as it wants. False: the runners go on as before, and the
 * faults are logged and kept for `status`, unless the master is stopping (FAIL_LATER). */
bool supervisor_reload(Master *master, GError **error);

/*
 * All children can stand still for a moment, as if the host had stopped. So somebody can see the whole spool as it is
 * at that moment. The master itself goes on: it ends the pause when it is told to, when the one who asked is gone, when
 * it stops, and in any case after PAUSE_LIMIT. Meanwhile no child is started, and none is taken for stalled. A master
 * that is killed in a pause leaves its children standing still; the next one lets them go on before it ends them
 * (slices.h).
 */
#define PAUSE_LIMIT (20 * CLOCK_SECOND)

/* Called once from the loop: when every child stands still, with error NULL; or when that took longer than PAUSE_LIMIT
 * and all go on again, with FAIL_LATER. It is not called if the pause ends before. */
typedef void PauseDone(void *data, const GError *error);

/* Begin to stop all children (SIGSTOP); done tells when they stand still. data is passed to done, and is the key for
 * supervisor_go_on(). FAIL_LATER: there is a pause already. */
bool supervisor_pause(Master *master, PauseDone *done, void *data, GError **error);

/* End the pause that was begun with this data, and let all children go on. False: that pause has ended already. */
bool supervisor_go_on(Master *master, const void *data);
