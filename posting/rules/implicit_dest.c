/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/pattern.h"
#include "mail/address.h"
#include "posting/rule.h"
#include "store/lists/list_setting.h"

/* Patterns are tried on so many destinations only: a post that names more is not from a person, and a list's owner may
 * have written patterns that take long. */
#define PATTERN_DESTINATIONS_MAX 200

/* An alias is an address, or a local part alone. */
static bool is_alias(const List *list, const char *mailbox)
{
    g_autofree char *local = g_strndup(mailbox, strcspn(mailbox, "@"));
    for (char **alias = list->settings->acceptable_aliases; alias && *alias; alias++)
        if ((*alias)[0] != '^' && (address_same(*alias, mailbox) || g_ascii_strcasecmp(*alias, local) == 0))
            return true;
    return false;
}

/* Is the list (or the address under which it was reached) named where a reader
 * can see it? */
static bool check(Post *post, bool *hit, GError **error)
{
    *hit = false;
    if (!post->list->settings->require_explicit_destination || post->from_news)
        return true;
    const GPtrArray *all = post_destinations(post);
    for (unsigned at = 0; at < all->len; at++) {
        const char *mailbox = ((Address *)all->pdata[at])->mailbox;
        if (address_same(mailbox, post->list->posting_address) ||
            (post->recipient && address_same(mailbox, post->recipient)) || is_alias(post->list, mailbox))
            return true;
    }
    for (unsigned at = 0; at < MIN(all->len, PATTERN_DESTINATIONS_MAX); at++)
        if (pattern_match_any(post->list->settings->acceptable_aliases, ((Address *)all->pdata[at])->mailbox,
                              post->patterns))
            return true;
    *hit = true;
    post_add_reason(post, "The list is not named in To or Cc.");
    return true;
}

const Rule rule_implicit_dest = {.name = "implicit-dest", .check = check};
