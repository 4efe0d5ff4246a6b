/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Any two mails as copies of one post: a mail never differs from itself, differences are the same seen from the other
 * side, and what is shown of them is short.
 */
#include <string.h>

#include "lists/trial/shadow_compare.h"
#include "switchboard/meta.h"
#include "t/fuzz/fuzz.h"

#define SHOWN (SHADOW_FIELDS_MAX * 8000) /* bytes of all in JSON */

static void look(GBytes *live, GBytes *ours, bool same)
{
    g_autoptr(json_t) header = shadow_compare_header(live, ours, NULL), back = shadow_compare_header(ours, live, NULL);
    g_autoptr(json_t) body = shadow_compare_body(live, ours), behind = shadow_compare_body(ours, live);
    require(!same || (json_array_size(header) == 0 && !body));
    require(json_array_size(header) == json_array_size(back) && !body == !behind);
    require(json_array_size(header) <= SHADOW_FIELDS_MAX);
    g_autofree char *fields = json_dumps(header, JSON_COMPACT), *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    require(fields && strlen(fields) < SHOWN && (!text || strlen(text) < SHOWN));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t half = size / 2;
    g_autoptr(GBytes) whole = g_bytes_new_static(data, size);
    g_autoptr(GBytes) first = g_bytes_new_static(data, half), second = g_bytes_new_static(data + half, size - half);
    look(whole, whole, true);
    look(first, second, false);
    look(whole, first, false);
    return 0;
}
