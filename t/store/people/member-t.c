/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/member.h"

#include <string.h>

#include "store/store.h"
#include "store/store_internal.h"
#include "t/addresses.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"

static void add(Fixture *fixture, Role role, const char *address)
{
    GError *error = NULL;
    assert_ok(member_add(fixture->store, LIST, role, mailbox_of(address), NULL, NULL, &error), error);
}

static Member *find(Fixture *fixture, Role role, const char *address)
{
    GError *error = NULL;
    Member *member = member_find(fixture->store, LIST, role, mailbox_of(address), &error);
    g_assert_no_error(error);
    return member;
}

static int64_t number(Fixture *fixture, const char *sql)
{
    g_autoptr(Query) query = query_start(fixture->store, NULL, sql, NULL, 0);
    g_assert_cmpint(query_step(query, NULL), ==, STEP_ROW);
    return query_integer(query, 0);
}

/* Check that all that member repeats of address is the same there; everybody has an address; one is preferred at
 * most. */
static void assert_sound(Fixture *fixture)
{
    g_assert_cmpint(number(fixture,
                           "SELECT count(*) FROM member m LEFT JOIN address a ON a.key = m.address WHERE a.key IS NULL "
                           "OR a.folded <> m.folded OR a.email <> m.email OR a.person <> m.person "
                           "OR (m.by_person = 1 AND a.preferred = 0)"),
                    ==, 0);
    g_assert_cmpint(number(fixture, "SELECT count(*) FROM person WHERE key NOT IN (SELECT person FROM address)"), ==,
                    0);
    g_assert_cmpint(
        number(fixture, "SELECT COALESCE(MAX(n), 0) FROM (SELECT sum(preferred) AS n FROM address GROUP BY person) "
               "AS sums"),
        <=, 1);
}

/* ---- addresses ---- */

/* A member may have any address that base/mailbox.h allows, and none else; it is found with and without quotes. */
static void test_addresses(Fixture *fixture, const void *data)
{
    for (const char *const *address = addresses_good; *address; address++) {
        add(fixture, ROLE_MEMBER, *address);
        g_autoptr(Member) member = find(fixture, ROLE_MEMBER, *address);
        g_assert_cmpstr(member->address, ==, *address);
    }
    for (const char *const *address = addresses_bad; *address; address++) {
        GError *error = NULL;
        g_assert_false(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of(*address), NULL, NULL, &error));
        assert_failed(FAIL_NEVER, error);
    }
    for (const char *const *address = addresses_unseen; *address; address++) {
        GError *error = NULL;
        g_assert_false(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of(*address), NULL, NULL, &error));
        g_assert_nonnull(strstr(error->message, "letters that nobody sees"));
        assert_failed(FAIL_NEVER, error);
    }
    g_autoptr(Member) quoted = find(fixture, ROLE_MEMBER, "\"foo..bar\"@Docomo.example");
    g_assert_cmpstr(quoted->address, ==, "foo..bar@docomo.example");
    add(fixture, ROLE_OWNER, "\"Jo.\"@example.org");
    g_autoptr(Member) owner = find(fixture, ROLE_OWNER, "jo.@example.org");
    g_assert_cmpstr(owner->address, ==, "Jo.@example.org");
    assert_sound(fixture);
}

/* ---- members ---- */

static void test_add_and_find(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Preferences own = preferences_unset;
    own.hide_address = 0;
    own.delivery_mode = MODE_SUMMARY_DIGESTS;
    assert_ok(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of("Jo@Example.ORG"), "Jo Doe", &own, &error),
              error);
    g_autoptr(Member) member = find(fixture, ROLE_MEMBER, "jo@EXAMPLE.org");
    g_assert_cmpint(strlen(member->id), ==, STORE_ID_SIZE - 1);
    g_assert_cmpstr(member->list_id, ==, LIST);
    g_assert_cmpstr(member->address, ==, "Jo@Example.ORG");
    g_assert_cmpstr(member->display_name, ==, "Jo Doe");
    g_assert_cmpint(member->role, ==, ROLE_MEMBER);
    g_assert_cmpint(member->moderation_action, ==, ACTION_UNSET);
    g_assert_cmpint(member->joined_at, >, 0);
    g_assert_cmpmem(&member->own, sizeof own, &own, sizeof own);
    Preferences expected = {0, 0, 1, 1, MODE_SUMMARY_DIGESTS, DELIVERY_ENABLED, ""};
    g_assert_cmpmem(&member->effective, sizeof expected, &expected, sizeof expected);
    assert_sound(fixture);
}

static void test_add_refused(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    add(fixture, ROLE_MEMBER, "a@example.org");
    g_assert_false(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of("A@example.org"), NULL, NULL, &error));
    assert_failed(FAIL_EXISTS, error);
    add(fixture, ROLE_OWNER, "a@example.org"); /* another role */
    g_assert_false(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of("nonsense"), NULL, NULL, &error));
    g_assert_nonnull(strstr(error->message, "nonsense"));
    assert_failed(FAIL_NEVER, error);
    g_assert_false(
        member_add(fixture->store, "none.example.com", ROLE_MEMBER, mailbox_of("b@example.org"), NULL, NULL, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_cmpint(number(fixture, "SELECT count(*) FROM address"), ==, 1);
}

/* An import goes on after a bad line, within its transaction. */
static void test_add_many(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(store_begin(fixture->store, &error), error);
    assert_ok(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of("a@example.org"), NULL, NULL, &error), error);
    g_assert_false(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of("a@example.org"), "A Name", NULL, &error));
    assert_failed(FAIL_EXISTS, error);
    g_assert_false(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of("@"), NULL, NULL, &error));
    assert_failed(FAIL_NEVER, error);
    assert_ok(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of("b@example.org"), NULL, NULL, &error), error);
    assert_ok(store_commit(fixture->store, &error), error);
    int64_t count;
    assert_ok(member_count(fixture->store, LIST, ROLE_MEMBER, &count, &error), error);
    g_assert_cmpint(count, ==, 2);
}

/* A name that comes with a membership stays there, unless the address is made with it: it may be somebody's of other
 * lists. Who has no other name is called by it. */
static void test_names(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    add(fixture, ROLE_MEMBER, "a@example.org");
    g_autoptr(Member) unnamed = find(fixture, ROLE_MEMBER, "a@example.org");
    g_assert_cmpstr(unnamed->display_name, ==, "");
    assert_ok(member_add(fixture->store, LIST, ROLE_OWNER, mailbox_of("a@example.org"), "First", NULL, &error), error);
    assert_ok(member_add(fixture->store, LIST, ROLE_MODERATOR, mailbox_of("a@example.org"), "Second", NULL, &error),
              error);
    g_autoptr(Member) named = find(fixture, ROLE_MEMBER, "a@example.org");
    g_assert_cmpstr(named->display_name, ==, "");
    g_autoptr(Member) owner = find(fixture, ROLE_OWNER, "a@example.org");
    g_assert_cmpstr(owner->display_name, ==, "First");
    g_assert_cmpstr(owner->given_name, ==, "First");
    assert_ok(member_add(fixture->store, LIST, ROLE_OWNER, mailbox_of("b@example.org"), "Bee", NULL, &error), error);
    assert_ok(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of("b@example.org"), "Wasp", NULL, &error), error);
    g_autoptr(Member) made = find(fixture, ROLE_OWNER, "b@example.org");
    g_autoptr(Member) wasp = find(fixture, ROLE_MEMBER, "b@example.org");
    g_assert_cmpstr(made->display_name, ==, "Bee");
    g_assert_cmpstr(wasp->display_name, ==, "Bee");
    g_assert_cmpstr(wasp->given_name, ==, "Wasp");
}

static void test_name_is_cleaned(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(
        member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of("a@example.org"), "A\r\nBcc: \377", NULL, &error),
        error);
    g_autoptr(Member) member = find(fixture, ROLE_MEMBER, "a@example.org");
    g_assert_cmpstr(member->display_name, ==, "A  Bcc: \357\277\275");
}

static void test_remove(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    add(fixture, ROLE_MEMBER, "a@example.org");
    add(fixture, ROLE_OWNER, "a@example.org");
    assert_ok(member_remove(fixture->store, LIST, ROLE_MEMBER, mailbox_of("A@example.org"), &error), error);
    g_assert_null(member_find(fixture->store, LIST, ROLE_MEMBER, mailbox_of("a@example.org"), &error));
    assert_failed(FAIL_MISSING, error);
    g_autoptr(Member) owner = find(fixture, ROLE_OWNER, "a@example.org");
    g_assert_false(member_remove(fixture->store, LIST, ROLE_MEMBER, mailbox_of("a@example.org"), &error));
    g_assert_nonnull(strstr(error->message, "a@example.org is no member of " LIST));
    assert_failed(FAIL_MISSING, error);
    g_assert_false(member_remove(fixture->store, "none.example.com", ROLE_MEMBER, mailbox_of("a@example.org"), &error));
    assert_failed(FAIL_MISSING, error);
    add(fixture, ROLE_MEMBER, "a@example.org");
}

static void test_change(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Preferences own = {1, 0, 0, 0, MODE_MIME_DIGESTS, DELIVERY_BY_MODERATOR, ""};
    add(fixture, ROLE_MEMBER, "a@example.org");
    assert_ok(member_set_preferences(fixture->store, LIST, ROLE_MEMBER, mailbox_of("A@example.org"), &own, &error),
              error);
    assert_ok(
        member_set_moderation(fixture->store, LIST, ROLE_MEMBER, mailbox_of("a@example.org"), ACTION_DISCARD, &error),
        error);
    g_autoptr(Member) member = find(fixture, ROLE_MEMBER, "a@example.org");
    g_assert_cmpmem(&member->own, sizeof own, &own, sizeof own);
    g_assert_cmpmem(&member->effective, sizeof own, &own, sizeof own);
    g_assert_cmpint(member->moderation_action, ==, ACTION_DISCARD);
    assert_ok(
        member_set_moderation(fixture->store, LIST, ROLE_MEMBER, mailbox_of("a@example.org"), ACTION_UNSET, &error),
        error);
    g_autoptr(Member) again = find(fixture, ROLE_MEMBER, "a@example.org");
    g_assert_cmpint(again->moderation_action, ==, ACTION_UNSET);
    g_assert_false(
        member_set_preferences(fixture->store, LIST, ROLE_MEMBER, mailbox_of("b@example.org"), &own, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_false(
        member_set_moderation(fixture->store, LIST, ROLE_OWNER, mailbox_of("a@example.org"), ACTION_HOLD, &error));
    assert_failed(FAIL_MISSING, error);
}

static void test_inheritance(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Preferences user = preferences_unset, address = preferences_unset, own = preferences_unset;
    add(fixture, ROLE_MEMBER, "a@example.org");
    user.acknowledge_posts = user.receive_list_copy = 1;
    user.hide_address = user.delivery_mode = 0;
    user.delivery_status = DELIVERY_BY_USER;
    address.delivery_mode = MODE_MIME_DIGESTS;
    address.acknowledge_posts = 0;
    address.delivery_status = DELIVERY_BY_MODERATOR;
    own.delivery_status = DELIVERY_ENABLED;
    assert_ok(user_set_preferences(fixture->store, "a@example.org", &user, &error), error);
    assert_ok(address_set_preferences(fixture->store, mailbox_of("a@example.org"), &address, &error), error);
    assert_ok(member_set_preferences(fixture->store, LIST, ROLE_MEMBER, mailbox_of("a@example.org"), &own, &error),
              error);
    g_autoptr(Member) member = find(fixture, ROLE_MEMBER, "a@example.org");
    Preferences expected = {0, 0, 1, 1, MODE_MIME_DIGESTS, DELIVERY_ENABLED, ""};
    g_assert_cmpmem(&member->effective, sizeof expected, &expected, sizeof expected);
    g_assert_cmpmem(&member->own, sizeof own, &own, sizeof own);
    g_assert_false(user_set_preferences(fixture->store, "b@example.org", &user, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_false(address_set_preferences(fixture->store, mailbox_of("b@example.org"), &user, &error));
    assert_failed(FAIL_MISSING, error);
}

typedef struct Seen {
    GString *addresses;
    int left;
} Seen;

static bool see(const Member *member, void *data)
{
    Seen *seen = data;
    g_string_append_printf(seen->addresses, "%s ", member->address);
    return --seen->left > 0;
}

static void test_each(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    add(fixture, ROLE_MEMBER, "b@z.org");
    add(fixture, ROLE_MEMBER, "A@z.org");
    add(fixture, ROLE_MEMBER, "c@a.org");
    add(fixture, ROLE_OWNER, "o@a.org");
    Seen seen = {g_string_new(NULL), 9};
    assert_ok(member_each(fixture->store, LIST, ROLE_MEMBER, see, &seen, &error), error);
    g_assert_cmpstr(seen.addresses->str, ==, "c@a.org A@z.org b@z.org ");
    g_string_truncate(seen.addresses, 0);
    seen.left = 1;
    assert_ok(member_each(fixture->store, LIST, ROLE_MEMBER, see, &seen, &error), error);
    g_assert_cmpstr(seen.addresses->str, ==, "c@a.org ");
    g_string_free(seen.addresses, TRUE);
    int64_t count;
    assert_ok(member_count(fixture->store, LIST, ROLE_MEMBER, &count, &error), error);
    g_assert_cmpint(count, ==, 3);
    g_assert_false(member_each(fixture->store, "none.example.com", ROLE_MEMBER, see, NULL, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_false(member_count(fixture->store, "none.example.com", ROLE_MEMBER, &count, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_false(recipient_count(fixture->store, "none.example.com", &count, &error));
    assert_failed(FAIL_MISSING, error);
}

static void test_administrators(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Preferences off = preferences_unset;
    off.delivery_status = DELIVERY_BY_USER;
    g_auto(GStrv) nobody = list_administrators(fixture->store, LIST, &error);
    g_assert_cmpint(g_strv_length(nobody), ==, 0);
    add(fixture, ROLE_MEMBER, "m@example.org");
    add(fixture, ROLE_OWNER, "z@example.org");
    add(fixture, ROLE_MODERATOR, "z@example.org");
    add(fixture, ROLE_MODERATOR, "a@example.org");
    assert_ok(member_add(fixture->store, LIST, ROLE_OWNER, mailbox_of("away@example.org"), NULL, &off, &error), error);
    g_auto(GStrv) found = list_administrators(fixture->store, LIST, &error);
    g_autofree char *joined = g_strjoinv(" ", found);
    g_assert_cmpstr(joined, ==, "a@example.org z@example.org");
    g_assert_null(list_administrators(fixture->store, "none.example.com", &error));
    assert_failed(FAIL_MISSING, error);
}

/* ---- imports ---- */

typedef struct Imported {
    int64_t added, refused, last_refused;
} Imported;

static void imported(int64_t line, const char *address, const GError *refusal, void *data)
{
    Imported *seen = data;
    if (refusal)
        g_assert_true(g_error_matches(refusal, FAIL, FAIL_EXISTS));
    seen->added += !refusal;
    seen->refused += refusal != NULL;
    if (refusal)
        seen->last_refused = line;
    g_assert_nonnull(strchr(address, '@'));
}

static void import_all(MemberImport *import, Imported *seen)
{
    GError *error = NULL;
    assert_ok(member_import_sort(import, &error), error);
    for (bool more = true; more;)
        assert_ok(member_import_some(import, imported, seen, &more, &error), error);
}

static void test_import(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Preferences own = preferences_unset;
    add(fixture, ROLE_MEMBER, "m7@example.org");
    assert_ok(member_add(fixture->store, LIST, ROLE_OWNER, mailbox_of("M9@Example.org"), "Known", NULL, &error), error);
    assert_ok(list_set(fixture->store, LIST, "digest_is_default", "yes", &error), error);
    own.delivery_mode = MODE_PLAINTEXT_DIGESTS;
    MemberImport *import = member_import_open(fixture->store, LIST, ROLE_MEMBER, &error);
    g_assert_no_error(error);
    for (int i = 25000; i > 0; i--) { /* more than two slices */
        g_autofree char *address = g_strdup_printf("m%d@example.org", i);
        assert_ok(member_import_add(import, 25001 - i, address, "A Name", i == 3 ? &own : NULL, &error), error);
    }
    g_assert_false(member_import_add(import, 25001, "nonsense", NULL, NULL, &error));
    assert_failed(FAIL_NEVER, error);
    assert_ok(member_import_add(import, 25002, "M1@example.org", NULL, NULL, &error), error);
    Imported seen = {0};
    import_all(import, &seen);
    member_import_free(import);
    g_assert_cmpint(seen.added, ==, 24999);
    g_assert_cmpint(seen.refused, ==, 2); /* m7, and m1 the second time */
    g_assert_cmpint(seen.last_refused, ==, 25001 - 7);
    int64_t count;
    assert_ok(member_count(fixture->store, LIST, ROLE_MEMBER, &count, &error), error);
    g_assert_cmpint(count, ==, 25000);
    g_autoptr(Member) member = find(fixture, ROLE_MEMBER, "m3@example.org");
    g_assert_cmpint(member->own.delivery_mode, ==, MODE_PLAINTEXT_DIGESTS);
    g_assert_cmpstr(member->display_name, ==, "A Name");
    g_autoptr(Member) known = find(fixture, ROLE_MEMBER, "m9@example.org");
    g_assert_cmpint(known->own.delivery_mode, ==, MODE_MIME_DIGESTS);
    g_assert_cmpstr(known->address, ==, "M9@Example.org");
    g_assert_cmpstr(known->display_name, ==, "Known");
    g_assert_cmpstr(known->given_name, ==, "A Name");
    assert_sound(fixture);
    g_assert_null(member_import_open(fixture->store, "none.example.com", ROLE_MEMBER, &error));
    assert_failed(FAIL_MISSING, error);
}

static void test_import_in_transaction(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(store_begin(fixture->store, &error), error);
    MemberImport *import = member_import_open(fixture->store, LIST, ROLE_MEMBER, &error);
    assert_ok(member_import_add(import, 1, "a@example.org", NULL, NULL, &error), error);
    Imported seen = {0};
    import_all(import, &seen);
    g_assert_cmpint(seen.added, ==, 1);
    member_import_free(import);
    store_rollback(fixture->store);
    int64_t count;
    assert_ok(member_count(fixture->store, LIST, ROLE_MEMBER, &count, &error), error);
    g_assert_cmpint(count, ==, 0);
}

/* The database refuses one of some hundred: none comes, and the error says why. */
static void test_import_refused(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    const char *sql = g_str_equal(fixture_driver(), "sqlite")
                          ? "CREATE TRIGGER refuse BEFORE INSERT ON member WHEN new.email = 'm250@example.org' "
                            "BEGIN SELECT RAISE(ABORT, 'refused'); END"
                          : "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION "
                            "''refused''; END'; CREATE TRIGGER refuse BEFORE INSERT ON member FOR EACH ROW "
                            "WHEN (new.email = 'm250@example.org') EXECUTE FUNCTION refuse()";
    assert_ok(store_driver(fixture->store)->script(store_connection(fixture->store), sql, &error), error);
    add(fixture, ROLE_MEMBER, "m7@example.org");
    MemberImport *import = member_import_open(fixture->store, LIST, ROLE_MEMBER, &error);
    for (int i = 1; i <= 300; i++) {
        g_autofree char *address = g_strdup_printf("m%d@example.org", i);
        assert_ok(member_import_add(import, i, address, NULL, NULL, &error), error);
    }
    Imported seen = {0};
    bool more;
    assert_ok(member_import_sort(import, &error), error);
    g_assert_false(member_import_some(import, imported, &seen, &more, &error));
    g_assert_nonnull(strstr(error->message, "refused"));
    g_clear_error(&error);
    member_import_free(import);
    g_assert_cmpint(seen.added + seen.refused, ==, 0);
    int64_t count;
    assert_ok(member_count(fixture->store, LIST, ROLE_MEMBER, &count, &error), error);
    g_assert_cmpint(count, ==, 1);
    assert_sound(fixture);
}

/* Freed without a run: nothing happened, and others could write all the time. */
static void test_import_given_up(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    MemberImport *import = member_import_open(fixture->store, LIST, ROLE_MEMBER, &error);
    assert_ok(member_import_add(import, 1, "a@example.org", NULL, NULL, &error), error);
    g_autoptr(Store) other = fixture_connect(fixture, &error);
    assert_ok(member_add(other, LIST, ROLE_MEMBER, mailbox_of("b@example.org"), NULL, NULL, &error), error);
    member_import_free(import);
    int64_t count;
    assert_ok(member_count(fixture->store, LIST, ROLE_MEMBER, &count, &error), error);
    g_assert_cmpint(count, ==, 1);
    add(fixture, ROLE_MEMBER, "a@example.org");
}

/* ---- users ---- */

static void test_preferred(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    add(fixture, ROLE_OWNER, "a@example.org");
    assert_ok(user_link_address(fixture->store, "A@example.org", mailbox_of("b@example.org"), &error), error);
    assert_ok(member_add_user(fixture->store, LIST, ROLE_MEMBER, mailbox_of("b@example.org"), &error),
              error); /* none preferred: b now is */
    member_free(find(fixture, ROLE_MEMBER, "b@example.org"));
    g_assert_false(member_add_user(fixture->store, LIST, ROLE_MEMBER, mailbox_of("a@example.org"), &error));
    assert_failed(FAIL_EXISTS, error);
    assert_ok(user_set_preferred(fixture->store, mailbox_of("a@example.org"), &error), error);
    assert_ok(user_set_preferred(fixture->store, mailbox_of("a@example.org"), &error), error);
    member_free(find(fixture, ROLE_MEMBER, "a@example.org"));
    g_assert_null(member_find(fixture->store, LIST, ROLE_MEMBER, mailbox_of("b@example.org"), &error));
    assert_failed(FAIL_MISSING, error);
    assert_sound(fixture);
    g_assert_false(user_set_preferred(fixture->store, mailbox_of("none@example.org"), &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_false(member_add_user(fixture->store, LIST, ROLE_MEMBER, mailbox_of("none@example.org"), &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_false(
        member_add_user(fixture->store, "none.example.com", ROLE_MEMBER, mailbox_of("a@example.org"), &error));
    assert_failed(FAIL_MISSING, error);
}

static void test_link(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Preferences off = preferences_unset;
    off.delivery_status = DELIVERY_BY_USER;
    add(fixture, ROLE_MEMBER, "a@example.org");
    add(fixture, ROLE_MEMBER, "b@example.org");
    assert_ok(user_set_preferences(fixture->store, "a@example.org", &off, &error), error);
    g_assert_cmpint(number(fixture, "SELECT count(*) FROM person"), ==, 2);
    assert_ok(user_link_address(fixture->store, "a@example.org", mailbox_of("B@example.org"), &error), error);
    assert_ok(user_link_address(fixture->store, "a@example.org", mailbox_of("b@example.org"), &error), error);
    g_assert_cmpint(number(fixture, "SELECT count(*) FROM person"), ==, 1);
    g_autoptr(Member) member = find(fixture, ROLE_MEMBER, "b@example.org");
    g_assert_cmpint(member->effective.delivery_status, ==, DELIVERY_BY_USER);
    assert_sound(fixture);
    g_assert_false(user_link_address(fixture->store, "none@example.org", mailbox_of("b@example.org"), &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_false(user_link_address(fixture->store, "a@example.org", mailbox_of("nonsense"), &error));
    assert_failed(FAIL_NEVER, error);
}

/* An address that goes takes what it was subscribed to along; its user keeps the rest. */
/* The name of what is subscribed counts first: the person's, or the address's. */
static void test_name_of_what_is_subscribed(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) all = NULL;
    MemberCriteria of = MEMBER_CRITERIA_ALL;
    add(fixture, ROLE_MEMBER, "a@example.org");
    assert_ok(member_add_user(fixture->store, LIST, ROLE_MEMBER, mailbox_of("a@example.org"), &error), error);
    assert_ok(address_set_name(fixture->store, mailbox_of("a@example.org"), "Address", &error), error);
    assert_ok(user_set_name(fixture->store, "a@example.org", "Person", &error), error);
    all = member_page(fixture->store, &of, NULL, 9, NULL, &error);
    g_assert_no_error(error);
    for (guint at = 0; at < all->len; at++) {
        const Member *member = all->pdata[at];
        g_assert_cmpstr(member->display_name, ==, member->as_user ? "Person" : "Address");
    }
    g_assert_cmpuint(all->len, ==, 2);
}

static void test_link_preferred(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    add(fixture, ROLE_OWNER, "new@example.org");
    add(fixture, ROLE_MEMBER, "a@example.org");
    assert_ok(user_link_address(fixture->store, "a@example.org", mailbox_of("b@example.org"), &error), error);
    assert_ok(member_add_user(fixture->store, LIST, ROLE_MEMBER, mailbox_of("a@example.org"), &error),
              error); /* besides by address */
    assert_ok(member_add_user(fixture->store, LIST, ROLE_MODERATOR, mailbox_of("a@example.org"), &error), error);
    assert_ok(user_link_address(fixture->store, "new@example.org", mailbox_of("a@example.org"), &error), error);
    assert_sound(fixture);
    member_free(find(fixture, ROLE_MEMBER, "a@example.org"));
    member_free(find(fixture, ROLE_MODERATOR, "a@example.org"));
    g_assert_cmpint(number(fixture, "SELECT count(*) FROM member"), ==, 3);
    g_assert_cmpint(number(fixture, "SELECT count(*) FROM member WHERE by_person = 1"), ==, 0);
    g_assert_cmpint(number(fixture, "SELECT count(*) FROM person"), ==, 2);
}

static void test_words(void)
{
    Role role;
    DeliveryStatus status;
    DeliveryMode mode;
    for (Role i = ROLE_MEMBER; i <= ROLE_NONMEMBER; i++)
        g_assert_true(role_parse(role_text(i), &role) && role == i);
    for (DeliveryStatus i = DELIVERY_ENABLED; i <= DELIVERY_UNKNOWN; i++)
        g_assert_true(delivery_status_parse(delivery_status_text(i), &status) && status == i);
    for (DeliveryMode i = MODE_REGULAR; i <= MODE_SUMMARY_DIGESTS; i++)
        g_assert_true(delivery_mode_parse(delivery_mode_text(i), &mode) && mode == i);
    g_assert_false(role_parse("king", &role));
    g_assert_false(delivery_status_parse("", &status));
    g_assert_false(delivery_mode_parse("regularly", &mode));
}

SUITE("member")
{
    g_test_init(&argc, &argv, NULL);
    TEST_WITH_LIST("/member/addresses", test_addresses);
    TEST_WITH_LIST("/member/add-and-find", test_add_and_find);
    TEST_WITH_LIST("/member/add-refused", test_add_refused);
    TEST_WITH_LIST("/member/add-many", test_add_many);
    TEST_WITH_LIST("/member/names", test_names);
    TEST_WITH_LIST("/member/name-is-cleaned", test_name_is_cleaned);
    TEST_WITH_LIST("/member/remove", test_remove);
    TEST_WITH_LIST("/member/import", test_import);
    TEST_WITH_LIST("/member/import-in-transaction", test_import_in_transaction);
    TEST_WITH_LIST("/member/import-refused", test_import_refused);
    TEST_WITH_LIST("/member/import-given-up", test_import_given_up);
    TEST_WITH_LIST("/member/change", test_change);
    TEST_WITH_LIST("/member/inheritance", test_inheritance);
    TEST_WITH_LIST("/member/each", test_each);
    TEST_WITH_LIST("/member/administrators", test_administrators);
    TEST_WITH_LIST("/member/preferred", test_preferred);
    TEST_WITH_LIST("/member/link", test_link);
    TEST_WITH_LIST("/member/name of what is subscribed", test_name_of_what_is_subscribed);
    TEST_WITH_LIST("/member/link-preferred", test_link_preferred);
    g_test_add_func("/member/words", test_words);
    return g_test_run();
}
