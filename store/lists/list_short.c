/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Short names of lists, for addresses in which the name leaves no room for the
 * rest: up to 16 of the name's first letters and digits, for people, a dot,
 * and the list's key in base32, by which it is found.
 *
 *   announcements-of-the-departments  ->  announcementsoft.a2npzykw5hpqe
 */
#include <string.h>

#include "store/lists/list.h"
#include "store/store_internal.h"

#define WORD_CHARS 16
#define KEY_CHARS 13 /* of five bits */
#define SHORT_SIZE (WORD_CHARS + 1 + KEY_CHARS + 1)

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";

static void write_short(const char *name, int64_t key, char text[SHORT_SIZE])
{
    char *to = text;
    for (; *name && to < text + WORD_CHARS; name++)
        if (g_ascii_isalnum(*name))
            *to++ = g_ascii_tolower(*name);
    *to++ = '.';
    for (int place = KEY_CHARS - 1; place >= 0; place--)
        *to++ = alphabet[(uint64_t)key >> (5 * place) & 31];
    *to = '\0';
}

char *list_local(const List *list, const char *suffix, size_t room)
{
    int64_t key;
    char brief[SHORT_SIZE];
    const char *dash = suffix ? "-" : "", *ending = suffix ? suffix : "";
    g_autofree char *usual = g_strconcat(list->list_name, dash, ending, NULL);
    if (strlen(usual) <= room || !store_id_key(list->id, &key))
        return g_steal_pointer(&usual);
    write_short(list->list_name, key, brief);
    return g_strconcat(brief, dash, ending, NULL);
}

char *list_address(const List *list, const char *suffix)
{
    g_autofree char *local = list_local(list, suffix, LIST_LOCAL_MAX);
    return g_strconcat(local, "@", list->mail_host, NULL);
}

/* The key that a short name ends in; false: it is none. Whether the list's own is that name the caller looks. */
static bool read_key(const char *name, int64_t *key)
{
    const char *dot = strchr(name, '.');
    if (!dot || dot - name > WORD_CHARS || strlen(dot + 1) != KEY_CHARS)
        return false;
    uint64_t number = 0;
    for (const char *at = dot + 1; *at; at++) {
        const char *digit = strchr(alphabet, *at);
        if (!digit)
            return false;
        number = number << 5 | (uint64_t)(digit - alphabet);
    }
    *key = (int64_t)number;
    return true;
}

bool list_short_find(Store *store, const char *name, const char *host, char **list_id, GError **error)
{
    int64_t key;
    *list_id = NULL;
    if (!read_key(name, &key))
        return true;
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT list_id, list_name FROM list WHERE key = $1 AND mail_host = "
                                        "COALESCE((SELECT mail_host FROM domain WHERE alias_domain = $2), $2)",
                                        INTEGER(key), TEXT(host));
    Step step = query_step(query, error);
    char expected[SHORT_SIZE];
    if (step == STEP_ROW) {
        write_short(query_text(query, 1), key, expected);
        if (strcmp(expected, name) == 0)
            *list_id = g_strdup(query_text(query, 0));
    }
    return step != STEP_FAILED;
}
