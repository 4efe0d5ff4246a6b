/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/bytes.h"
#include "t/suite.h"

#include <string.h>

/* The one byte at any place of any length around the word in which they are looked at. */
static void anywhere(void)
{
    unsigned char data[40];
    memset(data, 127, sizeof data);
    for (size_t start = 0; start < 8; start++)
        for (size_t length = 0; start + length <= sizeof data; length++) {
            g_assert_false(bytes_8bit(data + start, length));
            for (size_t place = 0; place < sizeof data; place++) {
                data[place] = 128;
                g_assert_true(bytes_8bit(data + start, length) == (place >= start && place < start + length));
                data[place] = 127;
            }
        }
}

static void of_gbytes(void)
{
    g_autoptr(GBytes) none = g_bytes_new(NULL, 0), plain = g_bytes_new_static("a\0b", 3), high = g_bytes_new("\xff", 1);
    g_assert_false(bytes_8bit_of(none));
    g_assert_false(bytes_8bit_of(plain));
    g_assert_true(bytes_8bit_of(high));
}

SUITE("bytes")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bytes/anywhere", anywhere);
    g_test_add_func("/bytes/of_gbytes", of_gbytes);
    return g_test_run();
}
