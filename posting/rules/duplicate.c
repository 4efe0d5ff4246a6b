/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "posting/rule.h"

/* What an index of any database takes: the id, or its hash where it is long or no text. */
#define ID_MAX 250

static char *make_key(const char *id)
{
    bool plain = strlen(id) <= ID_MAX && g_utf8_validate(id, -1, NULL);
    return plain ? g_strdup(id) : g_compute_checksum_for_string(G_CHECKSUM_SHA1, id, -1);
}

/* Was another mail with this Message-ID posted here before? Asked last of all: only what is accepted or held counts as
 * posted, so that a rejected mail can be sent again. Whoever accepts or holds it records message_key, and asks the
 * store once more then, since two that are the same may come at the same time. Mail without a Message-ID of its own
 * is never a duplicate. */
static bool check(Post *post, bool *hit, GError **error)
{
    *hit = false;
    g_autofree char *id = message_id(post->message);
    if (!id)
        return true;
    g_free(post->message_key);
    post->message_key = make_key(id);
    if (!list_knows_message_id(post->store, post->list->list_id, post->message_key, post->trace, hit, error))
        return false;
    if (*hit)
        post_note_duplicate(post);
    return true;
}

const Rule rule_duplicate = {.name = "duplicate", .check = check};
