/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * A list of addresses of any bytes: each that is found is valid, is
 * found again when it is written in brackets, and no list address takes
 * more look-ups than it may.
 */
#include <string.h>

#include "base/mailbox.h"
#include "mail/address.h"
#include "mail/list_address.h"
#include "t/fuzz/fuzz.h"

static bool count(const char *local, const char *domain, bool *exists, char **list_id, void *data, GError **error)
{
    unsigned *asked = data;
    require(*local && *domain && ++*asked <= LIST_ADDRESS_LOOKUPS);
    *exists = strlen(local) == 4;
    return true;
}

static void check(const Address *address)
{
    require(mailbox_valid(address->mailbox));
    require(address_split(address->mailbox, NULL, NULL));
    g_autofree char *written = g_strdup_printf("\"x\" <%s>", address->mailbox);
    g_autoptr(GPtrArray) again = address_list_new();
    address_parse(written, strlen(written), again);
    require(again->len == 1 && strcmp(((Address *)again->pdata[0])->mailbox, address->mailbox) == 0);
    g_autofree char *key = address_key(address->mailbox);
    require(address_same(key, address->mailbox));
    unsigned asked = 0;
    g_autoptr(ListAddress) found = list_address_find(address->mailbox, '+', count, &asked, NULL);
    require(!found || asked > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GPtrArray) list = address_list_new();
    address_parse((const char *)data, size, list);
    for (unsigned at = 0; at < list->len; at++)
        check(list->pdata[at]);
    unsigned asked = 0;
    g_autofree char *text = g_strndup((const char *)data, size);
    g_autoptr(ListAddress) found = list_address_find(text, '+', count, &asked, NULL);
    require(!found || asked > 0);
    g_autofree char *bare = mailbox_bare(text), *again = bare ? mailbox_bare(bare) : NULL;
    require(mailbox_valid(text) == (bare != NULL));
    require(!bare || (strcmp(bare, again) == 0 && mailbox_path_length(bare, strlen(bare)) == strlen(bare)));
    return 0;
}
