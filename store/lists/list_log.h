/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep the log of each list: who changed what and when, by which door (page, mail, REST, shell, timer), with the values
 * before and after the change. lists/change.h writes it, in the transaction of the change itself. A row is removed with
 * its list, or when it is LIST_LOG_KEPT old; rows about an address are removed with that address. Times are
 * microseconds since 1970. Errors are those of the store.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "store/store_type.h"

#define LIST_LOG_KEPT (730 * INT64_C(86400) * CLOCK_SECOND)

/* Kinds of rows. Those about people who came and went are the words of role_text() (store/people/member.h): name is the
 * address; after is the word of the role, for one who left the way (leave_way_text()), or NULL for one who was removed;
 * before is that word for one who was there. */
#define LOG_OPTIONS "options" /* of the member that name is; before and after have those that differ, one a line */
#define LOG_IMPORT "import"   /* many came at once: name is their role, after their number */
#define LOG_LIST "list"       /* the list itself: name is "address", or "copied from" */
#define LOG_SETTING "setting"
#define LOG_SOURCE \
    "source" /* a source of members, by its name: it was set (after), removed (before), or many came and
                               went by it at once: after and before are "1200 members" */
#define LOG_BAN "ban"
#define LOG_HEADER_MATCH "header-match"
#define LOG_TEMPLATE "template"
#define LOG_POST "post" /* a held post was decided about: name is its sender, before its Subject, after the word */
#define LOG_REQUEST "request" /* a request was decided about: name, before and after as for LOG_POST */
#define LOG_SCHEDULED \
    "scheduled" /* of a post that is sent at a time: its sender and Subject likewise, and what became
                                     of it: "schedule" and the time, "send", "drop", "hold" */

typedef struct ListLogRow {
    int64_t key;
    int64_t made_at;
    char *door; /* "page", "mail", "rest", "shell", "timer" */
    char *by;   /* an address, or what else is known: "root", "token 1a2b3c4d" */
    char *kind, *name;
    char *before, *after; /* NULL: there was, or is, nothing */
} ListLogRow;

void list_log_row_free(ListLogRow *row);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ListLogRow, list_log_row_free)

/* Add a row, whose key is set. FAIL_MISSING: there is no such list. */
bool list_log_add(Store *store, const char *list_id, ListLogRow *row, GError **error);

/* Return at most limit rows of a kind (NULL: of any kind), the newest first; of ListLogRow, freed with the array. With
 * before not 0 they are older than the row with that key, so a next page is asked for by the last row's key. */
GPtrArray *list_log_page(Store *store, const char *list_id, const char *kind, int64_t before, unsigned limit,
                         GError **error);

/* Return the row with this key; list_log_row_free(). FAIL_MISSING: the list has no such row. */
ListLogRow *list_log_find(Store *store, const char *list_id, int64_t key, GError **error);

/* Return at most limit rows of a kind that have the name, the newest first; of ListLogRow, freed with the array. */
GPtrArray *list_log_named(Store *store, const char *list_id, const char *kind, const char *name, unsigned limit,
                          GError **error);

/* Remove the rows of all lists that were made before `before`. */
bool list_log_expire(Store *store, int64_t before, GError **error);
