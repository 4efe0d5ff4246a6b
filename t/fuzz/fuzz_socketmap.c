/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * A client of the socketmap protocol. The input is cut at each length, as a network may cut it: what was read from all
 * of it must not depend on where, and what is used is never more than there is.
 */
#include <stdbool.h>
#include <string.h>

#include "net/socketmap.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *octets = g_memdup2(data, size);
    g_auto(SocketmapRequest) whole = {0};
    size_t used = 0, shorter = 0;
    SocketmapStep step = socketmap_read(octets, size, &used, &whole);
    require(step != SOCKETMAP_ONE || (used > 0 && used <= size && whole.map && *whole.map && whole.key));
    require(step != SOCKETMAP_MORE || size <= SOCKETMAP_REQUEST_MAX + 6);
    for (size_t cut = 0; cut < MIN(size, 64); cut++) {
        g_auto(SocketmapRequest) part = {0};
        g_autofree char *exact = g_memdup2(data, cut);
        SocketmapStep early = socketmap_read(exact, cut, &shorter, &part);
        require(early == SOCKETMAP_MORE || early == step);
        require(early != SOCKETMAP_ONE || shorter == used);
    }
    if (step == SOCKETMAP_ONE) { /* it comes back as a reply, which is one netstring */
        g_autoptr(GString) output = g_string_new(NULL);
        socketmap_found(output, whole.key);
        char *end;
        unsigned long length = strtoul(output->str, &end, 10);
        require(*end == ':' && end + 1 + length + 1 == output->str + output->len && end[1 + length] == ',');
    }
    return 0;
}
