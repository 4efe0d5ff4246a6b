/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A scratch store: what it has of a list, and that neither it nor its original sees what is done in the other. */
#include "store/lists/header_match.h"
#include "store/moving/scratch.h"
#include "store/people/ban.h"
#include "store/posts/pace.h"

#include "store/lists/list_setting.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"
#define OTHER "other.example.org"

/* Two lists of two domains, and of each kind of row one for each list. */
static void fill(Fixture *fixture)
{
    GError *error = NULL;
    Store *store = fixture->store;
    assert_ok(domain_create(store, "example.org", NULL, &error), error);
    g_autoptr(List) other = list_create(store, "other@example.org", &error);
    g_assert_no_error(error);
    static const char *const lists[] = {LIST, OTHER};
    for (size_t at = 0; at < G_N_ELEMENTS(lists); at++) {
        const char *id = lists[at];
        g_autofree char *member = g_strdup_printf("anne@%s", id), *ban = g_strdup_printf("bad@%s", id);
        assert_ok(list_set(store, id, "max_message_size", at == 0 ? "11" : "22", &error), error);
        assert_ok(member_add(store, id, ROLE_MEMBER, mailbox_of(member), "Anne", NULL, &error), error);
        assert_ok(member_add(store, id, ROLE_MEMBER, mailbox_of("both@example.net"), NULL, NULL, &error), error);
        assert_ok(member_add(store, id, ROLE_NONMEMBER, mailbox_of("guest@example.net"), NULL, NULL, &error), error);
        assert_ok(ban_add(store, id, ban, &error), error);
        g_autoptr(HeaderMatch) match = g_new0(HeaderMatch, 1);
        *match = (HeaderMatch){.list_id = g_strdup(id), .header = g_strdup("x-of"), .pattern = g_strdup(id)};
        assert_ok(header_match_add(store, match, &error), error);
        assert_ok(pace_count(store, id, member, 1000000, &error), error);
    }
    assert_ok(ban_add(store, NULL, "^.*@everywhere[.]example$", &error), error);
}

static bool is_banned(Store *store, const char *address)
{
    GError *error = NULL;
    g_autofree char *by = NULL;
    assert_ok(ban_check(store, LIST, mailbox_of(address), NULL, &by, &error), error);
    return by != NULL;
}

static bool is_member(Store *store, Role role, const char *address)
{
    g_autoptr(Member) member = member_find(store, LIST, role, mailbox_of(address), NULL);
    return member != NULL;
}

static int64_t posts_of(Store *store)
{
    GError *error = NULL;
    Pace pace;
    assert_ok(pace_find(store, LIST, "anne@" LIST, 1000001, &pace, &error), error);
    return pace.posts;
}

static void check(Store *scratch)
{
    GError *error = NULL;
    g_autoptr(List) list = list_by_id(scratch, LIST, &error);
    g_assert_no_error(error);
    g_assert_cmpint(list->settings->max_message_size, ==, 11);
    g_assert_cmpstr(list->posting_address, ==, "test@example.com");
    g_assert_true(is_member(scratch, ROLE_MEMBER, "anne@" LIST) && is_member(scratch, ROLE_MEMBER, "Both@example.net"));
    g_assert_true(is_member(scratch, ROLE_NONMEMBER, "guest@example.net"));
    g_assert_false(is_member(scratch, ROLE_MEMBER, "anne@" OTHER));
    g_assert_true(is_banned(scratch, "bad@" LIST) && is_banned(scratch, "x@everywhere.example"));
    g_assert_false(is_banned(scratch, "bad@" OTHER));
    g_autoptr(GPtrArray) rows = header_match_all(scratch, LIST, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(rows->len, ==, 1);
    g_assert_cmpint(posts_of(scratch), ==, 0); /* accounts are not copied */
    g_assert_null(list_by_id(scratch, OTHER, &error));
    assert_failed(FAIL_MISSING, error);
}

static void test_copy(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    fill(fixture);
    g_autoptr(Store) scratch = scratch_new(fixture->store, LIST, &error);
    g_assert_no_error(error);
    check(scratch);
    g_autoptr(Store) second = scratch_new(scratch, LIST, &error);
    g_assert_no_error(error);
    check(second);
    g_assert_null(scratch_new(fixture->store, "none.example.com", &error));
    assert_failed(FAIL_MISSING, error);
}

static void test_apart(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    fill(fixture);
    Store *original = fixture->store;
    int64_t version = store_version(original);
    g_autoptr(Store) scratch = scratch_new(original, LIST, &error), second = scratch_new(scratch, LIST, &error);
    g_assert_no_error(error);
    assert_ok(list_set(scratch, LIST, "max_message_size", "33", &error), error);
    assert_ok(ban_add(scratch, LIST, "new@example.net", &error), error);
    assert_ok(member_add(scratch, LIST, ROLE_MEMBER, mailbox_of("new@example.net"), NULL, NULL, &error), error);
    assert_ok(pace_count(scratch, LIST, "anne@" LIST, 1000000, &error), error);
    g_assert_true(is_banned(scratch, "new@example.net") && is_member(scratch, ROLE_MEMBER, "new@example.net"));
    g_assert_cmpint(posts_of(scratch), ==, 1);
    check(second);
    g_assert_false(is_banned(original, "new@example.net") || is_member(original, ROLE_MEMBER, "new@example.net"));
    g_assert_cmpint(posts_of(original), ==, 1);
    g_assert_cmpint(store_version(original), ==, version);
    /* A value that is refused in the store is refused in a copy. */
    g_assert_false(list_set(scratch, LIST, "max_message_size", "many", &error));
    assert_failed(FAIL_NEVER, error);
    g_assert_false(ban_add(scratch, LIST, "bad@" LIST, &error));
    assert_failed(FAIL_EXISTS, error);
    /* The original may change and go. */
    assert_ok(list_set(original, LIST, "max_message_size", "44", &error), error);
    store_free(g_steal_pointer(&fixture->store));
    check(second);
}

SUITE("scratch")
{
    g_test_init(&argc, &argv, NULL);
    TEST_WITH_LIST("/scratch/has all of one list and nothing of another", test_copy);
    TEST_WITH_LIST("/scratch/what is done in it stays there", test_apart);
    return g_test_run();
}
