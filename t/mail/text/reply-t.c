/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/reply.h"
#include "t/suite.h"

#include <string.h>

static void assert_subject(const char *raw, const char *expected)
{
    g_autofree char *text = g_strdup_printf("Subject: %s\r\n\r\n", raw);
    g_autoptr(GBytes) octets = g_bytes_new(text, strlen(text));
    g_autoptr(Message) message = message_new(octets);
    g_autofree char *subject = reply_subject(message);
    g_assert_cmpstr(subject, ==, expected);
}

static void test_subject(void)
{
    assert_subject("accept", "accept");
    assert_subject("Re: AW[2]: Sv : accept ", "accept");
    assert_subject("=?utf-8?B?5Zue5aSN77yaYWNjZXB0?=", "accept");
    assert_subject("Result: good", "Result: good");
    assert_subject("Re:", "");
}

static void assert_lines(const char *text, const char *expected)
{
    g_autoptr(GPtrArray) lines = reply_own_lines(text);
    g_ptr_array_add(lines, NULL);
    g_autofree char *joined = g_strjoinv("|", (char **)lines->pdata);
    g_assert_cmpstr(joined, ==, expected);
}

static void test_top_posting(void)
{
    assert_lines("accept\n\nOn Mon, 2 Nov 2026, test-owner@example.com wrote:\n> discard\n> reject\n", "accept");
    assert_lines("accept\n\nAm 2. November 2026 um 12:00 schrieb Olga\n<olga@example.org>:\n\n> discard\n", "accept");
    assert_lines("accept\n\nOn Mon, Nov 2, 2026 at 9:05,\nTest <test-owner@example.com>\nwrote:\n\n> no\n", "accept");
    assert_lines("accept\nOn Tue, 22 Jun 2010 20:52:50 +0530\nAnne <anne8@example.com> wrote:\n> no\n", "accept");
    assert_lines("reject 7\nOn 2/11/2026, Test <test-owner@example.com> wrote:\n> no\n", "reject 7");
    assert_lines("accept\n\n-----Original Message-----\nFrom: x\ndiscard\n", "accept");
    assert_lines("accept\n\n________________________________\nVon: x\ndiscard\n", "accept");
    assert_lines("accept\n-------- Original message --------From: x <x@example.org>\ndiscard\n", "accept");
    assert_lines("accept\n\nOn 2/11/2026, Test <test-owner@example.com> wrote:\n\ndiscard\n", "accept");
    assert_lines("accept\n\n发件人：test-owner@example.com\n发送时间：2026年11月23日\n主题：x\n\ndiscard\n", "accept");
    assert_lines("On 2/11/2026, Test <test-owner@example.com> wrote:\n\n> discard\naccept\n", "accept");
    assert_lines("reject off topic:\nread the rules\n\nVon: test-owner@example.com\nGesendet: Montag\nAn: Olga\n"
                 "Betreff: x\n\ndiscard\n", "reject off topic:|read the rules");
}

static void test_bottom_posting(void)
{
    assert_lines("test-owner@example.com writes:\n> held\n> accept\n\ndiscard\n-- \nOlga\naccept\n", "discard");
    assert_lines("> one\nyes\n> two\nno\n", "yes|no");
}

/* The own lines of a text/plain with format=flowed and these parameters. */
static void assert_flowed(const char *parameters, const char *body, const char *expected)
{
    g_autofree char *mail = g_strdup_printf("Content-Type: text/plain; format=flowed%s\r\n\r\n%s", parameters, body);
    g_autoptr(GBytes) octets = g_bytes_new(mail, strlen(mail));
    GString *text = reply_text(octets);
    assert_lines(text->str, expected);
    g_string_free(text, TRUE);
}

static void test_text(void)
{
    static const char mail[] = "Content-Type: multipart/alternative; boundary=b\r\n\r\n"
                               "--b\r\nContent-Type: text/html\r\n\r\n<div>accept</div>On Monday, 2 Nov, x wrote:"
                               "<BLOCKQUOTE type=cite>discard\r\n<blockquote>y</blockquote></BLOCKQUOTE>\r\n--b--\r\n";
    g_autoptr(GBytes) octets = g_bytes_new(mail, strlen(mail));
    GString *text = reply_text(octets);
    assert_lines(text->str, "accept");
    g_string_free(text, TRUE);
    assert_flowed("", "dis \ncard\n> a \n> b\n-- \nme\n", "dis card");
    assert_flowed("; DelSp=yes", "dis \r\ncard  \r\nall\r\n> a \r\n-- \r\nme\r\n", "discard all");
    g_autoptr(GBytes) none = g_bytes_new_static("Content-Type: image/png\r\n\r\nx", 28);
    g_assert_null(reply_text(none));
}

SUITE("reply")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/reply/subject", test_subject);
    g_test_add_func("/reply/top-posting", test_top_posting);
    g_test_add_func("/reply/bottom-posting", test_bottom_posting);
    g_test_add_func("/reply/text", test_text);
    return g_test_run();
}
