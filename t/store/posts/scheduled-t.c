/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/posts/scheduled.h"

#include <string.h>

#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"
#define OTHER_LIST "other.example.com"
#define BORROWED(text) ((char *)(uintptr_t)(text)) /* scheduled_add() reads only */

static int64_t keep(Fixture *fixture, const char *list_id, const char *sender, int64_t due)
{
    GError *error = NULL;
    g_autoptr(GBytes) message = g_bytes_new_static("From: x\r\n\r\n\0hello", 17);
    Scheduled post = {.list_id = BORROWED(list_id),
                      .subject = BORROWED("S\303\274bject"),
                      .sender = BORROWED(sender),
                      .author = BORROWED("olga@example.com"),
                      .meta = BORROWED("{\"x\":1}"),
                      .made_at = 77,
                      .due_at = due,
                      .message = message};
    assert_ok(scheduled_add(fixture->store, &post, &error), error);
    return post.number;
}

static void test_whole(Fixture *fixture, const void *unused)
{
    GError *error = NULL;
    int64_t number = keep(fixture, LIST, "Anne@Example.org", 5000);
    g_autoptr(Scheduled) post = scheduled_find(fixture->store, number, &error);
    assert_ok(post != NULL, error);
    g_assert_cmpstr(post->list_id, ==, LIST);
    g_assert_cmpstr(post->message_id, ==, NULL);
    g_assert_cmpstr(post->subject, ==, "S\303\274bject");
    g_assert_cmpstr(post->author, ==, "olga@example.com");
    g_assert_cmpstr(post->meta, ==, "{\"x\":1}");
    g_assert_cmpint(post->made_at, ==, 77);
    g_assert_cmpint(post->due_at, ==, 5000);
    g_assert_cmpint(post->size, ==, 17);
    size_t length;
    const void *octets = g_bytes_get_data(post->message, &length);
    g_assert_cmpmem(octets, length, "From: x\r\n\r\n\0hello", 17);
}

static bool note(const Scheduled *post, void *data)
{
    g_assert_null(post->message);
    g_string_append_printf(data, "%d:%d ", (int)post->number, (int)post->due_at);
    return post->due_at < 9000;
}

static void assert_waiting(Fixture *fixture, const char *list_id, const char *expected)
{
    GError *error = NULL;
    g_autoptr(GString) seen = g_string_new(NULL);
    assert_ok(scheduled_each(fixture->store, list_id, note, seen, &error), error);
    g_assert_cmpstr(seen->str, ==, expected);
}

static void assert_due(Fixture *fixture, int64_t by, const char *expected)
{
    GError *error = NULL;
    int64_t count, oldest;
    g_autoptr(GArray) due = scheduled_due(fixture->store, by, &error);
    assert_ok(due != NULL, error);
    g_autoptr(GString) seen = g_string_new(NULL);
    for (guint at = 0; at < due->len; at++)
        g_string_append_printf(seen, "%d ", (int)g_array_index(due, int64_t, at));
    g_assert_cmpstr(seen->str, ==, expected);
    assert_ok(scheduled_count_due(fixture->store, by, &count, &oldest, &error), error);
    g_assert_cmpint(count, ==, due->len);
    g_assert_cmpint(oldest, ==, due->len > 0 ? 5000 : 0);
}

static void test_order(Fixture *fixture, const void *unused)
{
    GError *error = NULL;
    list_free(list_create(fixture->store, "other@example.com", &error));
    g_assert_no_error(error);
    g_assert_cmpint(keep(fixture, LIST, "a@example.org", 7000), ==, 1);
    keep(fixture, OTHER_LIST, "b@example.org", 6000);
    keep(fixture, LIST, "c@example.org", 5000);
    keep(fixture, LIST, "a@example.org", 9000);
    keep(fixture, LIST, "a@example.org", 9001); /* behind where the walk stops */
    assert_waiting(fixture, LIST, "3:5000 1:7000 4:9000 ");
    assert_waiting(fixture, OTHER_LIST, "2:6000 ");
    assert_waiting(fixture, NULL, "3:5000 2:6000 1:7000 4:9000 ");
    assert_due(fixture, 4999, "");
    assert_due(fixture, 5000, "3 ");
    assert_due(fixture, 6000, "3 2 ");
    int64_t count;
    assert_ok(scheduled_count(fixture->store, LIST, &count, &error), error);
    g_assert_cmpint(count, ==, 4);
    assert_ok(scheduled_set_due(fixture->store, 3, 8000, &error), error);
    assert_waiting(fixture, LIST, "1:7000 3:8000 4:9000 ");
    assert_ok(scheduled_remove_sender(fixture->store, "A@Example.org", &error), error);
    assert_waiting(fixture, LIST, "3:8000 ");
    keep(fixture, LIST, NULL, 8500);
    assert_ok(scheduled_remove_sender(fixture->store, "Olga@Example.com", &error), error);
    assert_waiting(fixture, LIST, "");
    assert_waiting(fixture, OTHER_LIST, "");
    keep(fixture, LIST, "b@example.org", 5500);
    assert_ok(list_remove(fixture->store, LIST, &error), error);
    assert_waiting(fixture, NULL, "");
}

static void test_missing(Fixture *fixture, const void *unused)
{
    GError *error = NULL;
    int64_t number = keep(fixture, LIST, "a@example.org", 5000);
    assert_ok(scheduled_remove(fixture->store, number, &error), error);
    g_assert_false(scheduled_remove(fixture->store, number, &error)); /* twice */
    assert_failed(FAIL_MISSING, error);
    g_assert_false(scheduled_set_due(fixture->store, number, 6000, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_null(scheduled_find(fixture->store, number, &error));
    assert_failed(FAIL_MISSING, error);
    Scheduled post = {.list_id = BORROWED("none.example.com")};
    g_assert_false(scheduled_add(fixture->store, &post, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_cmpint(keep(fixture, LIST, "a@example.org", 5000), ==, number + 1); /* a number is never used twice */
}

SUITE("scheduled")
{
    g_test_init(&argc, &argv, NULL);
    TEST_WITH_LIST("/scheduled/whole", test_whole);
    TEST_WITH_LIST("/scheduled/order", test_order);
    TEST_WITH_LIST("/scheduled/missing", test_missing);
    return g_test_run();
}
