/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/address.h"

#include <string.h>

#include "mail/message.h"
#include "t/mail/corpus.h"

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
    {"anne@example.com (Anne \\(P\\))", "Anne (P)|anne@example.com"},
    {"A Group: anne@example.com, Bart <bart@example.com>;, c@example.com",
     "|anne@example.com\nBart|bart@example.com\n|c@example.com"},
    {"undisclosed-recipients:;", ""},
    {"<@a.example,@b.example:anne@example.com>", "|anne@example.com"},
    {"\"anne person\"@example.com", "|\"anne person\"@example.com"},
    {"\"anne\"@example.com", "|anne@example.com"},
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
    {"anne..x@example.com", ""},
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

static void test_valid(void)
{
    static const char *const good[] = {"a@b", "a.b+c=d@example.com", "\"a b\"@example.com", "\"a@b\"@example.com",
                                       "\"\"@example.com", "\"a\\\"> b\"@example.com", "a@[192.0.2.1]",
                                       "a@[IPv6:2001:db8::1]"};
    static const char *const bad[] = {"", "a", "@", "a@", "@b", "a b@c", ".a@b", "a.@b", "a@b.", "a@-b", "a@b c",
                                      "a\r\n@b", "a@b@c", "\"a@b", "a@[1", "a@b,c@d", "a@b>", "a@[1[",
                                      "a@[1>2]", "a@[1,2]", "a@[]", "\"a\"> NOTIFY=NEVER \"b\"@c", "\"a\"b\"c\"@d",
                                      "\"@b", "\"a\\\"@b"};
    for (size_t at = 0; at < G_N_ELEMENTS(good); at++)
        g_assert_true(address_valid(good[at]));
    for (size_t at = 0; at < G_N_ELEMENTS(bad); at++)
        if (address_valid(bad[at]))
            g_error("%s taken for valid", bad[at]);
}

static void test_compare(void)
{
    g_assert_true(address_same("Anne@Example.COM", "anne@example.com"));
    g_assert_false(address_same("anne@example.com", "anna@example.com"));
    g_assert_true(address_same("\xc3\x96@example.com", "\xc3\xb6@example.com"));
    g_autofree char *normal = address_normalise("Anne@Example.COM"), *key = address_key("Anne@Example.COM");
    g_assert_cmpstr(normal, ==, "Anne@example.com");
    g_assert_cmpstr(key, ==, "anne@example.com");
    g_autofree char *local = NULL, *domain = NULL;
    g_assert_true(address_split("\"a@b\"@example.com", &local, &domain));
    g_assert_cmpstr(local, ==, "\"a@b\"");
    g_assert_cmpstr(domain, ==, "example.com");
    g_assert_false(address_split("anne@", NULL, NULL));
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
    address_parse(field->text + field->value_offset, field->length - field->value_offset, list);
    if (list->len > 0)
        counts[1]++;
    for (unsigned at = 0; at < list->len; at++)
        g_assert_true(address_valid(((Address *)list->pdata[at])->mailbox));
}

static void test_corpus(void)
{
    unsigned counts[2] = {0};
    corpus_each("lists", check_mail, counts);
    g_test_message("%u of %u From fields give an address", counts[1], counts[0]);
    g_assert_cmpuint(counts[0], >, 600);
    g_assert_cmpuint(counts[1], >=, counts[0] - counts[0] / 100);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/address/lists", test_lists);
    g_test_add_func("/address/valid", test_valid);
    g_test_add_func("/address/compare", test_compare);
    g_test_add_func("/address/corpus", test_corpus);
    return g_test_run();
}
