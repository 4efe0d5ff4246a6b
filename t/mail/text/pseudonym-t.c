/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* An address is replaced wherever it stands, and nothing else is touched. */
#include "mail/text/pseudonym.h"
#include "t/suite.h"

#include <stdbool.h>
#include <string.h>

static const Pseudonym names = {"anne@example.org", "nobody-7@pseudonym.invalid"};

static void assert_text(const char *text, size_t count, const char *wanted)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_assert_cmpuint(pseudonym_text(&names, text, strlen(text), out), ==, count);
    g_assert_cmpstr(out->str, ==, wanted);
    g_assert_cmpuint(pseudonym_text(&names, text, strlen(text), NULL), ==, count);
}

static void assert_same(const char *text)
{
    assert_text(text, 0, text);
}

static void test_text(void)
{
    assert_text("anne@example.org", 1, "nobody-7@pseudonym.invalid");
    assert_text("<ANNE@Example.ORG>, to anne@example.org.", 2,
                "<nobody-7@pseudonym.invalid>, to nobody-7@pseudonym.invalid.");
    assert_text("?from=%3Canne%40example.org%3E&x", 1, "?from=%3Cnobody-7%40pseudonym.invalid%3E&x");
    assert_text("mailto:anne&#64;example.org", 1, "mailto:nobody-7&#64;pseudonym.invalid");
    assert_text("cats-bounces+anne=example.org@lists.example.com", 1,
                "cats-bounces+nobody-7=pseudonym.invalid@lists.example.com");
    assert_text("(anne@example.org)anne@example.org", 2, "(nobody-7@pseudonym.invalid)nobody-7@pseudonym.invalid");
    assert_same("joanne@example.org x.anne@example.org anne@example.org.uk anne@example.organic anne@example.org-x");
    assert_same("bart+anne@example.org anne@example.or anne @example.org anne");
    assert_same("");
}

static void assert_mail(const char *mail, size_t count, const char *wanted)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_assert_cmpuint(pseudonym_mail(&names, mail, strlen(mail), out), ==, count);
    g_assert_cmpstr(out->str, ==, wanted);
    g_autoptr(GString) again = g_string_new(NULL);
    g_assert_cmpuint(pseudonym_mail(&names, out->str, out->len, again), ==, 0);
    g_assert_cmpstr(again->str, ==, out->str);
}

static void test_head(void)
{
    assert_mail("From: Anne Smith <anne@example.org>\nTo: Bart <bart@example.org>, Anne\n <anne@example.org>\n"
                "Message-ID: <anne@example.org>\nReferences: <1@x>\n <anne@example.org>\n"
                "Received: from x\n\tfor <anne@example.org>; today\nSubject: ask anne@example.org\n\nHello\n",
                4,
                "From: <nobody-7@pseudonym.invalid>\nTo: Bart <bart@example.org>, Anne\n <nobody-7@pseudonym.invalid>\n"
                "Message-ID: <anne@example.org>\nReferences: <1@x>\n <anne@example.org>\n"
                "Received: from x\n\tfor <nobody-7@pseudonym.invalid>; today\n"
                "Subject: ask nobody-7@pseudonym.invalid\n\nHello\n");
    assert_mail("Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe_an_anne=40exam?=\r\n =?utf-8?q?ple=2Eorg?=\r\n"
                "Cc: =?utf-8?b?YW5uZUBleGFtcGxlLm9yZw==?= <x@example.net>, y@example.net\r\n\r\nHello\r\n",
                2,
                "Subject: =?utf-8?b?R3LDvMOfZSBhbiBub2JvZHktN0Bwc2V1ZG9ueW0uaW52YWxpZA==?=\r\n"
                "Cc: \"nobody-7@pseudonym.invalid\" <x@example.net>, y@example.net\r\n\r\nHello\r\n");
}

static void test_body(void)
{
    assert_mail("Content-Transfer-Encoding: quoted-printable\n\nGr=C3=BC=C3=9Fe, anne=40exam=\nple.org=20\n> x=3Dy\n",
                1,
                "Content-Transfer-Encoding: quoted-printable\n\nGr=C3=BC=C3=9Fe, nobody-7@pseudonym.invalid=20\n> "
                "x=3Dy\n");
    assert_mail(
        "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\nT24gTW9uZGF5IGFubmVAZXhhbXBsZS5vcmcgd3Jv"
        "dGU6Cg==\n",
        1,
        "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n"
        "T24gTW9uZGF5IG5vYm9keS03QHBzZXVkb255bS5pbnZhbGlkIHdyb3RlOgo=\n");
    /* A file that is no text stays, also when the bytes would fit. */
    const char file[] =
        "Content-Type: application/pdf\nContent-Transfer-Encoding: base64\n\nYW5uZUBleGFtcGxlLm9yZw==\n";
    assert_mail(file, 0, file);
    const char nothing[] = "no header at all";
    assert_mail(nothing, 0, nothing);
    assert_mail("", 0, "");
}

static void test_parts(void)
{
    assert_mail("From: anne@example.org\nContent-Type: multipart/mixed; boundary=b\n\nanne@example.org\n--b\n\n"
                "> anne@example.org wrote\n--b\nContent-Type: message/rfc822\n\nFrom: Anne <anne@example.org>\n"
                "Content-Transfer-Encoding: quoted-printable\n\nanne=40example.or=\ng\n--b\n"
                "Content-Type: text/html\nContent-Transfer-Encoding: base64\n\nPGI+YW5uZUBleGFtcGxlLm9yZw==\n--b--\n"
                "anne@example.org\n",
                7,
                "From: <nobody-7@pseudonym.invalid>\nContent-Type: multipart/mixed; boundary=b\n\n"
                "nobody-7@pseudonym.invalid\n--b\n\n> nobody-7@pseudonym.invalid wrote\n--b\n"
                "Content-Type: message/rfc822\n\nFrom: <nobody-7@pseudonym.invalid>\n"
                "Content-Transfer-Encoding: quoted-printable\n\nnobody-7@pseudonym.invalid\n--b\n"
                "Content-Type: text/html\nContent-Transfer-Encoding: base64\n\n"
                "PGI+bm9ib2R5LTdAcHNldWRvbnltLmludmFsaWQ=\n--b--\nnobody-7@pseudonym.invalid\n");
}

/* Any bytes come out as they came in when the address is not among them. */
static void test_octets(void)
{
    g_autoptr(GString) mail = g_string_new("Content-Type: multipart/mixed; boundary=\"=\"\r\n\r\n");
    g_autoptr(GString) out = g_string_new(NULL);
    for (int i = 0; i < 4000; i++)
        g_string_append_c(mail, (char)(i * 7 + i / 256));
    g_string_append(mail, "\r\n--=\r\n\r\n=\r\n--=\r\nContent-Type: message/rfc822\r\n\r\n--=--");
    g_assert_cmpuint(pseudonym_mail(&names, mail->str, mail->len, out), ==, 0);
    g_assert_cmpmem(out->str, out->len, mail->str, mail->len);
    const char text[] = "a\0anne@example.org\0";
    g_assert_cmpuint(pseudonym_text(&names, text, sizeof(text), NULL), ==, 1);
}

/* Each beginning of a mail, which may end in the midst of anything. */
static void test_beginnings(void)
{
    static const char mail[] =
        "Subject: =?utf-8?q?anne=40example.org?= =?utf-8?b?YW5uZUBleGFtcGxlLm9yZw==?=\r\nTo: \"A, b\" "
        "<anne@example.org>\r\n"
        "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n"
        "Content-Transfer-Encoding: quoted-printable\r\n\r\nanne=40exam=\r\nple.org\r\n--b\r\n"
        "Content-Transfer-Encoding: base64\r\n\r\nYW5uZUBleGFtcGxlLm9yZw==\r\n--b--\r\nanne%40example.org";
    for (size_t length = 0; length < sizeof(mail); length++) {
        g_autofree char *part = g_memdup2(mail, length);
        g_autoptr(GString) out = g_string_new(NULL);
        size_t count = pseudonym_mail(&names, part ? part : "", length, out);
        g_assert_cmpuint(pseudonym_mail(&names, part ? part : "", length, NULL), ==, count);
        g_assert_cmpuint(pseudonym_mail(&names, out->str, out->len, NULL), ==, 0);
    }
}

SUITE("pseudonym")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pseudonym/text", test_text);
    g_test_add_func("/pseudonym/head", test_head);
    g_test_add_func("/pseudonym/body", test_body);
    g_test_add_func("/pseudonym/parts", test_parts);
    g_test_add_func("/pseudonym/octets", test_octets);
    g_test_add_func("/pseudonym/beginnings", test_beginnings);
    return g_test_run();
}
