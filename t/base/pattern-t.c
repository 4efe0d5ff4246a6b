/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/pattern.h"

#define SLOW "^(x+x+)+[yz]" /* gives up on a row of x */

static void test_matches(void)
{
    g_autoptr(GHashTable) memory = pattern_memory_new();
    g_assert_true(pattern_matches_address("^.*@Example\\.org", "anne@example.org", memory));
    g_assert_false(pattern_matches_address("^.*@example\\.org", "anne@example.net", memory));
    g_assert_true(pattern_matches_text("sale", "A SALE today", memory));
    g_assert_false(pattern_matches_text("(", "(", memory)); /* cannot be read */
}

/* Many slow patterns cost a post no more than some do; another post is looked at again. */
static void test_budget(void)
{
    g_autofree char *text = g_strnfill(200, 'x');
    g_autoptr(GHashTable) memory = pattern_memory_new(), other = pattern_memory_new();
    for (int i = 0; i < 100; i++) {
        g_autofree char *pattern = g_strdup_printf(SLOW "{%d}", i + 1);
        g_assert_false(pattern_matches_text(pattern, text, memory));
    }
    g_assert_cmpuint(g_hash_table_size(memory), ==, 20);
    g_assert_false(pattern_matches_text("x", text, memory));
    g_assert_true(pattern_matches_text("x", text, other));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pattern/matches", test_matches);
    g_test_add_func("/pattern/budget", test_budget);
    return g_test_run();
}
