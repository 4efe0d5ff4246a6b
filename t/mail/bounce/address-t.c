/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/address.h"

#include <string.h>

#include "base/mailbox.h"
#include "mail/message.h"
#include "t/addresses.h"
#include "t/doubling.h"
#include "t/mail/corpus.h"
#include "t/suite.h"

/* "display|mailbox" of each, joined by newlines. */
static char *parsed(const char *text)
{
    g_autoptr(GPtrArray) list = address_list_new();
    address_parse(text, strlen(text), list);
    GString *all = g_string_new(NULL);
    for (unsigned at = 0; at < list->len; at++) {
        Address *address = list->pdata[at];
        g_string_append_printf(all, "%s%s|%s", at ? "\n" : "", address->display, address->mailbox);
    }
    return g_string_free(all, false);
}

static const struct {
    const char *text, *expected;
} cases[] = {
    {"anne@example.com", "|anne@example.com"},
    {"Anne Person <anne@example.com>", "Anne Person|anne@example.com"},
    {"\"Person, Anne\" <anne@example.com>, bart@example.com", "Person, Anne|anne@example.com\n|bart@example.com"},
    {"Bob Smith, Jr. <bob@example.com>, Person, Anne <anne@example.com>, cris, d@example.com, Eve <e@example.com>",
     "Bob Smith, Jr.|bob@example.com\nPerson, Anne|anne@example.com\n|d@example.com\nEve|e@example.com"},
    {"anne@example.com (Anne \\(P\\))", "Anne (P)|anne@example.com"},
    {"A Group: anne@example.com, Bart <bart@example.com>;, c@example.com",
     "|anne@example.com\nBart|bart@example.com\n|c@example.com"},
    {"undisclosed-recipients:;", ""},
    {"<@a.example,@b.example:anne@example.com>", "|anne@example.com"},
    {"\"anne person\"@example.com", "|\"anne person\"@example.com"},
    {"\"anne\"@example.com", "|anne@example.com"},
    {"\"foo..bar\"@example.com", "|foo..bar@example.com"},
    {"\"foo.\" @example.com, < .foo@example.com >", "|.foo@example.com"},
    {"\"an\\\"ne\"@example.com", "|\"an\\\"ne\"@example.com"},
    {"anne . person @ example . com", "|anne.person@example.com"},
    {"Anne <anne@example.com", "Anne|anne@example.com"},
    {"anne@[192.0.2.1]", "|anne@[192.0.2.1]"},
    {"J\xc3\xb6rg <j\xc3\xb6rg@ex\xc3\xa4mple.com>", "J\xc3\xb6rg|j\xc3\xb6rg@ex\xc3\xa4mple.com"},
    {"Anne\r\n <anne@example.com>,\r\n\tbart@example.com", "Anne|anne@example.com\n|bart@example.com"},
    {"a(one)b <anne(two)@(three)example.com>", "a b|anne@example.com"},
    /* nothing that two readers may take for two people */
    {"victim@example.com evil@example.net", ""},
    {"a@b@c.example", ""},
    {"Anne Person anne@example.com", ""},
    {"anne", ""},
    {"@example.com", ""},
    {"anne@", ""},
    {"<>", ""},
    {"", ""},
    {"((((", ""},
    {"\"\"", ""},
    {"See ... anne@example.com", ""},
    {"anne . . x@example.com", ""},
    {"\"J.\" anne@example.com", ""},
    {"anne@example..com", ""},
    {",,;;::", ""},
    {"\\", ""},
    {"[", ""},
};

static void test_lists(void)
{
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *result = parsed(cases[at].text);
        g_assert_cmpstr(result, ==, cases[at].expected);
    }
}

/* Check that a field gives the addresses that the rest of Listrunner takes for such, and nothing else. */
/* Which values every reader reads in the same way. */
static void test_plain(void)
{
    static const char *const plain[] = {
        "", "anne@example.com", "Anne Person <anne@example.com>", "\"Person, Anne\" <anne@example.com>",
        "anne@example.com (Anne (\\(P\\)))", "Anne (P) <anne@example.com> (home)", "John Q. Public <j@example.com>",
        "a@example.com, Bart <b@example.com>,\r\n c@example.com", "a@example.com,, b@example.com,",
        "=?utf-8?q?J=C3=B6?= <j@example.com>", "\"b@example.net\" <a@example.com>", "\"anne p\"@example.com",
        "J\xf6rg <a@example.com>", "j\xc3\xb6@b\xc3\xbc.example", "a@[192.0.2.1]", "A\tB <a@example.com>\n",
        "[A] B <a@example.com>", "foo..bar.@example.com",
    };
    static const char *const odd[] = {
        "ceo@example.com.", "ceo@example.com b", "b ceo@example.com", "<a@example.net> <ceo@example.com>",
        "<a@example.net> ceo@example.com", "a@example.net <ceo@example.com>", "ceo@example.com <a@example.net>",
        "Group: ceo@example.com;", "undisclosed-recipients:;", "a@example.net; ceo@example.com", "ceo",
        "<@a.example:ceo@example.com>", "<ceo@example.com", "ceo@example.com (Anne", "\"Anne <ceo@example.com>",
        "\"ceo@example.com\"@example.net", "=?utf-8?q?ceo=40example.com?=@example.net", "Anne <>",
        "=?utf-8?q?ceo=40example.com?=", "a@example.net\r<ceo@example.com>", "a@example.net\x01",
        "Smith, J <a@example.net>",
        "ceo\xef\xbc\xa0" "example.com", "x> <ceo@example.com>", "ceo@example.com@example.net", "<<ceo@example.com>>",
        "a@example.net, ceo@", "\\<ceo@example.com>", "x) <ceo@example.com>", "ceo@example .com x",
        "ceo@exa\xc3mple.com", "Group: ceo@example.com", "\"A\rB\" <a@example.net>", "a@example.net (\x01)",
    };
    static const char zero[] = "a@example.net\0<ceo@example.com>";
    g_autoptr(GPtrArray) list = address_list_new();
    for (size_t at = 0; at < G_N_ELEMENTS(plain); at++) {
        g_test_message("%s", plain[at]);
        g_assert_true(address_parse(plain[at], strlen(plain[at]), list));
    }
    for (size_t at = 0; at < G_N_ELEMENTS(odd); at++) {
        g_test_message("%s", odd[at]);
        g_assert_false(address_parse(odd[at], strlen(odd[at]), list));
    }
    g_assert_false(address_parse(zero, sizeof zero - 1, list));
}

static void test_valid(void)
{
    for (const char *const *address = addresses_good; *address; address++) {
        g_autofree char *bracket = g_strdup_printf("Jo <%s>, a@b", *address);
        g_autofree char *expected = g_strdup_printf("Jo|%s\n|a@b", *address), *found = parsed(bracket);
        g_assert_cmpstr(found, ==, expected);
        g_autofree char *alone = g_strdup_printf("|%s", *address), *again = parsed(*address);
        g_assert_cmpstr(again, ==, alone);
    }
    for (const char *const *address = addresses_unseen; *address; address++) { /* who writes so is an author, too */
        g_autofree char *alone = g_strdup_printf("|%s", *address), *found = parsed(*address);
        g_assert_cmpstr(found, ==, alone);
    }
    for (const char *const *address = addresses_bad; *address; address++) {
        g_autoptr(GPtrArray) list = address_list_new();
        address_parse(*address, strlen(*address), list);
        for (unsigned at = 0; at < list->len; at++)
            g_assert_true(mailbox_valid(((Address *)list->pdata[at])->mailbox));
    }
}

static void test_compare(void)
{
    g_assert_true(address_same("Anne@Example.COM", "anne@example.com"));
    g_assert_false(address_same("anne@example.com", "anna@example.com"));
    g_assert_true(address_same("\xc3\x96@example.com", "\xc3\xb6@example.com"));
    g_autofree char *key = address_key("Anne@Example.COM");
    g_assert_cmpstr(key, ==, "anne@example.com");
    g_assert_true(address_same("\"foo..bar\"@example.com", "foo..Bar@example.com"));
    g_autofree char *local = NULL, *domain = NULL;
    g_assert_true(address_split("\"a@b\"@example.com", &local, &domain));
    g_assert_cmpstr(local, ==, "\"a@b\"");
    g_assert_cmpstr(domain, ==, "example.com");
    g_assert_false(address_split("anne@", NULL, NULL));
}

static void parse(const char *text, size_t length, void *data)
{
    (void)data;
    g_autoptr(GPtrArray) list = address_list_new();
    address_parse(text, length, list);
}

/* Whatever a sender repeats in a field, reading it costs no more than its length. */
static void test_hostile(void)
{
    static const Doubling inputs[] = {
        {.unit = "x", .next = "@:"},
        {.unit = "x:"},
        {.unit = "g:a@b;"},
        {.unit = ","},
        {.unit = "a@b,"},
        {.unit = "x"},
        {.unit = "x "},
        {.unit = "@"},
        {.unit = "."},
        {.unit = "("},
        {.unit = "(a)"},
        {.before = "<", .unit = "(a)"},
        {.unit = "\""},
        {.unit = "\"a\" "},
        {.before = "\"", .unit = "\\\""},
        {.unit = "<"},
        {.unit = "<a@b>"},
        {.unit = "x", .next = "<"},
        {.unit = ">"},
        {.before = "<", .unit = "@a,", .after = ":a@b>"},
        {.before = "<", .unit = "@a:", .after = "a@b>"},
        {.before = "<", .unit = "x", .next = "@:"},
        {.unit = "["},
        {.unit = "a@[1]"},
        {.before = "a", .unit = "\r\n ", .after = "@b"},
        {.unit = "\xc3\xb6", .after = "@b"},
        {.before = "\"@\"", .unit = ":"},
    };
    doubling_check_all(inputs, G_N_ELEMENTS(inputs), parse, NULL);
}

static void check_mail(GBytes *mail, const char *name, void *data)
{
    g_autoptr(Message) message = message_new(mail);
    size_t index = 0;
    const Field *field = message_find(message, "From", &index);
    if (!field)
        return;
    unsigned *counts = data;
    counts[0]++;
    g_autoptr(GPtrArray) list = address_list_new();
    bool plain = address_parse(field->text + field->value_offset, field->length - field->value_offset, list);
    if (list->len > 0)
        counts[1]++;
    if (plain)
        counts[2]++;
    else
        g_test_message("not plain: %.*s", (int)field->length, field->text);
    for (unsigned at = 0; at < list->len; at++)
        g_assert_true(mailbox_valid(((Address *)list->pdata[at])->mailbox));
}

static void test_corpus(void)
{
    unsigned counts[3] = {0};
    corpus_each("lists", check_mail, counts);
    g_test_message("%u of %u From fields give an address, %u are plain", counts[1], counts[0], counts[2]);
    g_assert_cmpuint(counts[0], >, 600);
    g_assert_cmpuint(counts[1], >=, counts[0] - counts[0] / 100);
    g_assert_cmpuint(counts[2], >=, counts[0] - counts[0] / 100);
}

SUITE("address")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/address/lists", test_lists);
    g_test_add_func("/address/plain", test_plain);
    g_test_add_func("/address/valid", test_valid);
    g_test_add_func("/address/compare", test_compare);
    g_test_add_func("/address/hostile", test_hostile);
    g_test_add_func("/address/corpus", test_corpus);
    return g_test_run();
}
