/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "store/people/member.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"

static void add(Fixture *fixture, const char *list, Role role, const char *address, const char *name)
{
    GError *error = NULL;
    assert_ok(member_add(fixture->store, list, role, mailbox_of(address), name, NULL, &error), error);
}

/* Two lists; anne has three roles and two addresses. */
static void fill(Fixture *fixture)
{
    GError *error = NULL;
    g_autoptr(List) other = list_create(fixture->store, "other@example.com", &error);
    g_assert_no_error(error);
    add(fixture, LIST, ROLE_MEMBER, "anne@example.org", "Anne");
    add(fixture, LIST, ROLE_MEMBER, "bart@example.org", "Bart");
    add(fixture, LIST, ROLE_MEMBER, "cris@example.org", NULL);
    add(fixture, LIST, ROLE_OWNER, "cris@example.org", NULL);
    add(fixture, LIST, ROLE_OWNER, "anne@example.org", NULL);
    add(fixture, LIST, ROLE_MODERATOR, "bart@example.org", NULL);
    add(fixture, LIST, ROLE_NONMEMBER, "dora@example.org", NULL);
    add(fixture, "other.example.com", ROLE_MEMBER, "bart@example.org", NULL);
    assert_ok(user_link_address(fixture->store, "anne@example.org", mailbox_of("a@example.net"), &error), error);
    add(fixture, "other.example.com", ROLE_MEMBER, "a@example.net", NULL);
}

/* All that is found, read in pages of every size, from every place: always the same, "o:anne m:bart ...". */
static void expect(Fixture *fixture, MemberCriteria criteria, const char *expected)
{
    GError *error = NULL;
    static const char role_letter[] = {[ROLE_MEMBER] = 'm', [ROLE_OWNER] = 'o', [ROLE_MODERATOR] = 'd',
                                       [ROLE_NONMEMBER] = 'n'};
    unsigned total = 0;
    g_autoptr(GPtrArray) all = NULL;
    for (unsigned limit = 1; limit < 12; limit++) {
        g_autoptr(GString) seen = g_string_new(NULL);
        g_autofree char *after = NULL;
        total = 0;
        do {
            char *next;
            g_autoptr(GPtrArray) page = member_page(fixture->store, &criteria, after, limit, &next, &error);
            g_assert_no_error(error);
            total += page->len;
            if (limit > 10 && !all) /* more than there are */
                all = g_ptr_array_ref(page);
            for (unsigned at = 0; at < page->len; at++) {
                const Member *member = page->pdata[at];
                g_string_append_printf(seen, "%s%c%c:%.*s", seen->len > 0 ? " " : "", *member->list_id,
                                       role_letter[member->role], (int)strcspn(member->address, "@"),
                                       member->address);
            }
            g_free(after);
            after = next;
        } while (after);
        g_assert_cmpstr(seen->str, ==, expected);
    }
    int64_t count;
    assert_ok(member_matching(fixture->store, &criteria, &count, &error), error);
    g_assert_cmpint(count, ==, total);
    for (criteria.skip = 0; criteria.skip <= (int)total + 1; criteria.skip++) {
        g_autoptr(GPtrArray) rest = member_page(fixture->store, &criteria, NULL, 100, NULL, &error);
        g_assert_no_error(error);
        g_assert_cmpint(rest->len, ==, MAX((int)total - (int)criteria.skip, 0));
        for (unsigned at = 0; at < rest->len; at++)
            g_assert_cmpstr(((const Member *)rest->pdata[at])->id, ==,
                            ((const Member *)all->pdata[at + (unsigned)criteria.skip])->id);
    }
}

static void test_orders(Fixture *fixture, const void *data)
{
    fill(fixture);
    MemberCriteria all = MEMBER_CRITERIA_ALL;
    expect(fixture, all, "om:a om:bart to:anne to:cris td:bart tm:anne tm:bart tm:cris tn:dora");
    all.by_address = true;
    expect(fixture, all, "om:a om:bart tm:anne to:anne tm:bart td:bart tm:cris to:cris tn:dora");
    all.list_id = LIST;
    expect(fixture, all, "tm:anne to:anne tm:bart td:bart tm:cris to:cris tn:dora");
    all.by_address = false;
    all.roles = 1u << ROLE_MEMBER;
    expect(fixture, all, "tm:anne tm:bart tm:cris");
    all.by_address = true;
    expect(fixture, all, "tm:anne tm:bart tm:cris");
    all.by_address = false;
    all.roles = 1u << ROLE_NONMEMBER | 1u << ROLE_MODERATOR;
    expect(fixture, all, "td:bart tn:dora");
}

/* Check that the database passes over only names that the pattern would not have fitted, in any case and script. */
static void test_given_names(Fixture *fixture, const void *data)
{
    fill(fixture);
    add(fixture, LIST, ROLE_MEMBER, "eve_x@Example.org", "\303\204RGER 100% Eve");
    MemberCriteria of = MEMBER_CRITERIA_ALL;
    of.list_id = LIST;
    of.roles = 1u << ROLE_MEMBER;
    of.given_names = true;
    static const struct {
        const char *pattern, *expected;
    } cases[] = {
        {"*BAR*", "tm:bart"},
        {"*t@example*", "tm:bart"},
        {"*@example.org*", "tm:anne tm:bart tm:cris tm:eve_x"},
        {"*\303\244rger*", "tm:eve_x"},
        {"*00% eve*", "tm:eve_x"},
        {"*e_x*", "tm:eve_x"},
        {"*b_rt*", ""},
        {"*", "tm:anne tm:bart tm:cris tm:eve_x"},
        {"*n?e@*", "tm:anne"},
        {"*%*", "tm:eve_x"},
        {"*a*t@*", "tm:bart"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        of.subscriber = cases[i].pattern;
        expect(fixture, of, cases[i].expected);
    }
}

static void test_criteria(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    fill(fixture);
    MemberCriteria of = MEMBER_CRITERIA_ALL;
    of.subscriber = "BART@example.org";
    expect(fixture, of, "om:bart td:bart tm:bart");
    of.subscriber = "*AR*";
    expect(fixture, of, "om:bart td:bart tm:bart");
    of.subscriber = "anne"; /* a name */
    expect(fixture, of, "om:a to:anne tm:anne");
    of.subscriber = NULL;
    of.address = "Bart@example.org";
    expect(fixture, of, "om:bart td:bart tm:bart");
    of.address = "*@example.org"; /* such an address is possible, and is no pattern */
    expect(fixture, of, "");
    of.address = NULL;
    of.subscriber = "nobody@example.org";
    expect(fixture, of, "");
    of.subscriber = NULL;
    g_autoptr(User) anne = user_find(fixture->store, "a@example.net", &error);
    of.user_id = anne->id;
    expect(fixture, of, "om:a to:anne tm:anne");
    of.user_id = NULL;
    Preferences digests = preferences_unset;
    digests.delivery_mode = MODE_MIME_DIGESTS;
    assert_ok(user_set_preferences(fixture->store, "bart@example.org", &digests, &error), error);
    of.delivery_mode = MODE_MIME_DIGESTS;
    expect(fixture, of, "om:bart td:bart tm:bart");
    of.delivery_mode = -1;
    assert_ok(
        member_set_moderation(fixture->store, LIST, ROLE_MEMBER, mailbox_of("cris@example.org"), ACTION_HOLD, &error),
        error);
    of.moderation_action = ACTION_HOLD;
    expect(fixture, of, "tm:cris");
    of.moderation_action = ACTION_ACCEPT; /* owners and moderators have it without its being set */
    of.list_id = LIST;
    expect(fixture, of, "to:anne to:cris td:bart");
    of.list_id = NULL;
    of.address = "anne@example.org";
    expect(fixture, of, "to:anne");
}

/* A list of more members than are read at once, each by the address and by the user, so that a portion ends between two
 * rows of one address: every page size gives all of them once. */
static void test_portions(Fixture *fixture, const void *data)
{
    enum { PEOPLE = 700 };
    GError *error = NULL;
    assert_ok(store_begin(fixture->store, &error), error);
    for (int number = 0; number < PEOPLE; number++) {
        g_autofree char *address = g_strdup_printf("p%03d@example.org", number);
        char id[STORE_ID_SIZE];
        assert_ok(user_create(fixture->store, mailbox_of(address), NULL, id, &error), error);
        assert_ok(user_set_preferred(fixture->store, mailbox_of(address), &error), error);
        add(fixture, LIST, ROLE_MEMBER, address, NULL);
        assert_ok(member_add_user(fixture->store, LIST, ROLE_MEMBER, mailbox_of(address), &error), error);
    }
    assert_ok(store_commit(fixture->store, &error), error);
    static const unsigned limits[] = {1, 9, 10, 11, 49, 50, 51, 250, 251, 999, 1000, 1001, 1399, 1400, 1401};
    for (int rare = 0; rare < 2; rare++)
        for (size_t at = 0; at < G_N_ELEMENTS(limits); at++) {
            MemberCriteria of = MEMBER_CRITERIA_ALL;
            of.list_id = LIST;
            of.subscriber = rare ? "*99@example.org" : NULL;
            unsigned seen = 0;
            g_autofree char *after = NULL;
            do {
                char *next;
                g_autoptr(GPtrArray) page = member_page(fixture->store, &of, after, limits[at], &next, &error);
                g_assert_no_error(error);
                g_assert_cmpuint(page->len, <=, limits[at]);
                for (guint row = 0; row < page->len; row++, seen++) {
                    const Member *member = page->pdata[row];
                    unsigned person = rare ? seen / 2 * 100 + 99 : seen / 2;
                    g_autofree char *address = g_strdup_printf("p%03u@example.org", person);
                    g_assert_cmpstr(member->address, ==, address);
                    g_assert_cmpint(member->as_user, ==, seen % 2);
                }
                g_free(after);
                after = next;
            } while (after);
            g_assert_cmpuint(seen, ==, rare ? PEOPLE / 100 * 2 : PEOPLE * 2);
        }
}

static void test_refusals(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    MemberCriteria of = MEMBER_CRITERIA_ALL;
    g_assert_null(member_page(fixture->store, &of, "nonsense", 10, NULL, &error));
    assert_failed(FAIL_NEVER, error);
    of.list_id = "none.example.com";
    g_assert_null(member_page(fixture->store, &of, NULL, 10, NULL, &error));
    assert_failed(FAIL_MISSING, error);
    int64_t count;
    g_assert_false(member_matching(fixture->store, &of, &count, &error));
    assert_failed(FAIL_MISSING, error);
}

static void expect_lists(Fixture *fixture, const MemberCriteria *criteria, const char *expected)
{
    GError *error = NULL;
    g_auto(GStrv) lists = member_lists(fixture->store, criteria, &error);
    g_assert_no_error(error);
    g_autofree char *text = g_strjoinv(" ", lists);
    g_assert_cmpstr(text, ==, expected);
}

static void test_lists(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    fill(fixture);
    MemberCriteria of = MEMBER_CRITERIA_ALL;
    expect_lists(fixture, &of, "other.example.com " LIST);
    of.roles = 1u << ROLE_NONMEMBER;
    expect_lists(fixture, &of, LIST);
    of.roles = 0;
    of.subscriber = "BART@example.org";
    expect_lists(fixture, &of, "other.example.com " LIST);
    of.subscriber = "anne@example.org";
    expect_lists(fixture, &of, LIST);
    of.subscriber = "*@example.net";
    expect_lists(fixture, &of, "other.example.com");
    of.subscriber = "*b*";
    expect_lists(fixture, &of, "other.example.com " LIST);
    of.subscriber = "nobody";
    expect_lists(fixture, &of, "");
    of.subscriber = NULL;
    g_autoptr(User) anne = user_find(fixture->store, "a@example.net", &error);
    of.user_id = anne->id;
    expect_lists(fixture, &of, "other.example.com " LIST);
    of.roles = 1u << ROLE_OWNER;
    expect_lists(fixture, &of, LIST);
    of.list_id = "other.example.com";
    expect_lists(fixture, &of, "");
}

/* The place stays good when the member that it names goes. */
static void test_member_goes(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    fill(fixture);
    MemberCriteria of = MEMBER_CRITERIA_ALL;
    of.list_id = LIST;
    of.roles = 1u << ROLE_MEMBER;
    g_autofree char *next = NULL;
    g_autoptr(GPtrArray) first = member_page(fixture->store, &of, NULL, 2, &next, &error);
    g_assert_cmpint(first->len, ==, 2);
    assert_ok(member_remove(fixture->store, LIST, ROLE_MEMBER, mailbox_of("bart@example.org"), &error), error);
    g_autoptr(GPtrArray) second = member_page(fixture->store, &of, next, 2, NULL, &error);
    g_assert_cmpint(second->len, ==, 1);
    g_assert_cmpstr(((Member *)second->pdata[0])->address, ==, "cris@example.org");
}

SUITE("member_page")
{
    g_test_init(&argc, &argv, NULL);
    TEST_WITH_LIST("/member_page/orders", test_orders);
    TEST_WITH_LIST("/member_page/criteria", test_criteria);
    TEST_WITH_LIST("/member_page/names that came with memberships", test_given_names);
    TEST_WITH_LIST("/member_page/lists", test_lists);
    TEST_WITH_LIST("/member_page/portions", test_portions);
    TEST_WITH_LIST("/member_page/refusals", test_refusals);
    TEST_WITH_LIST("/member_page/a member goes between two pages", test_member_goes);
    return g_test_run();
}
