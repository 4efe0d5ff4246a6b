/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A post of any bytes: its password is taken, and no field with one is left; a post without one stays as it is. */
#include <string.h>

#include "mail/text/approved.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const fields[] = {"Approved", "Approve", "X-Approved", "X-Approve"};
    g_autoptr(GBytes) octets = g_bytes_new(data, size);
    g_autoptr(Message) message = message_new(octets);
    g_autofree char *password = approved_take(message);
    for (size_t at = 0; at < G_N_ELEMENTS(fields); at++)
        require(!message_has(message, fields[at]));
    g_autoptr(GBytes) left = message_octets(message);
    require(password || g_bytes_equal(left, octets));
    require(!password || !strchr(password, '\n'));
    return 0;
}
