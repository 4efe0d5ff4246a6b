/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/notice.h"

#include <string.h>

#include "mail/header.h"
#include "mail/message.h"
#include "t/suite.h"

static GBytes *joined(GPtrArray *pieces)
{
    GString *text = g_string_new(NULL);
    for (unsigned at = 0; at < pieces->len; at++)
        g_string_append_len(text, g_bytes_get_data(pieces->pdata[at], NULL),
                            (gssize)g_bytes_get_size(pieces->pdata[at]));
    return g_string_free_to_bytes(text);
}

static void assert_wire(GBytes *mail)
{
    gsize length;
    const char *text = g_bytes_get_data(mail, &length);
    for (gsize at = 0; at < length; at++)
        if (text[at] == '\n')
            g_assert_true(at > 0 && text[at - 1] == '\r');
}

static void test_alone(void)
{
    Notice notice = {.from = "test-owner@example.com", .to = "anne@example.com", .id = "1@example.com", .date = 0,
                     .text = "Subject: Your post\n\nis held.\n", .replied = true, .in_reply_to = "x@example.com"};
    g_autoptr(GPtrArray) pieces = notice_compose(&notice);
    g_autoptr(GBytes) mail = joined(pieces);
    assert_wire(mail);
    g_autoptr(Message) message = message_new(mail);
    g_autofree char *subject = message_value(message, "Subject"), *date = message_value(message, "Date");
    g_autofree char *kind = message_value(message, "Auto-Submitted"), *from = message_value(message, "From");
    g_assert_cmpstr(subject, ==, "Your post");
    g_assert_cmpstr(date, ==, "Thu, 1 Jan 1970 00:00:00 +0000");
    g_assert_cmpstr(kind, ==, "auto-replied");
    g_assert_cmpstr(from, ==, "test-owner@example.com");
    g_autoptr(GBytes) body = message_body(message);
    g_assert_cmpmem(g_bytes_get_data(body, NULL), g_bytes_get_size(body), "is held.\r\n", 10);
}

/* A Message-ID that cannot stand in our header is left out. */
static void test_in_reply_to(void)
{
    g_autofree char *longest = g_strnfill(900, 'm'), *too_long = g_strnfill(901, 'm');
    const struct {
        const char *id;
        bool named;
    } cases[] = {{"x@example.com", true}, {longest, true}, {too_long, false}, {"a b@x", false}, {"\xc3\xb6@x", false},
                 {"a>b@x", false}, {"a\r\nBcc: x", false}};
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        Notice notice = {.from = "a@example.com", .to = "b@example.com", .id = "1@example.com", .replied = true,
                         .text = "Subject: x\n\nx", .in_reply_to = cases[at].id};
        g_autoptr(GPtrArray) pieces = notice_compose(&notice);
        g_autoptr(GBytes) mail = joined(pieces);
        g_autoptr(Message) message = message_new(mail);
        g_assert_cmpint(message_has(message, "In-Reply-To"), ==, cases[at].named);
        g_assert_cmpint(message_has(message, "References"), ==, cases[at].named);
        g_assert_false(message_has(message, "Bcc"));
    }
}

static void test_encoded(void)
{
    Notice notice = {.from = "a@example.com", .from_name = "J\xc3\xb6rg", .to = "b@example.com", .id = "1@example.com",
                     .text = "Subject: \xc3\x96l\r\n\r\n\xc3\x96l\n"};
    g_autoptr(GPtrArray) pieces = notice_compose(&notice);
    g_autoptr(GBytes) mail = joined(pieces);
    assert_wire(mail);
    g_autoptr(Message) message = message_new(mail);
    g_autofree char *raw = message_value(message, "Subject");
    g_autofree char *encoding = message_value(message, "Content-Transfer-Encoding");
    g_autofree char *subject = header_decode(raw);
    g_assert_cmpstr(subject, ==, "\xc3\x96l");
    g_assert_cmpstr(encoding, ==, "base64");
    g_autoptr(GBytes) body = message_body(message);
    g_autofree char *text = g_strndup(g_bytes_get_data(body, NULL), g_bytes_get_size(body));
    gsize length;
    g_autofree guchar *plain = g_base64_decode(text, &length);
    g_assert_cmpmem(plain, length, "\xc3\x96l\r\n", 5);
}

static void test_attached(void)
{
    static const char about[] = "Subject: x\r\n\r\nsecret \xff body\r\n";
    g_autoptr(GBytes) octets = g_bytes_new_static(about, sizeof about - 1);
    Notice notice = {.from = "a@example.com", .to = "b@example.com", .id = "1@example.com",
                     .text = "Subject: y\n\ntext\n", .attach = NOTICE_MESSAGE, .about = octets};
    g_autoptr(GPtrArray) pieces = notice_compose(&notice);
    g_autoptr(GBytes) mail = joined(pieces);
    assert_wire(mail);
    const char *text = g_bytes_get_data(mail, NULL);
    g_assert_nonnull(memmem(text, g_bytes_get_size(mail), about, sizeof about - 1));
    g_assert_nonnull(memmem(text, g_bytes_get_size(mail), "Encoding: 8bit\r\n", 16));
    notice.attach = NOTICE_HEADER;
    g_autoptr(GPtrArray) less = notice_compose(&notice);
    g_autoptr(GBytes) header = joined(less);
    text = g_bytes_get_data(header, NULL);
    g_assert_nonnull(memmem(text, g_bytes_get_size(header), "Subject: x\r\n\r\n", 14));
    g_assert_null(memmem(text, g_bytes_get_size(header), "secret", 6));
}

static const char *find(GBytes *mail, const char *text)
{
    return memmem(g_bytes_get_data(mail, NULL), g_bytes_get_size(mail), text, strlen(text));
}

static GBytes *composed(const char *about, size_t most)
{
    g_autoptr(GBytes) octets = g_bytes_new_static(about, strlen(about));
    Notice notice = {.from = "a@example.com", .to = "b@example.com", .id = "1@example.com", .about = octets,
                     .text = "Subject: y\n\ntext\n", .attach = NOTICE_MESSAGE, .most = most};
    g_autoptr(GPtrArray) pieces = notice_compose(&notice);
    GBytes *mail = joined(pieces);
    assert_wire(mail);
    return mail;
}

/* A long message: its start, up to the end of a line, and what it is. */
static void test_cut(void)
{
    static const char about[] = "Subject: x\r\n\r\none\r\ntwo\r\nthree\r\n";
    g_autoptr(GBytes) whole = composed(about, strlen(about)), body = composed(about, 22), head = composed(about, 12);
    g_assert_nonnull(find(whole, about));
    g_assert_null(find(whole, "Content-Description"));
    g_assert_nonnull(find(body, "\r\n\r\none\r\n\r\n--"));
    g_assert_null(find(body, "two"));
    g_assert_nonnull(find(body, "Content-Description: the first 19 of 31 octets\r\n"));
    g_assert_nonnull(find(head, "Subject: x\r\n\r\n--"));
    g_assert_null(find(head, "one"));
    g_assert_nonnull(find(head, "Content-Description: the first 12 of 31 octets\r\n"));
    /* One line that is longer than there may be bytes. */
    g_autoptr(GBytes) line = composed("Subject: x\r\n\r\n0123456789012345678901234567890123456789", 40);
    g_assert_nonnull(find(line, "\r\n\r\n01234567890123456789012345\r\n--"));
}

static char *boundary_of(GBytes *mail)
{
    const char *at = find(mail, "boundary=\"");
    g_assert_nonnull(at);
    at += strlen("boundary=\"");
    return g_strndup(at, strcspn(at, "\""));
}

/* A stranger who saw all letters until now, and writes a post that ends the attachment of the next one. */
static void test_boundary(void)
{
    static const char post[] = "Subject: x\r\n\r\none\r\n";
    g_autoptr(GBytes) before = composed(post, 0), again = composed(post, 0);
    g_autofree char *first = boundary_of(before), *second = boundary_of(again);
    g_assert_cmpstr(first, !=, second);
    g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, "1@example.com", -1);
    g_autofree char *hostile = g_strdup_printf("Subject: x\r\n\r\nfriendly\r\n\r\n--=_%.32s--\r\n--%s--\r\n--%s--\r\n"
                                               "hidden\r\n", sum, first, second);
    g_autoptr(GBytes) mail = composed(hostile, 0);
    g_autofree char *boundary = boundary_of(mail), *end = g_strdup_printf("hidden\r\n\r\n--%s--\r\n", boundary);
    g_assert_null(strstr(hostile, boundary));
    g_assert_nonnull(find(mail, end));
    g_assert_cmpuint(strlen(boundary), >=, 32);
}

static void test_id(void)
{
    g_autofree char *one = notice_id("held", "example.com"), *other = notice_id("held", "example.com");
    g_assert_true(g_regex_match_simple("^held\\.[0-9a-f]{32}@example\\.com$", one, 0, 0));
    g_assert_cmpstr(one, !=, other);
}

SUITE("notice")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/notice/alone", test_alone);
    g_test_add_func("/notice/in reply to", test_in_reply_to);
    g_test_add_func("/notice/encoded", test_encoded);
    g_test_add_func("/notice/attached", test_attached);
    g_test_add_func("/notice/cut", test_cut);
    g_test_add_func("/notice/a boundary that nobody knew", test_boundary);
    g_test_add_func("/notice/an id that nobody knew", test_id);
    return g_test_run();
}
