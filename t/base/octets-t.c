/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/octets.h"

#include <string.h>

/* The one byte at any place of any length around the word in which they are looked at. */
static void anywhere(void)
{
    unsigned char octets[40];
    memset(octets, 127, sizeof octets);
    for (size_t start = 0; start < 8; start++)
        for (size_t length = 0; start + length <= sizeof octets; length++) {
            g_assert_false(octets_8bit(octets + start, length));
            for (size_t place = 0; place < sizeof octets; place++) {
                octets[place] = 128;
                g_assert_true(octets_8bit(octets + start, length) == (place >= start && place < start + length));
                octets[place] = 127;
            }
        }
}

static void bytes(void)
{
    g_autoptr(GBytes) none = g_bytes_new(NULL, 0), plain = g_bytes_new_static("a\0b", 3), high = g_bytes_new("\xff", 1);
    g_assert_false(octets_8bit_bytes(none));
    g_assert_false(octets_8bit_bytes(plain));
    g_assert_true(octets_8bit_bytes(high));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/octets/anywhere", anywhere);
    g_test_add_func("/octets/bytes", bytes);
    return g_test_run();
}
