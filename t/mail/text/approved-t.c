/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/approved.h"
#include "t/suite.h"

#include <string.h>
#include <time.h>

/* Takes the password out of text; what is left is in *left. */
static char *take(const char *text, char **left)
{
    g_autoptr(GBytes) octets = g_bytes_new(text, strlen(text));
    g_autoptr(Message) message = message_new(octets);
    char *password = approved_take(message);
    g_autoptr(GBytes) now = message_octets(message);
    size_t length;
    const char *data = g_bytes_get_data(now, &length);
    *left = g_strndup(data ? data : "", length);
    return password;
}

static void assert_take(const char *text, const char *password, const char *expected)
{
    g_autofree char *left = NULL, *found = take(text, &left);
    g_assert_cmpstr(found, ==, password);
    g_assert_cmpstr(left, ==, expected);
}

static void test_nothing(void)
{
    assert_take("Subject: x\r\n\r\nHello\r\nApproved: secret\r\n", NULL,
                "Subject: x\r\n\r\nHello\r\nApproved: secret\r\n");
    assert_take("", NULL, "");
    assert_take("\r\nApprovedly\r\n", NULL, "\r\nApprovedly\r\n");
}

static void test_header(void)
{
    assert_take("Approved: secret\r\nSubject: x\r\n\r\nHello\r\n", "secret", "Subject: x\r\n\r\nHello\r\n");
    assert_take("x-approve: s\r\nApproved: t\r\nSubject: x\r\n\r\nHello\r\n", "t", "Subject: x\r\n\r\nHello\r\n");
}

static void test_first_line(void)
{
    assert_take("Subject: x\r\n\r\n\r\nApproved: open sesame\r\nHello\r\n", "open sesame",
                "Subject: x\r\n\r\n\r\nHello\r\n");
    assert_take("Subject: x\n\napprove : secret\nHello\n", "secret", "Subject: x\n\nHello\n");
    assert_take("Subject: x\n\nApproved:\nHello\n", "", "Subject: x\n\nHello\n");
    assert_take("Subject: x\n\nApproved: secret", "secret", "Subject: x\n\n");
}

#define ALTERNATIVE(plain, html) \
    "Content-Type: multipart/alternative; boundary=b\r\n\r\nApproved: preamble\r\n--b\r\nContent-Type: text/plain\r\n" \
    plain "--b\r\nContent-Type: text/html\r\n" html "--b--\r\n"

static void test_alternative(void)
{
    assert_take(ALTERNATIVE("\r\nApproved: sec ret\r\nHello\r\n", "\r\n<p>Approved:&nbsp;<b>sec ret</b><br>Hello\r\n"),
                "sec ret", ALTERNATIVE("\r\nHello\r\n", "\r\n<p></b><br>Hello\r\n"));
    /* The header's password stands in the text as well. */
    assert_take("Approved: secret\r\nSubject: x\r\n\r\nHi\r\n> Approved: secret\r\n", "secret",
                "Subject: x\r\n\r\nHi\r\n> \r\n");
}

static void test_encodings(void)
{
    assert_take("Content-Transfer-Encoding: quoted-printable\r\n\r\n"
                "App=\r\nroved: sec=\r\nr=65t\r\nH=C3=A9llo=\r\n!\r\n",
                "secret", "Content-Transfer-Encoding: quoted-printable\r\n\r\nH=C3=A9llo=\r\n!\r\n");
    g_autofree char *with = g_base64_encode((const guchar *)"Approved: secret\r\nHello\r\n", 25);
    g_autofree char *without = g_base64_encode((const guchar *)"Hello\r\n", 7);
    g_autofree char *text = g_strdup_printf("Content-Transfer-Encoding: base64\r\n\r\n%s\r\n", with);
    g_autofree char *expected = g_strdup_printf("Content-Transfer-Encoding: base64\r\n\r\n%s\r\n", without);
    assert_take(text, "secret", expected);
}

/* Text that is made to look like many beginnings of it is searched in no time: without a bound of the tags, this took
 * very long. */
static void test_hostile(void)
{
    g_autoptr(GString) text = g_string_new("Approved: secret\r\nContent-Type: text/html\r\n\r\n");
    while (text->len < (1 << 18))
        g_string_append(text, "Approve<");
    clock_t begun = clock();
    g_autofree char *left = NULL, *password = take(text->str, &left);
    g_assert_cmpstr(password, ==, "secret");
    g_assert_cmpint(clock() - begun, <, 2 * CLOCKS_PER_SEC);
}

/* A mail inside the mail is somebody else's. */
static void test_inside(void)
{
    static const char text[] = "Content-Type: message/rfc822\r\n\r\nSubject: y\r\n\r\nApproved: secret\r\n";
    assert_take(text, NULL, text);
}

/* Check that the sender does not say what is attached or forwarded: its password counts for nothing and stays. */
static void test_only_attached(void)
{
    static const char attached[] = "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n"
                                   "Content-Type: message/rfc822\r\n\r\nSubject: y\r\n\r\nApproved: secret\r\nHi\r\n"
                                   "--b--\r\n";
    g_autofree char *with_field = g_strconcat("Approved: secret\r\n", attached, NULL);
    assert_take(attached, NULL, attached);
    assert_take(with_field, "secret", attached);
}

SUITE("approved")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/approved/nothing", test_nothing);
    g_test_add_func("/approved/header", test_header);
    g_test_add_func("/approved/first-line", test_first_line);
    g_test_add_func("/approved/alternative", test_alternative);
    g_test_add_func("/approved/encodings", test_encodings);
    g_test_add_func("/approved/hostile", test_hostile);
    g_test_add_func("/approved/inside", test_inside);
    g_test_add_func("/approved/in an attached message", test_only_attached);
    return g_test_run();
}
