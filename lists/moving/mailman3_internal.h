/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Shared by the files that read Mailman 3. Its enumerations are numbers in the database; the words are its own. */
#include "lists/moving/mailman3.h"
#include "store/member.h"

/* Columns that the tables of an older Mailman do not have. */
typedef enum Mailman3Lack { LACKS_WATERMARK = 1, LACKS_SCORES = 2, LACKS_TAGS = 4 } Mailman3Lack;

typedef struct Mailman3 {
    Foreign *database;
    unsigned lacks;
    const char *var;
    Moving *moving;
} Mailman3;

/* Values as Mailman's database writes them; NULL is false, 0 and none. */
bool mm_flag(const char *text);
int64_t mm_integer(const char *text, int64_t fallback);
int64_t mm_time(const char *text); /* us since 1970; 0 also for times before */

/* The columns of a row of preferences of the table with that alias ("pm"), and what they say. */
#define MM_PREFERENCES(pm)                                                                \
    "`" pm ".acknowledge_posts`, `" pm ".hide_address`, `" pm ".receive_list_copy`, `" pm \
    ".receive_own_postings`, `" pm ".delivery_mode`, `" pm ".delivery_status`, `" pm ".preferred_language`"
#define MM_PREFERENCE_COUNT 7
Preferences mm_preferences(Mailman3 *from, ForeignRows *rows, int column, const char *place);

/* Call each for every row; it returns false to end with error. */
typedef bool Mailman3Row(Mailman3 *from, ForeignRows *rows, void *data, GError **error);
bool mm_each(Mailman3 *from, const char *sql, const char *argument, Mailman3Row *each, void *data, GError **error);

/* The first column of the first row; *text is NULL where there is none. g_free() */
bool mm_first_text(Foreign *database, const char *sql, char **text, GError **error);

/* FAIL_CONFIG: it is of no Mailman that is known. */
bool mm_version_check(Foreign *database, GError **error);
/* See what it lacks, and tell what takes the place. */
bool mm_version_lacks(Mailman3 *from, GError **error);

/* ---- the parts, in order ---- */

bool mm_domains(Mailman3 *from, GError **error);
bool mm_people(Mailman3 *from, GError **error);
bool mm_domain_owners(Mailman3 *from, GError **error);
bool mm_site(Mailman3 *from, GError **error); /* bans, templates */
bool mm_lists(Mailman3 *from, GError **error);
bool mm_requests(Mailman3 *from, GError **error);
/* Tell of all that is under way in Mailman and cannot come along. */
bool mm_left_behind(Mailman3 *from, GError **error);

/* Of a list, which is in. */
bool mm_bans(Mailman3 *from, const char *list_id, GError **error);
bool mm_members(Mailman3 *from, const List *list, GError **error);
bool mm_held(Mailman3 *from, const List *list, GError **error);
bool mm_digest(Mailman3 *from, const List *list, GError **error);
/* list NULL: those of the site and the domains. */
bool mm_templates(Mailman3 *from, const List *list, GError **error);
/* The default footer, where the list has no other. */
bool mm_footer(Mailman3 *from, const List *list, GError **error);
