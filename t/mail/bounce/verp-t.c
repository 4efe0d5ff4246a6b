/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/bounce/verp.h"

#include <string.h>

#include "base/clock.h"
#include "base/mailbox.h"
#include "t/suite.h"

#define NOW (INT64_C(1790000000) * CLOCK_SECOND)
#define WEEK (7 * 86400 * CLOCK_SECOND)

static const VerpList test_list = {"test.example.com", "test-bounces", "example.com", '+'};

static VerpKeys *keys_of(const char *first, ...)
{
    g_autoptr(GPtrArray) secrets = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    va_list more;
    va_start(more, first);
    for (const char *text = first; text; text = va_arg(more, const char *))
        g_ptr_array_add(secrets, g_bytes_new(text, strlen(text)));
    va_end(more);
    return verp_keys_new(secrets);
}

/* Return what list_address_find() gives as detail. */
static char *detail_of(const VerpList *list, const char *address)
{
    g_autofree char *head = g_strdup_printf("%s%c", list->local, list->delimiter);
    g_autofree char *tail = g_strconcat("@", list->host, NULL);
    g_assert_true(g_str_has_prefix(address, head));
    g_assert_true(g_str_has_suffix(address, tail));
    const char *at = strrchr(address, '@');
    g_assert_cmpuint((size_t)(at - address), <=, VERP_LOCAL_MAX);
    return g_strndup(address + strlen(head), (size_t)(at - address) - strlen(head));
}

static char *make(VerpKeys *keys, VerpPurpose purpose, const VerpList *list, const char *recipient, int64_t time)
{
    g_autoptr(GString) address = g_string_new(NULL);
    g_assert_true(verp_make(keys, purpose, list, recipient, time, address));
    return detail_of(list, address->str);
}

static VerpResult parse(VerpKeys *keys, VerpPurpose purpose, const VerpList *list, const char *detail, int64_t now)
{
    g_auto(VerpRead) read = {0};
    return verp_parse(keys, purpose, list, detail, now, &read);
}

static const struct {
    const char *recipient;
    bool hashed;
} recipients[] = {
    {"anne@example.org", false},
    {"Anne.Person@Example.ORG", false},
    {"a+b=c-d_e@sub.example.org", false},
    {"a@b", false},
    {"twenty-five.octets.local@example.org", false},
    {"somebody.with.a.very.long.name.indeed@department.of.a.university.example.org", true},
    {"\"quoted local\"@example.org", true},
    {"user%gate@example.org", true},
    {"a/b@example.org", true},
    {"=anne@example.org", true},
    {"a..b@example.org", true},
    {".a@example.org", true},
    {"a.@example.org", true},
    {"a@example.org.", true},
    {"a@[192.0.2.1]", true},
    {"a@x=y.org", true},
    {"\303\266rjan@example.org", true},
};

static void round_trip(const VerpList *list, VerpPurpose purpose)
{
    g_autoptr(VerpKeys) keys = keys_of("one", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(recipients); i++) {
        const char *recipient = recipients[i].recipient;
        g_autofree char *detail = make(keys, purpose, list, recipient, NOW);
        g_autofree char *upper = g_ascii_strup(detail, -1), *lower = g_ascii_strdown(detail, -1);
        const char *const ways[] = {detail, upper, lower};
        for (size_t way = 0; way < G_N_ELEMENTS(ways); way++) {
            g_auto(VerpRead) read = {0};
            VerpResult result = verp_parse(keys, purpose, list, ways[way], NOW + 10, &read);
            g_test_message("%s: %s", recipient, ways[way]);
            if (recipients[i].hashed) {
                g_assert_cmpint(result, ==, VERP_HASHED);
                g_assert_cmpuint(read.hash, ==, verp_hash(recipient));
                g_assert_cmpint(verp_confirm(keys, purpose, list->list_id, "other@example.org", NOW, &read), ==,
                                VERP_FORGED);
                g_assert_null(read.recipient);
                result = verp_confirm(keys, purpose, list->list_id, recipient, NOW, &read);
            }
            g_assert_cmpint(result, ==, VERP_VALID);
            g_assert_cmpint(g_ascii_strcasecmp(read.recipient, recipient), ==, 0);
        }
    }
}

static void test_round_trip(void)
{
    for (const char *delimiter = "+-=#%*/"; *delimiter; delimiter++) {
        VerpList list = test_list;
        list.delimiter = *delimiter;
        round_trip(&list, VERP_COPY);
        round_trip(&list, VERP_PROBE);
    }
    VerpList leave = test_list;
    leave.local = "test-leave";
    round_trip(&leave, VERP_UNSUBSCRIBE);
}

/* Any one character changed, left out or added: nothing but a forgery or no tag at all. */
static void test_forged(void)
{
    g_autoptr(VerpKeys) keys = keys_of("one", NULL);
    g_autofree char *detail = make(keys, VERP_COPY, &test_list, "anne@example.org", NOW);
    for (size_t i = 0; i < strlen(detail); i++)
        for (const char *other = "ab27+=.-"; *other; other++) {
            g_autofree char *changed = g_strdup(detail);
            changed[i] = *other;
            if (strcmp(changed, detail) == 0)
                continue;
            VerpResult result = parse(keys, VERP_COPY, &test_list, changed, NOW);
            g_test_message("%s", changed);
            g_assert_true(result == VERP_FORGED || result == VERP_ABSENT);
            g_autofree char *shorter = g_strdup(detail);
            memmove(shorter + i, shorter + i + 1, strlen(shorter + i));
            g_assert_cmpint(parse(keys, VERP_COPY, &test_list, shorter, NOW), !=, VERP_VALID);
        }
}

static void test_separate(void)
{
    g_autoptr(VerpKeys) keys = keys_of("one", NULL), others = keys_of("two", NULL);
    g_autofree char *detail = make(keys, VERP_COPY, &test_list, "anne@example.org", NOW);
    VerpList other_list = test_list;
    other_list.list_id = "other.example.com";
    g_assert_cmpint(parse(keys, VERP_COPY, &test_list, detail, NOW), ==, VERP_VALID);
    g_assert_cmpint(parse(keys, VERP_PROBE, &test_list, detail, NOW), ==, VERP_FORGED);
    g_assert_cmpint(parse(keys, VERP_UNSUBSCRIBE, &test_list, detail, NOW), ==, VERP_FORGED);
    g_assert_cmpint(parse(keys, VERP_COPY, &other_list, detail, NOW), ==, VERP_FORGED);
    g_assert_cmpint(parse(others, VERP_COPY, &test_list, detail, NOW), ==, VERP_FORGED);
}

static void test_absent(void)
{
    g_autoptr(VerpKeys) keys = keys_of("one", NULL);
    const char *const details[] = {NULL, "", "anne=example.org", "anne", "+", "a+b", "anne=example.org+",
                                   "anne=example.org+short", "anne=example.org+cxk7u2m4qzp!"};
    for (size_t i = 0; i < G_N_ELEMENTS(details); i++)
        g_assert_cmpint(parse(keys, VERP_COPY, &test_list, details[i], NOW), ==, VERP_ABSENT);
    const char *const forged[] = {"anne=example.org+cxk7u2m4qzpa", "anne@x=example.org+cxk7u2m4qzpa",
                                  "anne=+cxk7u2m4qzpa", "=", "=hw2k5q3tcxk7u2m4qzp", "=hw2k5q3tcxk7u2m4qzpa1"};
    for (size_t i = 0; i < G_N_ELEMENTS(forged); i++) {
        g_test_message("%s", forged[i]);
        g_assert_cmpint(parse(keys, VERP_COPY, &test_list, forged[i], NOW), ==, VERP_FORGED);
    }
}

static void test_time(void)
{
    g_autoptr(VerpKeys) keys = keys_of("one", NULL);
    g_autofree char *now = make(keys, VERP_COPY, &test_list, "anne@example.org", NOW);
    g_autofree char *soon = make(keys, VERP_COPY, &test_list, "anne@example.org", NOW + 86400 * CLOCK_SECOND / 7);
    g_assert_cmpstr(now, ==, soon); /* the sender stays the same while it is tried again */
    g_assert_cmpint(parse(keys, VERP_COPY, &test_list, now, NOW + 5 * WEEK), ==, VERP_VALID);
    g_assert_cmpint(parse(keys, VERP_COPY, &test_list, now, NOW + 6 * WEEK), ==, VERP_STALE);
    g_assert_cmpint(parse(keys, VERP_COPY, &test_list, now, NOW + 100 * WEEK), ==, VERP_STALE);
    g_assert_cmpint(parse(keys, VERP_COPY, &test_list, now, NOW - WEEK), ==, VERP_VALID);
    g_assert_cmpint(parse(keys, VERP_COPY, &test_list, now, NOW - 2 * WEEK), ==, VERP_STALE);
    VerpList leave = {"test.example.com", "test-leave", "example.com", '+'};
    g_autofree char *token = make(keys, VERP_UNSUBSCRIBE, &leave, "anne@example.org", NOW);
    g_assert_cmpint(parse(keys, VERP_UNSUBSCRIBE, &leave, token, NOW + 156 * WEEK), ==, VERP_VALID);
    g_assert_cmpint(parse(keys, VERP_UNSUBSCRIBE, &leave, token, NOW + 160 * WEEK), ==, VERP_STALE);
}

static void test_rotation(void)
{
    g_autoptr(VerpKeys) before = keys_of("one", NULL), after = keys_of("two", "one", NULL);
    g_autofree char *old = make(before, VERP_COPY, &test_list, "anne@example.org", NOW);
    g_autofree char *fresh = make(after, VERP_COPY, &test_list, "anne@example.org", NOW);
    g_assert_cmpstr(old, !=, fresh);
    g_assert_cmpint(parse(after, VERP_COPY, &test_list, old, NOW), ==, VERP_VALID);
    g_assert_cmpint(parse(after, VERP_COPY, &test_list, fresh, NOW), ==, VERP_VALID);
    g_assert_cmpint(parse(before, VERP_COPY, &test_list, fresh, NOW), ==, VERP_FORGED);
    g_autoptr(GPtrArray) none = g_ptr_array_new();
    g_assert_null(verp_keys_new(none));
    g_assert_null(verp_keys_new(NULL));
}

static void test_room(void)
{
    g_autoptr(VerpKeys) keys = keys_of("one", NULL);
    for (size_t length = 8; length <= 60; length++) {
        g_autofree char *local = g_strnfill(length, 'l');
        VerpList list = {"l.example.com", local, "example.com", '+'};
        g_autoptr(GString) address = g_string_new("MAIL FROM:<");
        bool made = verp_make(keys, VERP_COPY, &list, "somebody@example.org", NOW, address);
        g_assert_cmpint(made, ==, length <= VERP_LIST_MAX);
        if (!made)
            g_assert_cmpstr(address->str, ==, "MAIL FROM:<");
        else
            g_free(detail_of(&list, address->str + strlen("MAIL FROM:<")));
    }
}

static void test_token(void)
{
    g_autoptr(VerpKeys) keys = keys_of("one", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(recipients); i++) {
        const char *recipient = recipients[i].recipient;
        g_autofree char *token = verp_token(keys, VERP_UNSUBSCRIBE, "test.example.com", recipient, NOW);
        g_assert_cmpuint(strspn(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"), ==,
                         strlen(token));
        g_auto(VerpRead) read = {0}, probe = {0}, changed = {0};
        VerpResult result = verp_token_parse(keys, VERP_UNSUBSCRIBE, "test.example.com", token, NOW, &read);
        g_test_message("%s: %s", recipient, token);
        if (!mailbox_valid(recipient)) {
            g_assert_cmpint(result, ==, VERP_FORGED);
            continue;
        }
        g_assert_cmpint(result, ==, VERP_VALID);
        g_assert_cmpstr(read.recipient, ==, recipient);
        g_autofree char *named = verp_token_list(token);
        g_assert_cmpstr(named, ==, "test.example.com");
        g_auto(VerpRead) other = {0};
        g_assert_cmpint(verp_token_parse(keys, VERP_UNSUBSCRIBE, "other.example.com", token, NOW, &other), ==,
                        VERP_FORGED);
        g_assert_cmpint(verp_token_parse(keys, VERP_PROBE, "test.example.com", token, NOW, &probe), ==, VERP_FORGED);
        token[strlen(token) - 1] = token[strlen(token) - 1] == 'a' ? 'b' : 'a';
        g_assert_cmpint(verp_token_parse(keys, VERP_UNSUBSCRIBE, "test.example.com", token, NOW, &changed), ==,
                        VERP_FORGED);
    }
    const char *const bad[] = {NULL, "", ".", "x", ".cxk7u2m4qzpa", "YQ.", "YQ.cxk7u2m4qzp1"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_auto(VerpRead) read = {0};
        g_assert_cmpint(verp_token_parse(keys, VERP_UNSUBSCRIBE, "l", bad[i], NOW, &read), ==, VERP_ABSENT);
    }
}

SUITE("verp")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/verp/round-trip", test_round_trip);
    g_test_add_func("/verp/forged", test_forged);
    g_test_add_func("/verp/separate", test_separate);
    g_test_add_func("/verp/absent", test_absent);
    g_test_add_func("/verp/time", test_time);
    g_test_add_func("/verp/rotation", test_rotation);
    g_test_add_func("/verp/room", test_room);
    g_test_add_func("/verp/token", test_token);
    return g_test_run();
}
