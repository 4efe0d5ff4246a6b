/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Any bytes as one post, and cut in two as two: the issue of both forms keeps what t/mail/text/issue_check.h says. */
#include <stdint.h>

#include "t/mail/text/issue_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t cut = size > 0 ? data[0] % size : 0;
    g_autoptr(GBytes) whole = g_bytes_new(data, size);
    g_autoptr(GBytes) first = g_bytes_new(data, cut), second = g_bytes_new(data + cut, size - cut);
    GBytes *one[] = {whole}, *two[] = {first, second};
    issue_check(one, 1);
    issue_check(two, 2);
    return 0;
}
