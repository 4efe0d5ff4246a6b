/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/site/canary_door.h"

#include <arpa/inet.h>
#include <string.h>

#include "lists/site/canary_shard.h"
#include "store/hosts/canary.h"

/* In so long, some 20 mails come in: an MTA that chooses by chance uses both kinds of address. */
#define LIFETIMES 4

/* Return the kind of the address with which peer begins; NULL: it begins with none. */
static const char *family_of(const char *peer)
{
    struct in6_addr address;
    g_autofree char *host = g_strndup(peer, strcspn(peer, " "));
    if (inet_pton(AF_INET, host, &address) == 1)
        return "ipv4";
    if (inet_pton(AF_INET6, host, &address) == 1)
        return IN6_IS_ADDR_V4MAPPED(&address) ? "ipv4" : "ipv6";
    return NULL;
}

bool canary_door_note(Store *store, const Config *config, const char *list_id, const char *peer, int64_t now,
                      GError **error)
{
    const char *family = canary_is_list(list_id) ? family_of(peer) : NULL;
    return !family || !config_bool(config, "watch", "both_families") ||
           canary_came(store, config_string(config, "site", "hostname"), family, now,
                       LIFETIMES * canary_lifetime(config), error);
}
