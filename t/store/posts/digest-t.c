/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "store/posts/digest.h"
#include "store/store.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"
#define ENTRY "0123456789012345678901234567890123456789"

static void add(Fixture *fixture, const char *address, int mode)
{
    GError *error = NULL;
    Preferences own = preferences_unset;
    own.delivery_mode = mode;
    assert_ok(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of(address), NULL, &own, &error), error);
}

static void set_mode(Fixture *fixture, const char *address, int mode)
{
    GError *error = NULL;
    Preferences own = preferences_unset;
    own.delivery_mode = mode;
    assert_ok(member_set_preferences(fixture->store, LIST, ROLE_MEMBER, mailbox_of(address), &own, &error), error);
}

static void collect(Fixture *fixture, const char *text, int64_t time)
{
    GError *error = NULL;
    g_autoptr(GBytes) bytes = g_bytes_new(text, strlen(text));
    assert_ok(digest_collect(fixture->store, LIST, bytes, time, &error), error);
}

static DigestIssue issue_one(int64_t number)
{
    return (DigestIssue){.entry = (char *)ENTRY, .host = (char *)"a", .list_id = (char *)LIST, .volume = 1,
                         .number = number, .made_at = 100};
}

static char *posts(Fixture *fixture, const DigestIssue *issue)
{
    GError *error = NULL;
    g_autoptr(GString) all = g_string_new(NULL);
    g_autoptr(DigestCursor) cursor = digest_cursor_open(fixture->store, issue, &error);
    for (GBytes *post; (post = digest_cursor_next(cursor, &error)); g_bytes_unref(post))
        g_string_append_len(all, g_bytes_get_data(post, NULL), (gssize)g_bytes_get_size(post));
    g_assert_no_error(error);
    return g_string_free(g_steal_pointer(&all), FALSE);
}

static void assert_digest(Fixture *fixture, int64_t number, int64_t waiting, int64_t octets, int64_t first_at)
{
    GError *error = NULL;
    g_auto(Digest) digest = {0};
    assert_ok(digest_read(fixture->store, LIST, &digest, &error), error);
    g_assert_cmpint(digest.next_number, ==, number);
    g_assert_cmpint(digest.waiting, ==, waiting);
    g_assert_cmpint(digest.octets, ==, octets);
    g_assert_cmpint(digest.first_at, ==, first_at);
}

static void test_issue(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_digest(fixture, 1, 0, 0, 0);
    collect(fixture, "one", 7);
    collect(fixture, "", 8);
    assert_digest(fixture, 1, 2, 3, 7);
    const DigestIssue issue = issue_one(1);
    assert_ok(digest_issue_open(fixture->store, &issue, &error), error);
    collect(fixture, "next", 9);
    assert_digest(fixture, 2, 1, 4, 9);
    g_autofree char *text = posts(fixture, &issue);
    g_assert_cmpstr(text, ==, "one");
    DigestIssue *found = NULL;
    assert_ok(digest_issue_find(fixture->store, ENTRY, &found, &error), error);
    g_assert_cmpint(found->number, ==, 1);
    digest_issue_free(found);
    g_autoptr(GPtrArray) here = digest_issue_all(fixture->store, "a", &error);
    g_autoptr(GPtrArray) there = digest_issue_all(fixture->store, "b", &error);
    g_assert_cmpuint(here->len, ==, 1);
    g_assert_cmpuint(there->len, ==, 0);
    assert_ok(digest_issue_settle(fixture->store, ENTRY, &error), error);
    g_autofree char *gone = posts(fixture, &issue);
    g_assert_cmpstr(gone, ==, "");
    assert_digest(fixture, 2, 1, 4, 9);
}

static void test_withdraw(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    collect(fixture, "one", 7);
    const DigestIssue issue = issue_one(1);
    assert_ok(digest_issue_open(fixture->store, &issue, &error), error);
    collect(fixture, "next", 9);
    assert_ok(digest_issue_withdraw(fixture->store, ENTRY, &error), error);
    assert_digest(fixture, 2, 2, 7, 100);
    const DigestIssue again = issue_one(2);
    assert_ok(digest_issue_open(fixture->store, &again, &error), error);
    g_autofree char *text = posts(fixture, &again);
    g_assert_cmpstr(text, ==, "onenext");
}

static void test_wanted(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    bool wanted = true;
    add(fixture, "a@example.org", -1);
    assert_ok(digest_wanted(fixture->store, LIST, &wanted, &error), error);
    g_assert_false(wanted);
    add(fixture, "b@example.org", MODE_PLAINTEXT_DIGESTS);
    assert_ok(digest_wanted(fixture->store, LIST, &wanted, &error), error);
    g_assert_true(wanted);
    set_mode(fixture, "b@example.org", MODE_REGULAR);
    assert_ok(digest_wanted(fixture->store, LIST, &wanted, &error), error);
    g_assert_false(wanted);
    Preferences own = preferences_unset;
    own.delivery_mode = MODE_MIME_DIGESTS;
    assert_ok(user_set_preferences(fixture->store, "a@example.org", &own, &error), error);
    assert_ok(digest_wanted(fixture->store, LIST, &wanted, &error), error);
    g_assert_true(wanted);
    assert_ok(user_set_preferences(fixture->store, "a@example.org", &preferences_unset, &error), error);
    assert_ok(address_set_preferences(fixture->store, mailbox_of("a@example.org"), &own, &error), error);
    assert_ok(digest_wanted(fixture->store, LIST, &wanted, &error), error);
    g_assert_true(wanted);
}

/* "mime:2 a@example.org" for two members and one who left. */
static char *groups(Fixture *fixture)
{
    GError *error = NULL;
    const DigestIssue issue = issue_one(1);
    g_autoptr(GPtrArray) all = digest_groups(fixture->store, &issue, &error);
    g_assert_no_error(error);
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint at = 0; at < all->len; at++) {
        const DigestGroup *group = all->pdata[at];
        g_string_append_printf(text, "%s%s:%d", at > 0 ? ", " : "", group->plain ? "plain" : "mime",
                               (int)group->members);
        for (char **address = group->last; address && *address; address++)
            g_string_append_printf(text, " %s", *address);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void test_groups_and_leavers(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    add(fixture, "a@example.org", MODE_MIME_DIGESTS);
    add(fixture, "b@example.org", MODE_SUMMARY_DIGESTS);
    add(fixture, "c@example.org", MODE_PLAINTEXT_DIGESTS);
    add(fixture, "d@example.org", -1);
    set_mode(fixture, "c@example.org", MODE_REGULAR); /* no post waits: no last digest */
    set_mode(fixture, "c@example.org", MODE_PLAINTEXT_DIGESTS);
    collect(fixture, "one", 7);
    set_mode(fixture, "a@example.org", MODE_REGULAR);
    set_mode(fixture, "b@example.org", MODE_REGULAR);
    set_mode(fixture, "b@example.org", MODE_MIME_DIGESTS); /* came back */
    set_mode(fixture, "d@example.org", MODE_REGULAR);
    const DigestIssue issue = issue_one(1);
    assert_ok(digest_issue_open(fixture->store, &issue, &error), error);
    g_autofree char *found = groups(fixture);
    g_assert_cmpstr(found, ==, "mime:1 a@example.org, plain:1");
    static const char *const last[] = {"a@example.org", NULL};
    const RecipientDigest digest = {.plain = false, .language = "", .last = last};
    g_autoptr(RecipientCursor) cursor = recipient_cursor_open_digest(fixture->store, LIST, &digest, false, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(recipient_cursor_next(cursor, &error), ==, "a@example.org");
    g_assert_cmpstr(recipient_cursor_next(cursor, &error), ==, "b@example.org");
    g_assert_null(recipient_cursor_next(cursor, &error));
    g_assert_no_error(error);
}

/* A change that is refused leaves the caller's transaction usable. */
static void test_refused_change(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    add(fixture, "a@example.org", MODE_MIME_DIGESTS);
    collect(fixture, "one", 7);
    Preferences own = preferences_unset;
    assert_ok(store_begin(fixture->store, &error), error);
    g_assert_false(
        member_set_preferences(fixture->store, LIST, ROLE_MODERATOR, mailbox_of("a@example.org"), &own, &error));
    assert_failed(FAIL_MISSING, error);
    assert_ok(store_commit(fixture->store, &error), error);
}

SUITE("digest")
{
    g_test_init(&argc, &argv, NULL);
    TEST_WITH_LIST("/store/digest/collect, issue, settle", test_issue);
    TEST_WITH_LIST("/store/digest/withdrawn posts wait for the next issue", test_withdraw);
    TEST_WITH_LIST("/store/digest/wanted at each level of preferences", test_wanted);
    TEST_WITH_LIST("/store/digest/groups, and one last digest", test_groups_and_leavers);
    TEST_WITH_LIST("/store/digest/a refused change", test_refused_change);
    return g_test_run();
}
