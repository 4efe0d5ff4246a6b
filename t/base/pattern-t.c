/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/pattern.h"
#include "t/suite.h"

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
    g_assert_true(pattern_gave_up("x", memory) && !pattern_gave_up("x", other)); /* it was not even tried */
    g_assert_false(pattern_matches_text("x", text, memory));
    g_assert_true(pattern_matches_text("x", text, other));
}

/* However many posts a pattern gives up on, the log names it once, and each that does. */
static void test_named_once(void)
{
    if (g_test_subprocess()) {
        g_autofree char *text = g_strnfill(200, 'x');
        for (int post = 0; post < 3; post++) {
            g_autoptr(GHashTable) memory = pattern_memory_new();
            g_assert_false(pattern_matches_text("^(x+x+)+[ab]", text, memory));
            g_assert_false(pattern_matches_text("^(x+x+)+[cd]", text, memory));
            g_assert_true(pattern_gave_up("^(x+x+)+[ab]", memory) && !pattern_gave_up("^other", memory));
        }
        return;
    }
    g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
    g_test_trap_assert_passed();
    g_test_trap_assert_stderr("*ab] gave up*cd] gave up*");
    g_test_trap_assert_stderr_unmatched("*gave up*gave up*gave up*");
}

SUITE("pattern")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pattern/matches", test_matches);
    g_test_add_func("/pattern/budget", test_budget);
    g_test_add_func("/pattern/named once", test_named_once);
    return g_test_run();
}
