/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/lists/topic.h"

#include <string.h>

#include "base/fail.h"
#include "store/lists/list_setting.h"
#include "store/store_internal.h"

bool topic_split(const char *topic, char **name, char **pattern)
{
    const char *colon = strchr(topic, ':');
    g_autofree char *first = g_strstrip(g_strndup(topic, colon ? (size_t)(colon - topic) : 0));
    g_autofree char *second = g_strstrip(g_strdup(colon ? colon + 1 : ""));
    if (!*first || !*second)
        return false;
    *name = g_steal_pointer(&first);
    *pattern = g_steal_pointer(&second);
    return true;
}

char **topic_names(const List *list)
{
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    for (char **topic = list->settings->topics; list->settings->topics_enabled && topic && *topic; topic++) {
        g_autofree char *name = NULL, *pattern = NULL;
        if (topic_split(*topic, &name, &pattern))
            g_strv_builder_add(names, name);
    }
    return g_strv_builder_end(names);
}

void topic_choice_clear(TopicChoice *choice)
{
    g_clear_pointer(&choice->names, g_strfreev);
}

static bool no_member(const char *member_id, GError **error)
{
    return fail(error, FAIL_MISSING, "there is no member with the id %s", member_id);
}

bool topic_read(Store *store, const char *member_id, TopicChoice *choice, GError **error)
{
    int64_t key;
    *choice = (TopicChoice){0};
    if (!store_id_key(member_id, &key))
        return no_member(member_id, error);
    g_autoptr(Query) query =
        query_open(store, error, "SELECT topics, topics_unmatched FROM member WHERE key = $1", INTEGER(key));
    Step step = query_step(query, error);
    if (step == STEP_DONE)
        no_member(member_id, error);
    if (step != STEP_ROW)
        return false;
    bool none = query_is_null(query, 0) || !*query_text(query, 0);
    choice->names = none ? g_new0(char *, 1) : g_strsplit(query_text(query, 0), "\n", -1);
    choice->unmatched = query_integer(query, 1) > 0;
    return true;
}

bool topic_set(Store *store, const char *member_id, const char *const *names, bool unmatched, GError **error)
{
    int64_t key;
    for (const char *const *name = names; name && *name; name++)
        if (strpbrk(*name, "\r\n"))
            return fail(error, FAIL_NEVER, "the name of a topic is one line");
    g_autofree char *joined = names && *names ? g_strjoinv("\n", (char **)names) : NULL;
    if (!store_id_key(member_id, &key))
        return no_member(member_id, error);
    return STORE_WRITE(store, error,
                       query_change_one(store, error, no_member(member_id, error),
                                        "UPDATE member SET topics = $2, topics_unmatched = $3 WHERE key = $1",
                                        INTEGER(key), TEXT(joined), INTEGER(unmatched)));
}

bool topic_copy(Store *store, const char *from, const char *to, GError **error)
{
    int64_t source, target;
    return STORE_WRITE(
        store, error,
        list_key(store, from, &source, error) && list_key(store, to, &target, error) &&
            query_run(store, error, NULL,
                      "UPDATE member SET topics = old.topics, topics_unmatched = old.topics_unmatched FROM member old "
                      "WHERE old.list = $1 AND old.topics IS NOT NULL AND member.list = $2 AND member.role = old.role "
                      "AND member.folded = old.folded AND member.by_person = old.by_person",
                      INTEGER(source), INTEGER(target)));
}

static bool holds(const char *const *names, const char *name)
{
    for (; names && *names; names++)
        if (g_ascii_strcasecmp(*names, name) == 0)
            return true;
    return false;
}

bool topic_wanted(const char *stored, bool unmatched, const char *const *known, const char *const *of)
{
    g_auto(GStrv) names = g_strsplit(stored ? stored : "", "\n", -1);
    bool any = false, fits = false;
    for (char **name = names; *name; name++) {
        any = any || holds(known, *name);
        fits = fits || holds(of, *name);
    }
    return !any || fits || (unmatched && !(of && *of));
}
