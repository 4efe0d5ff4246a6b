/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/pending.h"
#include "store/people/user.h"

#include <string.h>

#include "store/people/bounce.h"
#include "t/store/fixture.h"
#include "t/store/sound.h"
#include "t/suite.h"

#define LIST "test.example.com"

static void add(Fixture *fixture, Role role, const char *address)
{
    GError *error = NULL;
    assert_ok(member_add(fixture->store, LIST, role, mailbox_of(address), NULL, NULL, &error), error);
}

static User *find(Fixture *fixture, const char *who)
{
    GError *error = NULL;
    User *user = user_find(fixture->store, who, &error);
    g_assert_no_error(error);
    return user;
}

static bool is_member(Fixture *fixture, const char *address)
{
    g_autoptr(Member) member = member_find(fixture->store, LIST, ROLE_MEMBER, mailbox_of(address), NULL);
    return member != NULL;
}

static void test_create(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    assert_ok(user_create(fixture->store, mailbox_of("Anne@Example.org"), "Anne", id, &error), error);
    g_autoptr(User) by_id = find(fixture, id), by_address = find(fixture, "ANNE@example.org");
    g_assert_cmpstr(by_id->id, ==, by_address->id);
    g_assert_cmpstr(by_id->display_name, ==, "Anne");
    g_assert_null(by_id->password);
    g_assert_null(by_id->preferred);
    g_assert_false(by_id->server_owner);
    g_assert_cmpint(by_id->created_at, >, 0);
    g_assert_false(user_create(fixture->store, mailbox_of("anne@example.org"), NULL, id, &error));
    assert_failed(FAIL_EXISTS, error);
    g_assert_false(user_create(fixture->store, mailbox_of("nonsense"), NULL, id, &error));
    assert_failed(FAIL_NEVER, error);
    const char *const nobody[] = {"bart@example.org", "0123", "00000000000000000000000000000000"};
    for (size_t at = 0; at < G_N_ELEMENTS(nobody); at++) {
        g_assert_null(user_find(fixture->store, nobody[at], &error));
        g_assert_nonnull(strstr(error->message, nobody[at]));
        assert_failed(FAIL_MISSING, error);
    }
}

static void test_change(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    Preferences wanted = preferences_unset;
    wanted.delivery_mode = MODE_MIME_DIGESTS;
    g_strlcpy(wanted.preferred_language, "de", sizeof wanted.preferred_language);
    assert_ok(user_create(fixture->store, mailbox_of("anne@example.org"), NULL, id, &error), error);
    assert_ok(user_set_name(fixture->store, id, "Anne\nPerson", &error), error);
    assert_ok(user_set_password(fixture->store, id, "$y$j9T$x", &error), error);
    assert_ok(user_set_server_owner(fixture->store, id, true, &error), error);
    assert_ok(user_set_preferences(fixture->store, id, &wanted, &error), error);
    g_autoptr(User) user = find(fixture, id);
    g_assert_cmpstr(user->display_name, ==, "Anne Person");
    g_assert_cmpstr(user->password, ==, "$y$j9T$x");
    g_assert_true(user->server_owner);
    g_assert_cmpmem(&user->preferences, sizeof wanted, &wanted, sizeof wanted);
    assert_ok(user_set_password(fixture->store, id, NULL, &error), error);
    assert_ok(user_set_preferences(fixture->store, id, &preferences_unset, &error), error);
    g_autoptr(User) again = find(fixture, id);
    g_assert_null(again->password);
    g_assert_true(preferences_are_unset(&again->preferences));
    g_assert_false(user_set_name(fixture->store, "bart@example.org", "Bart", &error));
    assert_failed(FAIL_MISSING, error);
}

/* An address without a user can be a member; it becomes a user's when one is made with it. */
static void test_stands_alone(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    int64_t users;
    assert_ok(address_add(fixture->store, mailbox_of("Anne@example.org"), "Anne", &error), error);
    g_assert_false(address_add(fixture->store, mailbox_of("anne@example.org"), NULL, &error));
    assert_failed(FAIL_EXISTS, error);
    g_assert_null(user_find(fixture->store, "anne@example.org", &error));
    assert_failed(FAIL_MISSING, error);
    add(fixture, ROLE_MEMBER, "anne@example.org");
    g_autoptr(Member) member = member_find(fixture->store, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), NULL);
    g_assert_cmpstr(member->user_id, ==, "");
    assert_ok(user_count(fixture->store, &(UserCriteria){0}, &users, &error), error);
    g_assert_cmpint(users, ==, 0);
    assert_ok(user_create(fixture->store, mailbox_of("anne@example.org"), "Anne P", id, &error), error);
    g_autoptr(Member) owned = member_find(fixture->store, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), NULL);
    g_assert_cmpstr(owned->user_id, ==, id);
    assert_ok(address_unlink(fixture->store, mailbox_of("anne@example.org"), &error), error);
    g_autoptr(User) left = find(fixture, id);
    g_assert_cmpstr(left->display_name, ==, "Anne P");
    g_autoptr(KnownAddress) address = address_find(fixture->store, mailbox_of("anne@example.org"), &error);
    g_assert_cmpstr(address->user_id, ==, "");
    g_assert_cmpstr(address->email, ==, "anne@example.org");
    g_assert_cmpstr(address->original, ==, "Anne@example.org");
    g_assert_true(is_member(fixture, "anne@example.org"));
    assert_sound(fixture);
}

static void test_addresses(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    assert_ok(user_create(fixture->store, mailbox_of("b@example.org"), NULL, id, &error), error);
    assert_ok(user_link_address(fixture->store, id, mailbox_of("A@example.org"), &error), error);
    add(fixture, ROLE_MEMBER, "a@example.org");
    add(fixture, ROLE_OWNER, "b@example.org");
    assert_ok(user_set_preferred(fixture->store, mailbox_of("a@example.org"), &error), error);
    assert_ok(member_add_user(fixture->store, LIST, ROLE_MODERATOR, mailbox_of("b@example.org"), &error), error);
    g_autoptr(GPtrArray) of_user = address_page(fixture->store, id, NULL, 0, 100, &error);
    g_assert_cmpint(of_user->len, ==, 2);
    g_assert_cmpstr(((KnownAddress *)of_user->pdata[0])->original, ==, "b@example.org");
    g_assert_true(((KnownAddress *)of_user->pdata[1])->preferred);
    g_autoptr(GPtrArray) all = address_page(fixture->store, NULL, "a@example.org", 0, 100, &error);
    g_assert_cmpint(all->len, ==, 1);
    g_autoptr(GPtrArray) second = address_page(fixture->store, NULL, NULL, 1, 100, &error);
    g_assert_cmpint(second->len, ==, 1);
    /* the preferred one goes: what was subscribed by preference goes with it, the user stays */
    assert_ok(address_remove(fixture->store, mailbox_of("a@example.org"), &error), error);
    g_assert_false(is_member(fixture, "a@example.org"));
    g_assert_null(member_find(fixture->store, LIST, ROLE_MODERATOR, mailbox_of("a@example.org"), NULL));
    g_autoptr(Member) owner = member_find(fixture->store, LIST, ROLE_OWNER, mailbox_of("b@example.org"), &error);
    g_assert_cmpstr(owner->user_id, ==, id);
    g_assert_null(address_find(fixture->store, mailbox_of("a@example.org"), &error));
    assert_failed(FAIL_MISSING, error);
    g_autoptr(User) user = find(fixture, id);
    g_assert_null(user->preferred);
    assert_sound(fixture);
}

static void test_clear_preferred(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    assert_ok(user_create(fixture->store, mailbox_of("a@example.org"), NULL, id, &error), error);
    assert_ok(member_add_user(fixture->store, LIST, ROLE_MEMBER, mailbox_of("a@example.org"), &error), error);
    g_autoptr(Member) by_user = member_find(fixture->store, LIST, ROLE_MEMBER, mailbox_of("a@example.org"), NULL);
    g_assert_true(by_user->as_user);
    assert_ok(user_clear_preferred(fixture->store, id, &error), error);
    g_autoptr(Member) by_address = member_find(fixture->store, LIST, ROLE_MEMBER, mailbox_of("a@example.org"), NULL);
    g_assert_false(by_address->as_user);
    g_assert_cmpstr(by_address->id, ==, by_user->id);
    assert_sound(fixture);
}

static void test_merge(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    char anne[STORE_ID_SIZE], other[STORE_ID_SIZE];
    Preferences quiet = preferences_unset;
    quiet.delivery_status = DELIVERY_BY_USER;
    assert_ok(user_create(fixture->store, mailbox_of("anne@example.org"), NULL, anne, &error), error);
    assert_ok(user_create(fixture->store, mailbox_of("a@example.net"), "Anne", other, &error), error);
    assert_ok(user_set_password(fixture->store, other, "$y$", &error), error);
    assert_ok(user_set_preferences(fixture->store, other, &quiet, &error), error);
    assert_ok(member_add_user(fixture->store, LIST, ROLE_MEMBER, mailbox_of("a@example.net"), &error), error);
    add(fixture, ROLE_MEMBER, "a@example.net");
    g_assert_false(user_merge(fixture->store, anne, "anne@example.org", &error));
    assert_failed(FAIL_NEVER, error);
    assert_ok(user_merge(fixture->store, anne, other, &error), error);
    g_assert_null(user_find(fixture->store, other, &error));
    assert_failed(FAIL_MISSING, error);
    g_autoptr(User) user = find(fixture, "a@example.net");
    g_assert_cmpstr(user->id, ==, anne);
    g_assert_cmpstr(user->display_name, ==, "Anne");
    g_assert_cmpstr(user->password, ==, "$y$");
    g_assert_cmpint(user->preferences.delivery_status, ==, DELIVERY_BY_USER);
    int64_t count;
    assert_ok(member_count(fixture->store, LIST, ROLE_MEMBER, &count, &error), error);
    g_assert_cmpint(count, ==, 1);
    assert_sound(fixture);
}

static void test_remove(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    assert_ok(user_create(fixture->store, mailbox_of("anne@example.org"), "Anne", id, &error), error);
    assert_ok(user_link_address(fixture->store, id, mailbox_of("a@example.net"), &error), error);
    add(fixture, ROLE_MEMBER, "anne@example.org");
    add(fixture, ROLE_MODERATOR, "a@example.net");
    add(fixture, ROLE_MEMBER, "bart@example.org");
    Pending request = {.kind = PENDING_LEAVE,
                       .list_id = (char *)LIST,
                       .address = mailbox_of("a@example.net"),
                       .expires_at = INT64_MAX};
    assert_ok(pending_put(fixture->store, &request, NULL, &error), error);
    BounceNoted noted;
    BounceEvent event = {.list_id = LIST,
                         .address = mailbox_of("anne@example.org"),
                         .at = 1000,
                         .weight = 100,
                         .class = "permanent",
                         .status = "5.1.1",
                         .reason = "user-unknown",
                         .source = "smtp",
                         .text = "no"};
    assert_ok(bounce_note(fixture->store, &event, &noted, &error), error);
    assert_ok(user_remove(fixture->store, "a@example.net", &error), error);
    static const char *const gone[] = {
        "SELECT count(*) FROM address WHERE email IN ('anne@example.org', 'a@example.net')",
        "SELECT count(*) FROM pending", "SELECT count(*) FROM bounce",
        "SELECT count(*) FROM person WHERE display_name = 'Anne'"};
    for (size_t at = 0; at < G_N_ELEMENTS(gone); at++) {
        g_autoptr(Query) query = query_start(fixture->store, NULL, gone[at], NULL, 0);
        g_assert_cmpint(query_step(query, NULL), ==, STEP_ROW);
        g_assert_cmpint(query_integer(query, 0), ==, 0);
    }
    g_assert_true(is_member(fixture, "bart@example.org"));
    assert_sound(fixture);
}

static void test_pages(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE], last[STORE_ID_SIZE] = "";
    for (int at = 0; at < 600; at++) {
        g_autofree char *address = g_strdup_printf("u%d@%s", at, at % 100 == 7 ? "rare.example" : "example.org");
        assert_ok(user_create(fixture->store, mailbox_of(address), at == 5 ? "J\303\226RG" : NULL, id, &error), error);
        g_assert_cmpstr(last, <, id); /* ids sort by creation */
        memcpy(last, id, sizeof last);
    }
    assert_ok(user_set_server_owner(fixture->store, "u3@example.org", true, &error), error);
    g_autoptr(GPtrArray) page = user_page(fixture->store, &(UserCriteria){0}, NULL, 250, &error);
    g_assert_cmpint(page->len, ==, 250);
    g_autoptr(GPtrArray) next =
        user_page(fixture->store, &(UserCriteria){0}, ((User *)page->pdata[249])->id, 400, &error);
    g_autoptr(GPtrArray) skipped = user_page(fixture->store, &(UserCriteria){.skip = 250}, NULL, 400, &error);
    g_assert_cmpint(next->len, ==, 350);
    g_assert_cmpint(skipped->len, ==, 350);
    g_assert_cmpstr(((User *)next->pdata[0])->id, ==, ((User *)skipped->pdata[0])->id);
    g_autoptr(GPtrArray) rare = user_page(fixture->store, &(UserCriteria){.text = "@RARE", .skip = 1}, NULL, 3, &error);
    g_assert_cmpint(rare->len, ==, 3);
    g_autoptr(GPtrArray) named = user_page(fixture->store, &(UserCriteria){.text = "j\303\266r"}, NULL, 3, &error);
    g_assert_cmpint(named->len, ==, 1);
    g_autoptr(GPtrArray) owners = user_page(fixture->store, &(UserCriteria){.server_owners = true}, NULL, 9, &error);
    g_assert_cmpint(owners->len, ==, 1);
    int64_t count;
    assert_ok(user_count(fixture->store, &(UserCriteria){.text = "rare"}, &count, &error), error);
    g_assert_cmpint(count, ==, 6);
    assert_ok(user_count(fixture->store, &(UserCriteria){.server_owners = true}, &count, &error), error);
    g_assert_cmpint(count, ==, 1);
}

static void test_language(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    char *language;
    Preferences wanted = preferences_unset;
    add(fixture, ROLE_MEMBER, "anne@example.org");
    assert_ok(address_language(fixture->store, LIST, mailbox_of("anne@example.org"), &language, &error), error);
    g_assert_null(language);
    g_strlcpy(wanted.preferred_language, "fr", sizeof wanted.preferred_language);
    assert_ok(user_set_preferences(fixture->store, "anne@example.org", &wanted, &error), error);
    assert_ok(address_language(fixture->store, NULL, mailbox_of("anne@example.org"), &language, &error), error);
    g_assert_cmpstr(language, ==, "fr");
    g_free(language);
    g_strlcpy(wanted.preferred_language, "ja", sizeof wanted.preferred_language);
    assert_ok(
        member_set_preferences(fixture->store, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), &wanted, &error),
        error);
    assert_ok(address_language(fixture->store, LIST, mailbox_of("Anne@example.org"), &language, &error), error);
    g_assert_cmpstr(language, ==, "ja");
    g_free(language);
    assert_ok(address_language(fixture->store, LIST, mailbox_of("bart@example.org"), &language, &error), error);
    g_assert_null(language);
    g_autoptr(Member) member = member_find(fixture->store, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), NULL);
    g_assert_cmpstr(member->effective.preferred_language, ==, "ja");
}

/* A membership goes to another address, and to the person whose that is: the address stays with its person. */
static void test_member_address(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    add(fixture, ROLE_MEMBER, "anne@example.org");
    add(fixture, ROLE_MEMBER, "bart@example.org");
    assert_ok(user_create(fixture->store, mailbox_of("c@example.org"), NULL, id, &error), error);
    g_autoptr(Member) anne = member_find(fixture->store, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), NULL);
    g_assert_false(member_set_address(fixture->store, anne->id, mailbox_of("bart@example.org"), &error));
    assert_failed(FAIL_EXISTS, error);
    g_assert_false(member_set_address(fixture->store, anne->id, mailbox_of("nonsense"), &error));
    assert_failed(FAIL_NEVER, error);
    assert_ok(member_set_address(fixture->store, anne->id, mailbox_of("Anne@New.example"), &error), error);
    g_autoptr(Member) moved = member_by_id(fixture->store, anne->id, &error);
    g_assert_cmpstr(moved->address, ==, "Anne@New.example");
    g_assert_cmpstr(moved->user_id, !=, anne->user_id);
    assert_ok(member_set_address(fixture->store, anne->id, mailbox_of("c@example.org"), &error), error);
    g_autoptr(Member) again = member_by_id(fixture->store, anne->id, &error);
    g_assert_cmpstr(again->user_id, ==, id);
    assert_sound(fixture);
    assert_ok(member_remove(fixture->store, LIST, ROLE_MEMBER, mailbox_of("c@example.org"), &error), error);
    g_assert_null(member_by_id(fixture->store, anne->id, &error));
    assert_failed(FAIL_MISSING, error);
    assert_sound(fixture);
}

SUITE("user")
{
    g_test_init(&argc, &argv, NULL);
    TEST_WITH_LIST("/user/create", test_create);
    TEST_WITH_LIST("/user/change", test_change);
    TEST_WITH_LIST("/user/address without a user", test_stands_alone);
    TEST_WITH_LIST("/user/addresses", test_addresses);
    TEST_WITH_LIST("/user/prefer none", test_clear_preferred);
    TEST_WITH_LIST("/user/merge", test_merge);
    TEST_WITH_LIST("/user/remove", test_remove);
    TEST_WITH_LIST("/user/pages", test_pages);
    TEST_WITH_LIST("/user/language", test_language);
    TEST_WITH_LIST("/user/membership to another address", test_member_address);
    return g_test_run();
}
