/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Speak base/contract.h as a child: tell the master how this runner or listener is, and learn that it must leave. There
 * is one child a process.
 *
 * Started by hand, without a master, the same program works: the instance is 0 of 1, and ready and beats go nowhere.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct Delays;

typedef struct Child {
    char *runner;       /* the NAME of [runner.NAME] */
    char *config;       /* path of the configuration */
    unsigned instance;  /* 0 .. instances - 1 */
    unsigned instances;
    unsigned listen_fds; /* listening sockets from CHILD_LISTEN_FD on */
    int wake_fd;        /* readable when SIGTERM or SIGHUP came; poll it */
    int status_fd;      /* poll it for no events: POLLERR says that the master died; -1 without one */
} Child;

/* Read the environment, raise the limit of open files, install the signal handlers (SIGTERM, SIGINT, SIGHUP; SIGPIPE
 * and SIGXFSZ are ignored). fallback is the runner's name when the environment has none. Fails (FAIL_CONFIG) on values
 * that make no sense. The result is owned by the module. */
const Child *child_init(const char *fallback, GError **error);

/* Tell the master that start-up and recovery are done. */
void child_ready(void);
/* Tell the master how far this process is; base/contract.h explains the numbers. holding is the name of the entry held
 * longest, or NULL. Call it at least every heartbeat_interval. It also sees to the trail and the confinement of the
 * process. It never blocks: a beat for which the pipe has no room is dropped. */
void child_beat(uint64_t progress, uint64_t done, uint64_t backlog, int64_t oldest, const char *holding);
/* Name the subject of a notice: there is one notice at a time for each subject. */
typedef enum ChildNotice {
    CHILD_NOTICE_WORK,
    CHILD_NOTICE_DATABASE,
    CHILD_NOTICE_SPACE,
    CHILD_NOTICE_TRAIL,
    CHILD_NOTICES
} ChildNotice;

/* Tell the master a text that a person should know, though this process works. It is copied, shown by `listrunner
 * status`, and told again with each beat, until the next text about the same subject. NULL ends the notice. Any thread
 * may call it. */
void child_notice(ChildNotice about, const char *text);
/* Set how many entries wait that could not be handled several times, for a reason that may pass. Each beat from now on
 * says it. */
void child_set_late(uint64_t entries);
/* Set the counts of how long mail took (base/delays.h), which each beat from now on says. They are borrowed and read at
 * each beat. */
void child_set_delays(const struct Delays *delays);
/* Set whether the beats from now on say that a crash of this process is charged to the entry held. At first they do
 * not. */
void child_set_charged(bool charged);

/* Return true when the master said that the former process of this slice was ended from outside (contract.h). */
bool child_replaces_killed(void);

/* Return the exit code of a process that cannot go on for this reason: CHILD_EXIT_CONFIG or CHILD_EXIT_LATER. */
int child_exit_code(const GError *error);

/* Tell the log and the master why this process cannot begin its work, and return the exit code for it. The texts of
 * log_fatal() and log_panic() come to the master without this. */
int child_cannot_start(const GError *error);

/* Return true once SIGTERM or SIGINT came, the status pipe broke, or child_stop() was called. */
bool child_stopping(void);
/* Make child_stopping() true. Call it when poll(2) reports POLLERR on status_fd. */
void child_stop(void);
/* Return true at the first call after a SIGHUP; the file of the log was opened again then. Call it whenever wake_fd is
 * readable, because it alone empties that; after SIGTERM wake_fd stays readable. */
bool child_reopen(void);
