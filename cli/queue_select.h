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

/* Return whether the command line narrows the entries at all: by `count` words or by an option. */
bool queue_select_given(int count);

/* Return the entries (array of QueueTarget) of these queues that the words name, or all when count is 0; options that
 * look into entries are not applied. They are ordered by queue, then by name, which is the order of due time. Entries
 * that are still being written are left out. FAIL_MISSING: a word names no entry; FAIL_RACE: it names several. */
GArray *queue_select_targets(Spool *spool, char *const *queues, int count, char **words, GError **error);

/* Return whether an open entry fits all options that look into entries (all but --queue). */
bool queue_select_fits(Entry *entry);
/* False when the options ask nothing of what is in an entry, so that it need not be opened. */
bool queue_select_by_content(void);

/* Turn the value of --list, a List-Id or a posting address, into a List-Id in lower case. The store is not asked, so
 * that entries of a removed list can be found too. *list is freed and replaced; NULL stays. */
void queue_select_list_id(char **list);

/* Call it when no entry of that list was found. FAIL_MISSING: there is no list with this List-Id, so the name may be
 * misspelt. True: the list exists, list is NULL, or the store cannot be asked. */
bool queue_select_list_known(Site *site, const char *list, GError **error);
