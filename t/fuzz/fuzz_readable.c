/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Any bytes as a mail that people read, with much room for text and with little. */
#include "t/fuzz/fuzz.h"
#include "t/mail/text/readable_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GBytes) octets = g_bytes_new(data, size);
    check_readable(octets, READABLE_TEXT);
    check_readable(octets, size > 0 ? data[size - 1] : 0);
    return 0;
}
