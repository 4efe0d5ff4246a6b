/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Common code of the verbs of `listrunner queue` and `listrunner shunt` that change something: the
 * entries meant (queue_select.h), --dry-run, --json, and one row that says what became
 * of each. What a runner holds is not touched, and the row says so.
 */
#include "cli/command.h"
#include "cli/queue_select.h"
#include "switchboard/operate.h"

extern gboolean queue_act_dry, queue_act_json, queue_act_all;

#define QUEUE_ACT_OPTIONS                                                                                    \
    {"dry-run", 0, 0, G_OPTION_ARG_NONE, &queue_act_dry, "only say what would be done", NULL},               \
    {                                                                                                        \
        "json", 0, 0, G_OPTION_ARG_NONE, &queue_act_json, "one JSON object a line", NULL                     \
    }

/* A verb. The names of queues end with NULL. */
typedef struct QueueVerb {
    const char *name;               /* "hold" */
    const char *past;               /* "held" */
    const char *nothing;            /* said when there is nothing at all in its queues, or NULL */
    const char *const *queues;      /* where it looks unless --queue says otherwise; NULL: all but `except` */
    const char *const *except;
    bool only;                      /* there is nothing to do in other queues than `queues` */
    bool aside;                     /* it works on what was set aside: what is in shunt, or preserved anywhere */
    bool leaves_shunt;              /* what is preserved in shunt moves, like what is ready there */
    /* One of these: the entry's successor (NULL without error: none); or it is done in place, and *name is its name
     * afterwards. FAIL_NEVER with a reason leaves the entry as it was. */
    Draft *(*draft)(Entry *entry, GError **error);
    bool (*in_place)(Operate *operate, Queue *queue, EntryName *name, GError **error);
    bool (*in_place_preserved)(Operate *operate, Queue *queue, EntryName *name, GError **error); /* with aside */
} QueueVerb;

/* Run it; an exit code, or error set. */
int queue_act_run(const QueueVerb *verb, Site *site, int argc, char **argv, GError **error);
