/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Share types and functions among the files that read a site of Mailman 3 (mailman3.h). Numbers of Mailman's
 * enumerations, as its database has them, are named here by Mailman's own words. The functions report things by
 * Mailman3.moving. */
#include "lists/moving/mailman3.h"
#include "store/people/member.h"

/* Columns that the tables of an older Mailman do not have. */
typedef enum Mailman3Lack { LACKS_WATERMARK = 1, LACKS_SCORES = 2, LACKS_TAGS = 4, LACKS_BASE_URL = 8 } Mailman3Lack;

typedef struct Mailman3 {
    Foreign *database;
    unsigned lacks;
    const char *var;
    GHashTable *chosen; /* List-Ids of the lists that are to come; NULL: all */
    Moving *moving;
} Mailman3;

/* Is the list one of those that are to come? */
bool mm_wants(const Mailman3 *from, const char *list_id);

/* Read a truth value as Mailman's database writes it; NULL is false. */
bool mm_flag(const char *text);
/* Read a number as Mailman's database writes it; fallback for NULL and for a text that is no number. */
int64_t mm_integer(const char *text, int64_t fallback);
/* Read a time as Mailman's database writes it, into us since 1970; 0 for NULL and for times before. */
int64_t mm_time(const char *text);

/* Name the columns of preferences of the table with the alias pm, for a SELECT. mm_preferences() reads them from the
 * current row, of which column is the first. */
#define MM_PREFERENCES(pm)                                                                \
    "`" pm ".acknowledge_posts`, `" pm ".hide_address`, `" pm ".receive_list_copy`, `" pm \
    ".receive_own_postings`, `" pm ".delivery_mode`, `" pm ".delivery_status`, `" pm ".preferred_language`"
#define MM_PREFERENCE_COUNT 7
/* The same of a member: own ones, else those of the address, else those of the user. */
#define MM_EITHER(name) "`COALESCE(pm." name ", pa." name ", po." name ")`"
#define MM_PREFERENCES_OF_ALL                                                                                   \
    MM_EITHER("acknowledge_posts") ", " MM_EITHER("hide_address") ", " MM_EITHER("receive_list_copy") ", "      \
    MM_EITHER("receive_own_postings") ", " MM_EITHER("delivery_mode") ", " MM_EITHER("delivery_status") ", "    \
    MM_EITHER("preferred_language")

/* Run sql with argument, and call each() for every row. If each() returns false, mm_each() ends with its error. */
typedef bool Mailman3Row(Mailman3 *from, ForeignRows *rows, void *data, GError **error);
bool mm_each(Mailman3 *from, const char *sql, const char *argument, Mailman3Row *each, void *data, GError **error);

/* ---- the parts: each function imports one kind of things; called in this order ---- */

bool mm_site(Mailman3 *from, GError **error); /* bans, templates */
bool mm_lists(Mailman3 *from, GError **error);
bool mm_requests(Mailman3 *from, GError **error);
/* Report all that is under way in Mailman and cannot be imported. */
bool mm_left_behind(Mailman3 *from, GError **error);

/* Import these things of one list, which has been imported itself. */
bool mm_members(Mailman3 *from, const List *list, GError **error);
bool mm_held(Mailman3 *from, const List *list, GError **error);
bool mm_digest(Mailman3 *from, const List *list, GError **error);
