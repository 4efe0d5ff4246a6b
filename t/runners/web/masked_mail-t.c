/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Mails as strangers may save them. */
#include "runners/web/mail_html.h"
#include "t/suite.h"

#include <string.h>

static void check(const char *mail, const char *wanted)
{
    g_autoptr(GBytes) octets = g_bytes_new_static(mail, strlen(mail));
    g_autoptr(Readable) readable = readable_new(octets, READABLE_TEXT);
    g_autoptr(GString) masked = g_string_new(NULL);
    mail_html_masked_mail(readable, masked);
    g_assert_cmpstr(masked->str, ==, wanted);
}

#define TEXT "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n"

static void test_plain(void)
{
    check("From: Anne Ann <anne@example.org>\nTo: cats@lists.example.com\nCc: zoe@example.net\n"
          "Date: Fri, 20 Nov 2026 13:20:00 -0330\nSubject: Ask bart@example.org\nMessage-ID: <a@b.example>\n"
          "In-Reply-To: <c@b.example>\nReferences: <d@b.example> <c@b.example>\n\nWrite to bart@example.org\n\n"
          "On Monday, Bart wrote:\n> cold\n> > warm\n\n-- \nAnne\n",
          "From: Anne Ann <anne@masked.invalid>\nDate: Fri, 20 Nov 2026 13:20:00 -0330\nSubject: "
          "=?utf-8?b?QXNrIGJhcnRA4oCm?=\n"
          "Message-ID: <a@b.example>\nIn-Reply-To: <c@b.example>\nReferences: <d@b.example>\n <c@b.example>\n" TEXT
          "Write to bart@…\n\nOn Monday, Bart wrote:\n\n> cold\n\n>> warm\n\n-- \nAnne\n");
}

/* An author whose name is an address. */
static void test_name(void)
{
    check("From: \"bart@example.org\" <anne@example.org>\nSubject: x\n\n",
          "From: =?utf-8?b?YmFydEDigKY=?= <anne@masked.invalid>\nSubject: x\n" TEXT);
}

static void test_long(void)
{
    GString *mail = g_string_new("Subject: ");
    for (int i = 0; i < 40; i++)
        g_string_append(mail, "word ");
    g_string_append(mail, "end\n\n");
    g_autoptr(GBytes) octets = g_string_free_to_bytes(mail);
    g_autoptr(Readable) readable = readable_new(octets, READABLE_TEXT);
    g_autoptr(GString) masked = g_string_new(NULL);
    mail_html_masked_mail(readable, masked);
    g_assert_null(strchr(masked->str, '\r')); /* a field that is folded has LF line ends, too */
    g_assert_nonnull(strstr(masked->str, " word\n word "));
}

static void test_hostile(void)
{
    /* No From at all; a local part that is quoted; ids that would end their line; nothing below the head. */
    check("Subject: x\n\n", "From: <somebody@masked.invalid>\nSubject: x\n" TEXT);
    check("From: \"a b\"@example.org\nSubject: =?utf-8?q?a=0ABcc:_x?=\nMessage-ID: <a\xc3\xa4@b>\n\n",
          "From: <somebody@masked.invalid>\nSubject: a Bcc: x\n" TEXT);
}

SUITE("web/masked_mail")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/masked-mail/plain", test_plain);
    g_test_add_func("/masked-mail/name", test_name);
    g_test_add_func("/masked-mail/long", test_long);
    g_test_add_func("/masked-mail/hostile", test_hostile);
    return g_test_run();
}
