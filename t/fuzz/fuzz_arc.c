/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A message of any bytes with ARC fields: nobody but the holder of a key makes a chain that passes, and what may be
 * sealed and is leaves with one set more. */
#include <string.h>

#include "mail/auth/arc.h"
#include "t/fuzz/fuzz.h"

static const char pem[] = "-----BEGIN PRIVATE KEY-----\n"
                          "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
                          "-----END PRIVATE KEY-----\n";

static NamesAnswer text(void *data, const char *name, const char *const **texts)
{
    static const char *const one[] = {"v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", NULL};
    *texts = one;
    return *(const NamesAnswer *)data;
}

static NamesAnswer exists(void *data, const char *name)
{
    return NAMES_FOUND;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static DkimKey *key;
    NamesAnswer answer = size > 0 ? (NamesAnswer)(data[0] % 4) : NAMES_FOUND;
    const Names names = {text, exists, &answer};
    g_autoptr(GBytes) octets = g_bytes_new(data, size);
    g_autoptr(Message) message = message_new(octets);
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    ArcChain chain;
    if (!key)
        key = dkim_key_new(&(DkimKeyPlace){"example.com", "s", DKIM_USE_SEAL}, pem, NULL);
    bool known = dkim_results(message, &names, 0, texts);
    require(!known || texts->len > 0);
    if (!arc_check(message, &names, 0, &chain)) {
        require(answer == NAMES_PENDING);
        return 0;
    }
    require(chain.status != ARC_PASS);
    require(chain.instance <= ARC_INSTANCE_MAX && (chain.status != ARC_NONE || chain.instance == 0));
    /* A mail that has no field first gets an empty line on its way, or keeps its first line (mail/auth/dkim_keys.c). */
    bool plain = message_field_count(message) > 0 && message_field(message, 0)->name_length > 0;
    if (!arc_may_seal(&chain) || !plain)
        return 0;
    const ArcSeal next = {chain, "example.com; none", 0};
    g_autofree char *fields = arc_seal(key, message, &next, NULL);
    require(fields != NULL);
    g_autoptr(GByteArray) whole = g_byte_array_new();
    g_byte_array_append(whole, (const guint8 *)fields, (guint)strlen(fields));
    g_byte_array_append(whole, data, (guint)size);
    g_autoptr(GBytes) sealed_octets = g_bytes_new(whole->data, whole->len);
    g_autoptr(Message) sealed = message_new(sealed_octets);
    answer = NAMES_FOUND;
    ArcChain after;
    require(arc_check(sealed, &names, 0, &after) && after.instance == chain.instance + 1);
    require(after.status == (chain.status == ARC_FAIL ? ARC_FAIL : ARC_PASS));
    return 0;
}
