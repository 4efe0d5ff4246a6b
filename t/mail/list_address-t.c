/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/list_address.h"

#include <string.h>

#include "base/fail.h"
#include "lists/keys.h"
#include "t/suite.h"

static const char *const lists[] = {"test", "dev", "dev-join", "c++", "my-owner", "x-request-owner", NULL};
static unsigned asked;

static bool exists(const char *local, const char *domain, bool *found, char **list_id, void *data, GError **error)
{
    asked++;
    if (data)
        return fail(error, FAIL_LATER, "no database");
    *found = strcmp(domain, "example.com") == 0 && g_strv_contains(lists, local);
    if (*found)
        *list_id = g_strdup_printf("%s.%s", local, domain);
    return true;
}

static const struct {
    const char *mailbox, *list_id, *to, *detail;
} cases[] = {
    {"test@example.com", "test.example.com", TO_POSTING, NULL},
    {"TEST@Example.COM.", "test.example.com", TO_POSTING, NULL},
    {"\"test\"@example.com", "test.example.com", TO_POSTING, NULL},
    {"test+Tag+2@example.com", "test.example.com", TO_POSTING, "Tag+2"},
    {"test-owner@example.com", "test.example.com", TO_OWNER, NULL},
    {"test-bounces@example.com", "test.example.com", TO_BOUNCES, NULL},
    {"test-bounces+Anne+x=x.org@example.com", "test.example.com", TO_BOUNCES, "Anne+x=x.org"},
    {"test-join@example.com", "test.example.com", TO_JOIN, NULL},
    {"test-subscribe@example.com", "test.example.com", TO_JOIN, NULL},
    {"test-leave@example.com", "test.example.com", TO_LEAVE, NULL},
    {"test-unsubscribe@example.com", "test.example.com", TO_LEAVE, NULL},
    {"test-confirm+8f2A@example.com", "test.example.com", TO_CONFIRM, "8f2A"},
    {"test-request@example.com", "test.example.com", TO_REQUEST, NULL},
    {"dev-join@example.com", "dev-join.example.com", TO_POSTING, NULL},
    {"dev-join-join@example.com", "dev-join.example.com", TO_JOIN, NULL},
    {"my-owner-owner@example.com", "my-owner.example.com", TO_OWNER, NULL},
    {"x-request-owner@example.com", "x-request-owner.example.com", TO_POSTING, NULL},
    {"c++@example.com", "c++.example.com", TO_POSTING, NULL},
    {"c++-owner@example.com", "c++.example.com", TO_OWNER, NULL},
    {"c++-bounces+a=b@example.com", "c++.example.com", TO_BOUNCES, "a=b"},
    {"test@example.net", NULL, NULL, NULL},
    {"nothing@example.com", NULL, NULL, NULL},
    {"-owner@example.com", NULL, NULL, NULL},
    {"test-nothing@example.com", NULL, NULL, NULL},
    {"+test@example.com", NULL, NULL, NULL},
    {"test", NULL, NULL, NULL},
    {"@example.com", NULL, NULL, NULL},
    {"", NULL, NULL, NULL},
};

static void test_cases(void)
{
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(ListAddress) found = list_address_find(cases[at].mailbox, '+', exists, NULL, &error);
        g_test_message("%s", cases[at].mailbox);
        if (!cases[at].list_id) {
            g_assert_null(found);
            g_assert_error(error, FAIL, FAIL_MISSING);
            continue;
        }
        g_assert_no_error(error);
        g_assert_cmpstr(found->list_id, ==, cases[at].list_id);
        g_assert_cmpstr(list_address_text(found->to), ==, cases[at].to);
        g_assert_cmpstr(found->detail, ==, cases[at].detail);
        g_assert_cmpstr(found->domain, ==, "example.com");
    }
}

static const struct {
    const char *mailbox, *list_id, *to, *detail;
} dashes[] = {
    {"test-bounces-anne-x=x-y.org-tag@example.com", "test.example.com", TO_BOUNCES, "anne-x=x-y.org-tag"},
    {"TEST-Bounces-Anne@example.com", "test.example.com", TO_BOUNCES, "Anne"},
    {"test-confirm-8f2a@example.com", "test.example.com", TO_CONFIRM, "8f2a"},
    {"test-bounces@example.com", "test.example.com", TO_BOUNCES, NULL},
    {"dev-join-join@example.com", "dev-join.example.com", TO_JOIN, NULL},
    {"my-owner-bounces-a=b@example.com", "my-owner.example.com", TO_BOUNCES, "a=b"},
    {"test-2026@example.com", "test.example.com", TO_POSTING, "2026"},
    {"test-bounced-2026@example.com", "test.example.com", TO_POSTING, "bounced-2026"},
    {"nobody-bounces-a=b@example.com", NULL, NULL, NULL},
};

static void test_dashes(void)
{
    for (size_t at = 0; at < G_N_ELEMENTS(dashes); at++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(ListAddress) found = list_address_find(dashes[at].mailbox, '-', exists, NULL, &error);
        g_test_message("%s", dashes[at].mailbox);
        g_assert_cmpstr(found ? found->list_id : NULL, ==, dashes[at].list_id);
        g_assert_cmpstr(found ? list_address_text(found->to) : NULL, ==, dashes[at].to);
        g_assert_cmpstr(found ? found->detail : NULL, ==, dashes[at].detail);
    }
}

static const struct {
    const char *system, *rest, *to, *detail;
} old[] = {
    {"mlmmj", "owner", TO_OWNER, NULL},
    {"mlmmj", "Unsubscribe", TO_LEAVE, NULL},
    {"mlmmj", "subscribe-digest", TO_JOIN, NULL},
    {"mlmmj", "bounces-7-anne=x.org", TO_BOUNCES, NULL},
    {"mlmmj", "confsub-8f2A", TO_CONFIRM, "8f2A"},
    {"mlmmj", "get-12", TO_REQUEST, NULL},
    {"mlmmj", "listen", TO_POSTING, "before"},
    {"mlmmj", "return-7-anne=x.org", TO_POSTING, "before"},
    {"ezmlm", "return-7-anne=x.org", TO_BOUNCES, NULL},
    {"ezmlm", "sc.1234.ab-anne=x.org", TO_CONFIRM, "1234.ab-anne=x.org"},
    {"ezmlm", "digest-unsubscribe-anne=x.org", TO_LEAVE, NULL},
    {"ezmlm", "help", TO_REQUEST, NULL},
    {"sympa", "editor", TO_OWNER, NULL},
    {"sympa", "help", TO_POSTING, "before"},
    {"mailman3", "owner", TO_POSTING, "before"},
    {NULL, "owner", TO_POSTING, "before"},
};

/* Words of another system that had the list. */
static void test_old(void)
{
    for (size_t at = 0; at < G_N_ELEMENTS(old); at++) {
        g_autoptr(ListAddress) address = g_new0(ListAddress, 1);
        address->detail = g_strdup("before");
        bool read = list_address_read_old(address, old[at].system, old[at].rest);
        g_test_message("%s", old[at].rest);
        g_assert_cmpstr(list_address_text(address->to), ==, old[at].to);
        g_assert_cmpstr(address->detail, ==, old[at].detail);
        g_assert_cmpint(read, ==, !g_str_equal(old[at].to, TO_POSTING));
    }
}

static void test_failure(void)
{
    g_autoptr(GError) error = NULL;
    int broken = 1;
    g_assert_null(list_address_find("test@example.com", '+', exists, &broken, &error));
    g_assert_error(error, FAIL, FAIL_LATER);
}

static void test_bounded(void)
{
    g_autofree char *many = g_strnfill(1000, '+');
    g_autofree char *mailbox = g_strdup_printf("x%s@example.com", many);
    asked = 0;
    g_autoptr(GError) error = NULL;
    g_assert_null(list_address_find(mailbox, '+', exists, NULL, &error));
    g_assert_cmpuint(asked, <=, LIST_ADDRESS_LOOKUPS);
}

SUITE("list_address")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/list_address/cases", test_cases);
    g_test_add_func("/list_address/dashes", test_dashes);
    g_test_add_func("/list_address/old", test_old);
    g_test_add_func("/list_address/failure", test_failure);
    g_test_add_func("/list_address/bounded", test_bounded);
    return g_test_run();
}
