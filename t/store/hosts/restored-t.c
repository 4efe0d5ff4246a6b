/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/hosts/restored.h"
#include "store/lists/list_post.h"
#include "store/posts/held.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"
#define OTHER "other.example.com"

static int64_t newest(Fixture *fixture)
{
    GError *error = NULL;
    int64_t time;
    assert_ok(restored_newest(fixture->store, &time, &error), error);
    return time;
}

static void see(Fixture *fixture, const char *list, const char *message_id, int64_t time)
{
    GError *error = NULL;
    bool known;
    const SeenMail seen = {message_id, "0123456789ab", "spool", time, NULL};
    assert_ok(list_record_message_id(fixture->store, list, &seen, &known, &error), error);
    g_assert_false(known);
}

static void test_newest(Fixture *fixture, gconstpointer data)
{
    GError *error = NULL;
    g_assert_cmpint(newest(fixture), ==, 0);
    see(fixture, LIST, "a@example.net", 70);
    g_assert_cmpint(newest(fixture), ==, 70);
    g_autoptr(GBytes) message = g_bytes_new_static("x", 1);
    Held held = {.list_id = (char *)LIST, .sender = (char *)"eve@example.net", .held_at = 90, .message = message};
    assert_ok(held_add(fixture->store, &held, &error), error);
    g_assert_cmpint(newest(fixture), ==, 90);
    assert_ok(store_begin(fixture->store, &error), error);
    assert_ok(store_record_effect(fixture->store, "in:12", 1, &error), error);
    assert_ok(store_commit(fixture->store, &error), error);
    g_assert_cmpint(newest(fixture), >, 90);
}

static bool note(const RestoredPost *post, void *data)
{
    g_string_append_printf(data, "%s %s %s %d\n", post->list_id, post->message_id, post->trace, (int)post->seen_at);
    return true;
}

/* Check that posts seen at the moment itself are not later. */
static void test_posts_since(Fixture *fixture, gconstpointer data)
{
    GError *error = NULL;
    g_autoptr(GString) found = g_string_new(NULL);
    g_autoptr(List) other = list_create(fixture->store, "other@example.com", &error);
    g_assert_no_error(error);
    see(fixture, LIST, "b@example.net", 30);
    see(fixture, LIST, "a@example.net", 40);
    see(fixture, OTHER, "a@example.net", 41);
    see(fixture, LIST, "old@example.net", 20);
    assert_ok(restored_posts(fixture->store, 20, note, found, &error), error);
    g_assert_cmpstr(found->str, ==,
                    OTHER " a@example.net 0123456789ab 41\n" LIST " b@example.net 0123456789ab 30\n" LIST
                          " a@example.net 0123456789ab 40\n");
}

static void test_numbers_only_rise(Fixture *fixture, gconstpointer data)
{
    GError *error = NULL;
    bool raised;
    int64_t number;
    assert_ok(restored_raise_number(fixture->store, LIST, 8, &raised, &error), error);
    g_assert_true(raised);
    assert_ok(restored_raise_number(fixture->store, LIST, 8, &raised, &error), error);
    g_assert_false(raised);
    assert_ok(list_count_post(fixture->store, LIST, 1, &number, &error), error);
    g_assert_cmpint(number, ==, 8);
    assert_ok(restored_raise_number(fixture->store, LIST, 3, &raised, &error), error);
    g_assert_false(raised);
    g_assert_false(restored_raise_number(fixture->store, "none.example.com", 3, &raised, &error));
    assert_failed(FAIL_MISSING, error);
}

SUITE("restored")
{
    g_test_init(&argc, &argv, NULL);
    TEST_WITH_LIST("/store/restored/newest", test_newest);
    TEST_WITH_LIST("/store/restored/posts since", test_posts_since);
    TEST_WITH_LIST("/store/restored/numbers only rise", test_numbers_only_rise);
    return g_test_run();
}
