/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/smtp_body.h"

#include <string.h>

#include "base/auto.h"
#include "t/suite.h"

static char *drained(SmtpBody *body, bool chunk, size_t limit)
{
    struct evbuffer *out = evbuffer_new();
    SmtpBodyCursor cursor = {.chunk = chunk};
    while (!cursor.ended)
        smtp_body_write(body, &cursor, out, limit);
    size_t length = evbuffer_get_length(out);
    char *text = g_malloc(length + 1);
    evbuffer_remove(out, text, length);
    text[length] = '\0';
    evbuffer_free(out);
    return text;
}

static char *written(const char *message, size_t limit)
{
    g_autoptr(GBytes) octets = g_bytes_new(message, strlen(message));
    g_autoptr(SmtpBody) body = smtp_body_new(octets);
    return drained(body, false, limit);
}

static const struct {
    const char *message;
    const char *wire;
} cases[] = {
    {"", ".\r\n"},
    {"a\r\n", "a\r\n.\r\n"},
    {"a", "a\r\n.\r\n"},
    {"a\r", "a\r\n.\r\n"},
    {"a\n", "a\r\n.\r\n"},
    {".\r\n", "..\r\n.\r\n"},
    {"a\r\n.b\r\n", "a\r\n..b\r\n.\r\n"},
    {"a\r\n..\r\n", "a\r\n...\r\n.\r\n"},
    {"a.b\r\nc.\r\n", "a.b\r\nc.\r\n.\r\n"},
    {"a\nb\r\n", "a\r\nb\r\n.\r\n"},
    {"\n.\n", "\r\n..\r\n.\r\n"},
    {"a\n.\r\nMAIL FROM:<x>\r\n", "a\r\n..\r\nMAIL FROM:<x>\r\n.\r\n"},
    {"a\r.\rb\r\n", "a\r..\rb\r\n.\r\n"},
    {"a\r\n\r\n.", "a\r\n\r\n..\r\n.\r\n"},
    {"a\r\r\n", "a\r\r\n.\r\n"},
};

static void rewrites(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        for (size_t limit = 1; limit < 40; limit++) {
            g_autofree char *text = written(cases[i].message, limit);
            g_assert_cmpstr(text, ==, cases[i].wire);
        }
}

/* Do what a server does: end at the lone dot, take one dot from each line. */
static void survives(void)
{
    static const char alphabet[] = ".\r\na";
    for (unsigned number = 0; number < 4 * 4 * 4 * 4 * 4 * 4 * 4; number++) {
        char message[8] = "";
        for (unsigned at = 0, rest = number; at < 7; at++, rest /= 4)
            message[at] = alphabet[rest % 4];
        g_autofree char *text = written(message, 3);
        size_t length = strlen(text);
        g_assert_true(g_str_has_suffix(text, ".\r\n"));
        for (size_t at = 0; at < length; at++) {
            bool starts = at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r';
            bool lone = text[at] == '.' && starts && (text[at + 1] == '\r' || text[at + 1] == '\n');
            g_assert_true(!lone || at == length - 3);
            g_assert_true(text[at] != '\n' || (at > 0 && text[at - 1] == '\r'));
        }
    }
}

/* A message out of which a slice was cut, and that as what fills the hole: the same on the wire as the message. */
static void assert_same_as_whole(const char *message, size_t from, size_t to)
{
    size_t length = strlen(message);
    g_autofree char *rest = g_strdup_printf("%.*s%s", (int)from, message, message + to);
    g_autoptr(GBytes) octets = g_bytes_new(rest, strlen(rest)), all = g_bytes_new(message, length);
    const size_t cuts[] = {from, from};
    g_autoptr(SmtpBody) pattern = smtp_body_new_cut(octets, cuts, 2), whole = smtp_body_new(all);
    const SmtpFill fills[] = {{message + from, to - from}, {"", 0}};
    g_autoptr(SmtpBody) copy = smtp_body_new_copy(pattern, fills);
    for (int chunk = 0; chunk < 2; chunk++) {
        g_autofree char *is = drained(copy, chunk, 2), *wanted = drained(whole, chunk, 100);
        g_assert_cmpstr(is, ==, wanted);
    }
    g_assert_cmpuint(smtp_body_wire_size(copy), ==, smtp_body_wire_size(whole));
}

static void copies(void)
{
    static const char alphabet[] = ".\r\na";
    for (unsigned number = 0; number < 4 * 4 * 4 * 4 * 4; number++) {
        char message[6] = "";
        for (unsigned at = 0, rest = number; at < 5; at++, rest /= 4)
            message[at] = alphabet[rest % 4];
        for (size_t from = 0; from <= 5; from++)
            for (size_t to = from; to <= 5; to++)
                assert_same_as_whole(message, from, to);
    }
    g_autofree char *large = g_strnfill(2000, 'x');
    assert_same_as_whole(large, 0, 1);
    assert_same_as_whole(large, 1000, 1200);
}

/* A copy says whether it has bytes over 127, wherever they stand. */
static void copies_8bit(void)
{
    const size_t cut = 1;
    g_autoptr(GBytes) plain = g_bytes_new_static("ab", 2), eight = g_bytes_new_static("a\xe4", 2);
    g_autoptr(SmtpBody) pattern = smtp_body_new_cut(plain, &cut, 1), other = smtp_body_new_cut(eight, &cut, 1);
    g_autoptr(SmtpBody) first = smtp_body_new_copy(pattern, &(SmtpFill){"x", 1});
    g_autoptr(SmtpBody) second = smtp_body_new_copy(pattern, &(SmtpFill){"\xe4", 1});
    g_autoptr(SmtpBody) third = smtp_body_new_copy(other, &(SmtpFill){"x", 1});
    g_assert_false(smtp_body_8bit(first));
    g_assert_true(smtp_body_8bit(second));
    g_assert_true(smtp_body_8bit(third));
}

static void counts(void)
{
    g_autoptr(GBytes) plain = g_bytes_new_static("abcdefghijk\r\n", 13);
    g_autoptr(SmtpBody) seven = smtp_body_new(plain);
    g_assert_false(smtp_body_8bit(seven));
    for (size_t at = 0; at < 20; at++) {
        char text[20];
        memset(text, 'a', sizeof(text));
        text[at] = '\xe4';
        g_autoptr(GBytes) octets = g_bytes_new(text, sizeof(text));
        g_autoptr(SmtpBody) eight = smtp_body_new(octets);
        g_assert_true(smtp_body_8bit(eight));
    }
}

/* The bytes stay alive as long as a connection still sends them. */
static void outlives(void)
{
    struct evbuffer *out = evbuffer_new();
    GBytes *octets = g_bytes_new_take(g_strdup("abc\r\n"), 5);
    SmtpBody *body = smtp_body_new(octets);
    g_bytes_unref(octets);
    SmtpBodyCursor cursor = {0};
    smtp_body_write(body, &cursor, out, 1);
    g_assert_true(cursor.ended);
    smtp_body_unref(body);
    char text[8];
    g_assert_cmpint(evbuffer_remove(out, text, sizeof(text)), ==, 8);
    g_assert_cmpmem(text, 8, "abc\r\n.\r\n", 8);
    evbuffer_free(out);
}

SUITE("smtp_body")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/smtp_body/rewrites", rewrites);
    g_test_add_func("/smtp_body/survives", survives);
    g_test_add_func("/smtp_body/copies", copies);
    g_test_add_func("/smtp_body/copies, 8 bit", copies_8bit);
    g_test_add_func("/smtp_body/counts", counts);
    g_test_add_func("/smtp_body/outlives", outlives);
    return g_test_run();
}
