/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Views that are kept: the least used go, and none is kept beyond its key. */
#include "runners/web/view_cache.h"
#include "t/suite.h"

#include <stdbool.h>

static void add(ViewCache *cache, const char *key, size_t size)
{
    json_t *view = json_string(key);
    view_cache_add(cache, key, view, size);
    json_decref(view);
}

static bool has(ViewCache *cache, const char *key)
{
    json_t *view = view_cache_find(cache, key);
    if (!view)
        return false;
    g_assert_cmpstr(json_string_value(view), ==, key);
    json_decref(view);
    return true;
}

static void test_least_used_go(void)
{
    ViewCache *cache = view_cache_new(1000);
    char name[16];
    for (int i = 0; i < 10; i++) {
        g_snprintf(name, sizeof(name), "%d", i);
        add(cache, name, 100);
    }
    g_assert_true(has(cache, "0")); /* now the one that was used last */
    add(cache, "a", 100);
    g_assert_false(has(cache, "1"));
    g_assert_true(has(cache, "0"));
    g_assert_true(has(cache, "2"));
    g_assert_true(has(cache, "a"));
    for (int i = 0; i < 1000; i++) {
        g_snprintf(name, sizeof(name), "more %d", i);
        add(cache, name, 100);
    }
    g_assert_false(has(cache, "a"));
    g_assert_true(has(cache, "more 999"));
    g_assert_true(has(cache, "more 990"));
    g_assert_false(has(cache, "more 989"));
    view_cache_free(cache);
}

static void test_large_and_again(void)
{
    ViewCache *cache = view_cache_new(1000);
    add(cache, "one", 100);
    add(cache, "large", 101);
    g_assert_true(has(cache, "one"));
    g_assert_false(has(cache, "large"));
    /* The same key again takes no room of its own. */
    for (int i = 0; i < 20; i++)
        add(cache, "two", 90);
    g_assert_true(has(cache, "one"));
    add(cache, "two", 500); /* one that has grown too large is not kept as it was */
    g_assert_false(has(cache, "two"));
    view_cache_free(cache);
    view_cache_free(NULL);
}

SUITE("web/view_cache")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/view-cache/least-used-go", test_least_used_go);
    g_test_add_func("/view-cache/large-and-again", test_large_and_again);
    return g_test_run();
}
