/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/name.h"

#include <string.h>

#include "switchboard/slice.h"
#include "t/suite.h"

static const char sample[] = "1763644800.000042+0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33";

static void test_round_trip(void)
{
    EntryName name;
    const char *rest;
    char text[NAME_SIZE];
    g_assert_true(name_parse("1763644800.000042+0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33.msg", &name, &rest));
    g_assert_cmpint(name.due, ==, INT64_C(1763644800000042));
    g_assert_cmpuint(name.hash[0], ==, 0x0b);
    g_assert_cmpuint(name.hash[19], ==, 0x33);
    g_assert_cmpstr(rest, ==, ".msg");
    name_format(&name, text);
    g_assert_cmpstr(text, ==, sample);
}

static void test_refused(void)
{
    static const char *const bad[] = {
        "", ".", "1763644800.000042+0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a3", /* one digit short */
        "176364480.0000042+0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33",
        "1763644800.000042+0BEEC7B5EA3F0FDBC95D0DD47F3C5BC275DA8A33", /* upper case */
        "1763644800.000042-0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33",
        "1763644800.00004x+0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33",
        "-763644800.000042+0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33",
        "1763644800.000042+0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33x",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        EntryName name;
        g_assert_false(name_parse(bad[i], &name, NULL));
    }
}

static void test_order(void)
{
    EntryName a, b;
    char first[NAME_SIZE], second[NAME_SIZE];
    g_assert_true(name_parse(sample, &a, NULL));
    b = a;
    g_assert_cmpint(name_compare(&a, &b), ==, 0);
    b.due += 999999; /* into the next second */
    name_format(&a, first);
    name_format(&b, second);
    g_assert_cmpint(name_compare(&a, &b), <, 0);
    g_assert_cmpint(strcmp(first, second), <, 0);
}

/* Every hash has one owner, whatever the count; the borders are half-open. */
static void test_slices(void)
{
    for (unsigned count = 1; count <= SLICE_COUNT_MAX; count *= 2)
        for (unsigned first = 0; first < 256; first++) {
            uint8_t low[HASH_SIZE] = {(uint8_t)first}, high[HASH_SIZE];
            memset(high, 0xff, sizeof high);
            high[0] = (uint8_t)first;
            unsigned owners = 0;
            for (unsigned i = 0; i < count; i++) {
                g_assert_true(slice_owns((Slice){i, count}, low) == slice_owns((Slice){i, count}, high));
                owners += slice_owns((Slice){i, count}, low);
            }
            g_assert_cmpuint(owners, ==, 1);
        }
    uint8_t half[HASH_SIZE] = {0x80}, below[HASH_SIZE] = {0x7f, 0xff};
    g_assert_true(slice_owns((Slice){1, 2}, half));
    g_assert_true(slice_owns((Slice){0, 2}, below));
}

SUITE("name")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/name/round trip", test_round_trip);
    g_test_add_func("/name/refused", test_refused);
    g_test_add_func("/name/order", test_order);
    g_test_add_func("/slice/one owner", test_slices);
    return g_test_run();
}
