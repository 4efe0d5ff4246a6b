/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "mail/address.h"
#include "posting/rule.h"

/* Does the field name this list's posting address, bare or as <mailto:...>? */
static bool names_address(const Field *field, const char *address)
{
    g_autofree char *value = field_value(field);
    g_autofree char *wanted = address_key(address), *text = address_key(value);
    size_t length = strlen(wanted);
    for (const char *at = text; (at = strstr(at, wanted)); at++) {
        char before = at == text ? ' ' : at[-1], after = at[length];
        if (strchr(" <:,\t", before) && (!after || strchr(" >?,;\t", after)))
            return true;
    }
    return false;
}

/* List-Id: the last <...> is the identifier. */
static bool names_list(const Field *field, const char *list_id)
{
    g_autofree char *value = field_value(field);
    char *open = strrchr(value, '<');
    char *id = open ? open + 1 : value;
    id[strcspn(id, ">")] = '\0';
    return g_ascii_strcasecmp(g_strstrip(id), list_id) == 0;
}

/* The list has seen it: one of the fields that we (or an older manager in
 * our place) put there, naming this very list. */
static bool check(Post *post, bool *hit, GError **error)
{
    *hit = false;
    for (size_t at = 0; at < message_field_count(post->message) && !*hit; at++) {
        const Field *field = message_field(post->message, at);
        if (field_is(field, "List-Post") || field_is(field, "X-BeenThere"))
            *hit = names_address(field, post->list->posting_address);
        else if (field_is(field, "List-Id"))
            *hit = names_list(field, post->list->list_id);
    }
    if (*hit)
        post_add_reason(post, "The message has passed this list before.");
    return true;
}

const Rule rule_loop = {.name = "loop", .check = check};
