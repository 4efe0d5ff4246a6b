/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/posts/copies.h"

#include "mail/address.h"
#include "mail/copy.h"

struct Copies {
    unsigned references;
    VerpKeys *keys;
    int64_t arrival;
    char *list_id, *local, *host;
    char delimiter;
    bool senders, tokens, names;
    GHashTable *named; /* address_key() of those in To and Cc; NULL: it does not matter */
    GString *sender, *line;
};

static bool has_hole(const PostSend *send, CopyField field)
{
    for (guint at = 0; send->holes && at < send->holes->len; at++)
        if (g_array_index(send->holes, CopyHole, at).field == field)
            return true;
    return false;
}

static GHashTable *set_of(char *const *addresses)
{
    GHashTable *set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (; addresses && *addresses; addresses++)
        g_hash_table_add(set, address_key(*addresses));
    return set;
}

static bool is_named(const Copies *copies, const char *address)
{
    g_autofree char *key = copies->named ? address_key(address) : NULL;
    return key && g_hash_table_contains(copies->named, key);
}

Copies *copies_new(const Post *post, const PostSend *send, VerpKeys *keys, int64_t arrival, char delimiter)
{
    if (!send->verp && (!send->holes || send->holes->len == 0))
        return NULL;
    Copies *copies = g_new0(Copies, 1);
    copies->references = 1;
    copies->keys = keys;
    copies->arrival = arrival;
    copies->list_id = g_strdup(post->list->list_id);
    copies->local = list_local(post->list, "bounces", VERP_LIST_MAX);
    copies->host = g_strdup(post->list->mail_host);
    copies->delimiter = delimiter;
    copies->senders = send->verp;
    copies->tokens = has_hole(send, COPY_UNSUBSCRIBE);
    copies->names = has_hole(send, COPY_NAME) || has_hole(send, COPY_NAME_OR_ADDRESS) || has_hole(send, COPY_MAILBOX);
    copies->named = has_hole(send, COPY_NAMED) ? set_of(post->copied) : NULL;
    copies->sender = g_string_new(NULL);
    copies->line = g_string_new(NULL);
    return copies;
}

Copies *copies_ref(Copies *copies)
{
    if (copies)
        copies->references++;
    return copies;
}

void copies_unref(Copies *copies)
{
    if (!copies || --copies->references > 0)
        return;
    g_free(copies->list_id);
    g_free(copies->local);
    g_free(copies->host);
    g_clear_pointer(&copies->named, g_hash_table_unref);
    g_string_free(copies->sender, TRUE);
    g_string_free(copies->line, TRUE);
    g_free(copies);
}

bool copies_want_names(const Copies *copies)
{
    return copies->names;
}

const char *copies_line(Copies *copies, const char *address, const char *name)
{
    const VerpList list = {copies->list_id, copies->local, copies->host, copies->delimiter};
    g_autofree char *token = NULL;
    g_string_truncate(copies->sender, 0);
    g_string_truncate(copies->line, 0);
    if (copies->senders)
        verp_make(copies->keys, VERP_COPY, &list, address, copies->arrival, copies->sender);
    if (copies->tokens)
        token = verp_token(copies->keys, VERP_UNSUBSCRIBE, copies->list_id, address, copies->arrival);
    copy_recipient_write(copies->line, address, copies->sender->str, token, copies->names ? name : NULL,
                         is_named(copies, address));
    return copies->line->str;
}
