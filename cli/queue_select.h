/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Which entries a verb of `listrunner queue` is about: ENTRY words, and the
 * options of QUEUE_SELECT_OPTIONS, all of which must fit. A sender or recipient is a
 * pattern in which * stands for any text and ? for any character; upper and lower case are the
 * same. Of the recipients those count that are still to do.
 */
#include <glib.h>
#include <stdbool.h>

#include "cli/entry_word.h"
#include "cli/queue_files.h"
#include "cli/site.h"

extern char **queue_select_queues, *queue_select_list, *queue_select_sender, *queue_select_recipient,
    *queue_select_trace;

#define QUEUE_SELECT_OPTIONS                                                                                          \
    {"queue", 0, 0, G_OPTION_ARG_STRING_ARRAY, &queue_select_queues, "entries of this queue (may be repeated)",       \
     "QUEUE"},                                                                                                        \
        {"list", 0, 0, G_OPTION_ARG_STRING, &queue_select_list, "entries of this list (its List-Id or address)",    \
         "LIST"},                                                                                                     \
        {"sender", 0, 0, G_OPTION_ARG_STRING, &queue_select_sender,                                                 \
         "entries whose envelope sender fits ('<>': none)", "PATTERN"},                                               \
        {"recipient", 0, 0, G_OPTION_ARG_STRING, &queue_select_recipient,                                           \
         "entries with a recipient that fits and is still to do", "PATTERN"},                                         \
        {"trace", 0, 0, G_OPTION_ARG_STRING, &queue_select_trace, "entries of this message (its trace in the log)", \
         "TRACE"}

typedef struct QueueTarget {
    Queue *queue;
    QueueFile file;
} QueueTarget;

/* True when anything at all was asked for. */
bool queue_select_given(int count);

/* The entries of the queues that the words mean (all, when count is 0), by queue, then
 * in the order of due time; what is being written is not among them. FAIL_MISSING: one of the words means none;
 * FAIL_RACE: it means several. Array of QueueTarget. */
GArray *queue_select_targets(Spool *spool, char *const *queues, int count, char **words, GError **error);

/* Whether the options fit. */
bool queue_select_fits(Entry *entry);
/* False when the options ask nothing of what is in an entry, so that it need not be opened. */
bool queue_select_by_content(void);

/* The envelope sender, "" for none or the null sender. */
const char *queue_select_sender_of(Entry *entry);

/* --list may be a List-Id or, as people know it, an address. The store is not asked: entries of a removed list can be
 * meant, too. Replaces *list. */
void queue_select_list_id(char **list);

/* For when no entry is of that list (its List-Id; NULL: none was named): FAIL_MISSING when there is no such list
 * either, so that its name may be misspelt. True when the store cannot be asked. */
bool queue_select_list_known(Site *site, const char *list, GError **error);
