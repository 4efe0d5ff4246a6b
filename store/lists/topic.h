/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep the topics that members chose. A list names its topics in the setting `topics`, "NAME: PATTERN" each. A member
 * who chose some gets the posts of those alone, and posts that fit no topic of the list only where that is wished. A
 * member who chose none gets every post. Digests hold all posts. Names are compared without regard to case. A name that
 * the list has no more does not count, so a member all of whose topics are gone gets every post again.
 */
#include <glib.h>
#include <stdbool.h>

#include "store/lists/list.h"
#include "store/store_type.h"

/* Return the names of the list's topics, in order; empty where topics_enabled is off. g_strfreev() */
char **topic_names(const List *list);

/* Cut an element of the setting into its name and pattern, both g_free(). False: it is not "NAME: PATTERN". */
bool topic_split(const char *topic, char **name, char **pattern);

typedef struct TopicChoice {
    char **names;   /* NULL-terminated; empty: all posts */
    bool unmatched; /* besides these, posts that fit no topic of the list; of no meaning where names is empty */
} TopicChoice;
void topic_choice_clear(TopicChoice *choice);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TopicChoice, topic_choice_clear)

/* Fill *choice, which the caller clears. FAIL_MISSING: there is no such member. */
bool topic_read(Store *store, const char *member_id, TopicChoice *choice, GError **error);

/* Write a member's choice; names NULL or empty: all posts. The caller checks that the list has these topics.
 * FAIL_MISSING: there is no such member; FAIL_NEVER: a name has a line end. */
bool topic_set(Store *store, const char *member_id, const char *const *names, bool unmatched, GError **error);

/* Give the members of the list `to` what the same members of `from` chose, where those chose something. */
bool topic_copy(Store *store, const char *from, const char *to, GError **error);

/* Return whether a member with this choice wants a post of the topics in `of`. stored is the choice as the database
 * holds it (NULL: no topics), and known are the names of all topics that the list has. */
bool topic_wanted(const char *stored, bool unmatched, const char *const *known, const char *const *of);
