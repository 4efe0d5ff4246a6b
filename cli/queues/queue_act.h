/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Change entries of queues, for the verbs of `listrunner queue` and `listrunner shunt`. A verb is a QueueVerb. The
 * entries are those that the command line means (queue_select.h), and a row says what became of each. An entry that a
 * runner holds is not touched, and its row says so. With --dry-run nothing is changed.
 */
#include "cli/command.h"
#include "cli/queues/queue_select.h"
#include "switchboard/operate.h"

extern gboolean queue_act_dry, queue_act_json, queue_act_all;

#define QUEUE_ACT_OPTIONS                                                                                    \
    {"dry-run", 0, 0, G_OPTION_ARG_NONE, &queue_act_dry, "only say what would be done", NULL},               \
    {                                                                                                        \
        "json", 0, 0, G_OPTION_ARG_NONE, &queue_act_json, "one JSON object a line", NULL                     \
    }

/* One verb. The names of queues end with NULL. */
typedef struct QueueVerb {
    const char *name;               /* "hold" */
    const char *past;               /* "held" */
    const char *nothing;            /* said when there is nothing at all in its queues, or NULL */
    const char *const *queues;      /* where it looks unless --queue says otherwise; NULL: all but `except` */
    const char *const *except;
    bool only;         /* other queues than `queues` are refused */
    bool aside;        /* it works on entries that were set aside: in shunt, or preserved in any queue */
    bool leaves_shunt; /* preserved entries of shunt move by draft(), like those that are ready there */
    /* A verb has draft() or in_place(). With FAIL_NEVER they refuse an entry: it stays as it was, and the row has the
     * message. draft() returns the entry that takes its place; NULL without error: it is removed. */
    Draft *(*draft)(Entry *entry, GError **error);
    /* Change the entry where it is (switchboard/operate.h), and set *name to the name that it has afterwards. */
    bool (*in_place)(Operate *operate, Queue *queue, EntryName *name, GError **error);
    bool (*in_place_preserved)(Operate *operate, Queue *queue, EntryName *name, GError **error); /* with aside */
} QueueVerb;

/* Run a verb, with the words of the command line that name entries. Return an exit code, TOOL_NOT_SO if an entry was
 * not touched; or another one, with *error set. */
int queue_act_run(const QueueVerb *verb, Site *site, int argc, char **argv, GError **error);
