/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/lists/news.h"
#include "store/store.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"

static void assert_place(Fixture *fixture, const char *group, int64_t watermark, int64_t looked_at, const char *fault)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) places = news_places(fixture->store, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(places->len, ==, 1);
    const NewsPlace *place = places->pdata[0];
    g_assert_cmpstr(place->list_id, ==, LIST);
    g_assert_cmpstr(place->newsgroup, ==, group);
    g_assert_cmpint(place->watermark, ==, watermark);
    g_assert_cmpint(place->looked_at, ==, looked_at);
    g_assert_cmpstr(place->fault, ==, fault);
}

static void test_places(Fixture *fixture, gconstpointer data)
{
    GError *error = NULL;
    int64_t watermark;
    g_autoptr(GPtrArray) none = news_places(fixture->store, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(none->len, ==, 0);
    assert_ok(list_set(fixture->store, LIST, "linked_newsgroup", "local.test", &error), error);
    assert_place(fixture, "local.test", NEWS_NOWHERE, 0, "");
    assert_ok(news_set_watermark(fixture->store, LIST, "local.test", 0, &error), error);
    assert_place(fixture, "local.test", 0, 0, "");
    assert_ok(news_looked(fixture->store, LIST, "local.test", 50, "gone", &error), error);
    assert_place(fixture, "local.test", 0, 50, "gone");
    assert_ok(news_set_watermark(fixture->store, LIST, "local.test", 7, &error), error);
    assert_ok(news_watermark(fixture->store, LIST, "local.test", &watermark, &error), error);
    g_assert_cmpint(watermark, ==, 7);
    /* Where it stands in one group says nothing about another. */
    assert_ok(list_set(fixture->store, LIST, "linked_newsgroup", "local.other", &error), error);
    assert_place(fixture, "local.other", NEWS_NOWHERE, 0, "");
    assert_ok(news_looked(fixture->store, LIST, "local.other", 60, NULL, &error), error);
    assert_place(fixture, "local.other", NEWS_NOWHERE, 60, "");
    g_assert_false(news_watermark(fixture->store, "none.example.com", "local.test", &watermark, &error));
    assert_failed(FAIL_MISSING, error);
}

static void test_names(Fixture *fixture, gconstpointer data)
{
    static const char *const bad[] = {"a b", ".a", "a.", "a..b", "a,b", "a\"b"};
    GError *error = NULL;
    for (size_t at = 0; at < G_N_ELEMENTS(bad); at++) {
        g_assert_false(list_set(fixture->store, LIST, "linked_newsgroup", bad[at], &error));
        assert_failed(FAIL_NEVER, error);
    }
    assert_ok(list_set(fixture->store, LIST, "linked_newsgroup", "comp.lang.c++.x_y-z", &error), error);
}

SUITE("news")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/store/news/places", Fixture, NULL, fixture_open_list, test_places, fixture_close);
    g_test_add("/store/news/names of groups", Fixture, NULL, fixture_open_list, test_names, fixture_close);
    return g_test_run();
}
