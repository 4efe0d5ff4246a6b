/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Choose the entries that a verb of `listrunner queue` is about, by ENTRY words (cli/queues/entry_word.h) and by the
 * options of QUEUE_SELECT_OPTIONS. An entry must be named by a word, if there are words, and fit all options. A sender
 * or recipient is a pattern in which * stands for any text and ? for any character; the case of letters does not
 * matter. Only recipients count that still wait for delivery.
 *
 *   queue_select_targets() for the entries that the words name, then queue_select_fits() for each that was opened
 */
#include <glib.h>
#include <stdbool.h>

#include "cli/queues/entry_word.h"
#include "cli/queues/queue_files.h"
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

/* Return whether the command line chooses entries at all, by words (count is their number) or by an option. A verb that
 * changes entries refuses to work on all queues by mistake. */
bool queue_select_given(int count);

/* Return the entries of these queues that the words name, or all when count is 0: an array of QueueTarget,
 * g_array_unref(). The options are not looked at. Entries are ordered by queue, then by name, which is the order of due
 * time. Entries that are still being written are left out. FAIL_MISSING: a word names no entry; FAIL_RACE: it names
 * several; a word of another form is a usage error. */
GArray *queue_select_targets(Spool *spool, char *const *queues, int count, char **words, GError **error);

/* Return whether an open entry fits all options but --queue. */
bool queue_select_fits(Entry *entry);
/* Return whether any option but --queue was given. If not, entries need not be opened for queue_select_fits(). */
bool queue_select_by_content(void);

/* Turn the value of --list, a List-Id or a posting address, into a List-Id in lower case. The store is not asked, so
 * that entries of a removed list can be found too. *list is freed and replaced; NULL stays. */
void queue_select_list_id(char **list);

/* Check, when no entry was found, whether the name of the list was misspelt. FAIL_MISSING: there is no list with this
 * List-Id. True: the list exists, list is NULL, or the store cannot be asked. */
bool queue_select_list_known(Site *site, const char *list, GError **error);
