/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/posts/held.h"

#include <string.h>

#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"
#define BORROWED(text) ((char *)(uintptr_t)(text)) /* held_add() reads only */

static int64_t hold(Fixture *fixture, const char *list_id, const void *octets, size_t length)
{
    GError *error = NULL;
    g_autoptr(GBytes) message = g_bytes_new(octets, length);
    Held held = {.list_id = BORROWED(list_id),
                 .message_id = BORROWED("<1@x>"),
                 .subject = BORROWED("S\303\274bject"),
                 .sender = BORROWED("a@example.org"),
                 .reason = BORROWED("not a member"),
                 .meta = BORROWED("{\"x\":1}"),
                 .held_at = 77,
                 .message = message};
    assert_ok(held_add(fixture->store, &held, &error), error);
    return held.number;
}

static void test_octets(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    char all[1024 * 1024];
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (char)(i * 7 + i / 256);
    int64_t number = hold(fixture, LIST, all, sizeof all);
    g_autoptr(Held) held = held_find(fixture->store, number, &error);
    g_assert_no_error(error);
    size_t length;
    const void *octets = g_bytes_get_data(held->message, &length);
    g_assert_cmpmem(octets, length, all, sizeof all);
    g_assert_cmpstr(held->list_id, ==, LIST);
    g_assert_cmpstr(held->message_id, ==, "<1@x>");
    g_assert_cmpstr(held->subject, ==, "S\303\274bject");
    g_assert_cmpstr(held->sender, ==, "a@example.org");
    g_assert_cmpstr(held->reason, ==, "not a member");
    g_assert_cmpstr(held->meta, ==, "{\"x\":1}");
    g_assert_cmpint(held->held_at, ==, 77);
    g_autoptr(Held) empty = held_find(fixture->store, hold(fixture, LIST, "", 0), &error);
    g_assert_cmpint(g_bytes_get_size(empty->message), ==, 0);
}

static void assert_room(Fixture *fixture, const char *list_id, int64_t all, int64_t strangers)
{
    GError *error = NULL;
    HeldRoom room;
    assert_ok(held_room(fixture->store, list_id, &room, &error), error);
    g_assert_cmpint(room.all, ==, all);
    g_assert_cmpint(room.strangers, ==, strangers);
}

static int64_t hold_of(Fixture *fixture, const char *list_id, const char *sender, bool stranger)
{
    GError *error = NULL;
    g_autoptr(GBytes) message = g_bytes_new_static("0123456789", 10);
    Held held = {.list_id = BORROWED(list_id), .sender = BORROWED(sender), .message = message, .stranger = stranger};
    assert_ok(held_add(fixture->store, &held, &error), error);
    return held.number;
}

/* However a post leaves, its room is free again, and no other's. */
static void test_room(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    const int64_t one = 10 + HELD_ROW_BYTES;
    const char *other = "other.example.com";
    g_autoptr(List) list = list_create(fixture->store, "other@example.com", &error);
    g_assert_no_error(error);
    assert_room(fixture, NULL, 0, 0);
    int64_t first = hold_of(fixture, LIST, "a@example.org", false);
    hold_of(fixture, LIST, "Eve@example.org", true);
    hold_of(fixture, other, "eve@example.org", true);
    hold_of(fixture, other, "b@example.org", false);
    assert_room(fixture, LIST, 2 * one, one);
    assert_room(fixture, other, 2 * one, one);
    assert_room(fixture, NULL, 4 * one, 2 * one);
    assert_ok(held_remove(fixture->store, first, &error), error);
    g_assert_false(held_remove(fixture->store, first, &error)); /* twice */
    assert_failed(FAIL_MISSING, error);
    assert_room(fixture, LIST, one, one);
    assert_ok(store_begin(fixture->store, &error), error);
    hold_of(fixture, LIST, "c@example.org", false);
    store_rollback(fixture->store);
    assert_room(fixture, LIST, one, one);
    assert_ok(member_add(fixture->store, LIST, ROLE_NONMEMBER, mailbox_of("eve@example.org"), NULL, NULL, &error),
              error);
    assert_ok(address_remove(fixture->store, mailbox_of("eve@example.org"), &error), error);
    assert_room(fixture, LIST, 0, 0);
    assert_room(fixture, other, one, 0);
    hold_of(fixture, LIST, "d@example.org", true);
    assert_ok(list_remove(fixture->store, other, &error), error);
    assert_room(fixture, NULL, one, one);
    g_autoptr(List) again = list_create(fixture->store, "other@example.com", &error);
    g_assert_no_error(error);
    assert_room(fixture, other, 0, 0);
}

static void test_absent_fields(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(GBytes) message = g_bytes_new_static("x", 1);
    Held bare = {.list_id = BORROWED(LIST), .message = message};
    assert_ok(held_add(fixture->store, &bare, &error), error);
    g_autoptr(Held) held = held_find(fixture->store, bare.number, &error);
    g_assert_null(held->subject);
    g_assert_null(held->message_id);
}

/* Numbers are not used twice, not even the last one. */
static void test_numbers(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_assert_cmpint(hold(fixture, LIST, "a", 1), ==, 1);
    g_assert_cmpint(hold(fixture, LIST, "b", 1), ==, 2);
    assert_ok(held_remove(fixture->store, 2, &error), error);
    g_assert_cmpint(hold(fixture, LIST, "c", 1), ==, 3);
    g_assert_false(held_remove(fixture->store, 2, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_null(held_find(fixture->store, 2, &error));
    assert_failed(FAIL_MISSING, error);
}

static bool see(const Held *held, void *data)
{
    g_assert_null(held->message);
    g_string_append_printf(data, "%d:%s ", (int)held->number, held->list_id);
    return held->number < 3;
}

static void assert_each(Fixture *fixture, const char *list_id, const char *expected)
{
    GError *error = NULL;
    g_autoptr(GString) seen = g_string_new(NULL);
    assert_ok(held_each(fixture->store, list_id, see, seen, &error), error);
    g_assert_cmpstr(seen->str, ==, expected);
}

static void test_each(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    list_free(list_create(fixture->store, "other@example.com", &error));
    hold(fixture, LIST, "a", 1);
    hold(fixture, "other.example.com", "b", 1);
    hold(fixture, LIST, "c", 1);
    hold(fixture, LIST, "d", 1);
    assert_each(fixture, LIST, "1:test.example.com 3:test.example.com ");
    assert_each(fixture, "other.example.com", "2:other.example.com ");
    assert_each(fixture, NULL, "1:test.example.com 2:other.example.com 3:test.example.com ");
    g_assert_false(held_each(fixture->store, "none.example.com", see, NULL, &error));
    assert_failed(FAIL_MISSING, error);
    assert_ok(list_remove(fixture->store, "other.example.com", &error), error);
    g_assert_null(held_find(fixture->store, 2, &error));
    assert_failed(FAIL_MISSING, error);
}

/* Appends the numbers that a filter finds. */
static bool note_number(const Held *held, void *data)
{
    g_string_append_printf(data, "%" G_GINT64_FORMAT " ", held->number);
    return true;
}

static char *selected(Fixture *fixture, HeldFilter filter)
{
    GError *error = NULL;
    GString *numbers = g_string_new(NULL);
    assert_ok(held_select(fixture->store, &filter, note_number, numbers, &error), error);
    return g_string_free(numbers, FALSE);
}

static void assert_selected(Fixture *fixture, HeldFilter filter, const char *expected)
{
    g_autofree char *found = selected(fixture, filter);
    g_assert_cmpstr(found, ==, expected);
}

static void test_select(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    for (int64_t at = 1; at <= 3; at++) {
        g_autoptr(GBytes) message = g_bytes_new_static("x", 1);
        Held held = {.list_id = BORROWED(LIST), .sender = BORROWED(at == 2 ? "Bob@example.net" : "anne@example.org"),
                     .held_at = at * 1000, .message = message};
        assert_ok(held_add(fixture->store, &held, &error), error);
    }
    assert_selected(fixture, (HeldFilter){0}, "1 2 3 ");
    assert_selected(fixture, (HeldFilter){.sender = "bob@EXAMPLE.net"}, "2 ");
    assert_selected(fixture, (HeldFilter){.list_id = LIST, .before = 2000}, "1 ");
    assert_selected(fixture, (HeldFilter){.after = 2000}, "2 3 ");
    assert_selected(fixture, (HeldFilter){.list_id = LIST, .first = 2, .last = 2}, "2 ");
    assert_ok(held_set_told(fixture->store, 2, HELD_TOLD_ALONE, &error), error);
    assert_selected(fixture, (HeldFilter){.list_id = LIST, .untold = true}, "1 3 ");
    g_auto(GStrv) lists = held_lists(fixture->store, true, &error);
    g_assert_cmpstr(lists[0], ==, LIST);
    g_assert_null(lists[1]);
}

static void test_notice_due(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    bool due;
    assert_ok(held_notice_due(fixture->store, LIST, 1000, 500, &due, &error), error);
    g_assert_true(due);
    assert_ok(held_notice_due(fixture->store, LIST, 1499, 500, &due, &error), error);
    g_assert_false(due);
    assert_ok(held_notice_due(fixture->store, LIST, 1500, 500, &due, &error), error);
    g_assert_true(due);
}

static void test_missing_list(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(GBytes) message = g_bytes_new_static("x", 1);
    Held held = {.list_id = BORROWED("none.example.com"), .message = message};
    g_assert_false(held_add(fixture->store, &held, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_cmpint(held.number, ==, 0);
    held_free(NULL);
}

SUITE("held")
{
    g_test_init(&argc, &argv, NULL);
    TEST_WITH_LIST("/held/octets", test_octets);
    TEST_WITH_LIST("/held/absent-fields", test_absent_fields);
    TEST_WITH_LIST("/held/room", test_room);
    TEST_WITH_LIST("/held/numbers", test_numbers);
    TEST_WITH_LIST("/held/each", test_each);
    TEST_WITH_LIST("/held/select", test_select);
    TEST_WITH_LIST("/held/notice-due", test_notice_due);
    TEST_WITH_LIST("/held/missing-list", test_missing_list);
    return g_test_run();
}
