/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime/decorate.h"

#include "base/secret.h"
#include "t/suite.h"
#include "t/text.h"

#define UTF8 "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: "
#define LATIN1 "Content-Type: text/plain; charset=ISO-8859-1\r\nContent-Transfer-Encoding: "

static char *joined(const Decorated *decorated)
{
    GString *text = g_string_new(NULL);
    for (guint at = 0; at < decorated->pieces->len; at++) {
        size_t length;
        const char *octets = g_bytes_get_data(decorated->pieces->pdata[at], &length);
        g_string_append_len(text, octets, (gssize)length);
    }
    return g_string_free(text, FALSE);
}

static char *decorated_text(const char *mail, const char *header, const char *footer)
{
    g_autoptr(GBytes) octets = octets_of(mail);
    g_autoptr(Message) message = message_new(octets);
    g_auto(Decorated) result = {0};
    decorate(message, &(Decoration){.header = header, .footer = footer}, &result);
    return joined(&result);
}

static void assert_decorated(const char *mail, const char *header, const char *footer, const char *expected)
{
    assert_text(decorated_text(mail, header, footer), expected);
}

static void test_nothing(void)
{
    assert_decorated("A: b\n\nbody", NULL, "", "A: b\n\nbody");
    assert_decorated("A: b\n", NULL, NULL, "A: b\n");
}

static void test_joined(void)
{
    assert_decorated("A: b\r\n\r\nbody\r\n", "top\n", "one\ntwo", "A: b\r\n\r\ntop\r\nbody\r\none\r\ntwo\r\n");
    assert_decorated("A: b\r\n\r\nbody", NULL, "foot\n", "A: b\r\n\r\nbody\r\nfoot\r\n");
    assert_decorated("A: b\r\n", NULL, "foot\n", "A: b\r\n\r\nfoot\r\n");
    assert_decorated("A: b", NULL, "foot\n", "A: b\r\n\r\nfoot\r\n");
    assert_decorated(UTF8 "8bit\r\n\r\nb\r\n", NULL,
                     "\xc3\xa9\n",
                     UTF8 "8bit\r\n\r\nb\r\n\xc3\xa9\r\n");
    assert_decorated(LATIN1 "8BIT\r\n\r\nb\r\n", NULL,
                     "\xc3\xa9\n",
                     LATIN1 "8BIT\r\n\r\nb\r\n\xe9\r\n");
    assert_decorated(
        UTF8 "quoted-printable\r\n\r\nb=3D\r\n", NULL,
        "\xc3\xa9=\n",
        UTF8 "quoted-printable\r\n\r\nb=3D\r\n"
        "=C3=A9=3D\r\n");
}

/* ASCII is UTF-8, too: the fields say so where the list's text needs it, and the body stays as it is. */
static void test_relabelled(void)
{
#define SMALL "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n"
    assert_decorated("A: b\r\n\r\nbody\r\n", "top\n", "\xc3\xa9\n",
                     "A: b\r\nMIME-Version: 1.0\r\n" SMALL "\r\ntop\r\nbody\r\n\xc3\xa9\r\n");
    assert_decorated(UTF8 "7bit\r\nMIME-Version: 1.0\r\n\r\nb\r\n", NULL, "\xc3\xa9\n",
                     SMALL "MIME-Version: 1.0\r\n\r\nb\r\n\xc3\xa9\r\n");
    assert_decorated("MIME-Version: 1.0\r\nContent-Type: text/plain; format=flowed; charset=koi8-r; delsp=yes\r\n"
                     "\r\nb\r\n", NULL, "\xe2\x82\xac\n",
                     "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8; format=flowed; delsp=yes\r\n"
                     "Content-Transfer-Encoding: 8bit\r\n\r\nb\r\n\xe2\x82\xac\r\n");
}

/* A last line that does not end its paragraph gets an end of its own. */
static void test_open_ends(void)
{
#define QP UTF8 "quoted-printable\r\n\r\n"
    assert_decorated(QP "soft=\r\n", NULL, "foot\n", QP "soft=\r\n\r\nfoot\r\n");
    assert_decorated(QP "soft= \t\r\n", NULL, "foot\n", QP "soft= \t\r\n\r\nfoot\r\n");
    assert_decorated(QP "soft=\n", NULL, "foot\n", QP "soft=\n\r\nfoot\r\n");
    assert_decorated(QP "soft=", NULL, "foot\n", QP "soft=\r\n\r\nfoot\r\n");
    assert_decorated(QP "hard=3D\r\n", NULL, "foot\n", QP "hard=3D\r\nfoot\r\n");
    assert_decorated(QP "soft=\r\n", "head\n", NULL, QP "head\r\nsoft=\r\n");
    assert_decorated(UTF8 "8bit\r\n\r\nno qp=\r\n", NULL, "foot\n", UTF8 "8bit\r\n\r\nno qp=\r\nfoot\r\n");
    /* RFC 3676: a line that ends with a blank goes on in the next, but for the one above a signature. */
#define FLOWED "Content-Type: text/plain; format=Flowed\r\n\r\n"
    assert_decorated(FLOWED "flows \r\n", NULL, "foot\n", FLOWED "flows \r\n\r\nfoot\r\n");
    assert_decorated(FLOWED "ends\r\n", NULL, "foot\n", FLOWED "ends\r\nfoot\r\n");
    assert_decorated(FLOWED "a\r\n-- \r\n", NULL, "foot\n", FLOWED "a\r\n-- \r\nfoot\r\n");
    assert_decorated("A: b\r\n\r\nfixed \r\n", NULL, "foot\n", "A: b\r\n\r\nfixed \r\nfoot\r\n");
#define FLOWED_QP "Content-Type: text/plain; format=flowed\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
    assert_decorated(FLOWED_QP "flows=20\r\n", NULL, "foot\n", FLOWED_QP "flows=20\r\n\r\nfoot\r\n");
    assert_decorated(FLOWED_QP "--=20\r\n", NULL, "foot\n", FLOWED_QP "--=20\r\nfoot\r\n");
}

/* Fields that count or sum up the body as it was do not stay on another one. */
static void test_sums(void)
{
#define SUMS "Content-MD5: Q2hlY2sgSW50ZWdyaXR5IQ==\r\nContent-Length: 3\r\nlines: 1\r\n"
    assert_decorated("A: b\r\n" SUMS "C: d\r\n\r\nx\r\n", NULL, "foot\n", "A: b\r\nC: d\r\n\r\nx\r\nfoot\r\n");
    assert_decorated("A: b\r\n" SUMS "C: d\r\n\r\nx\r\n", NULL, NULL, "A: b\r\n" SUMS "C: d\r\n\r\nx\r\n");
    g_autofree char *mixed = decorated_text(SUMS "Content-Type: multipart/mixed; boundary=m\r\n\r\n"
                                                 "--m\r\n\r\nx\r\n--m--\r\n", NULL, "foot\n");
    g_assert_true(g_str_has_prefix(mixed, "Content-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\n"));
    /* The sum is that of the part when the body becomes one. */
    g_autofree char *wrapped = decorated_text(SUMS "Content-Type: text/html\r\n\r\nx\r\n", NULL, "foot\n");
    g_assert_nonnull(strstr(wrapped, "\r\nContent-MD5: Q2hlY2sgSW50ZWdyaXR5IQ==\r\n"
                                     "Content-Type: text/html\r\n\r\nx\r\n"));
    g_assert_null(strstr(wrapped, "Content-Length"));
    g_assert_null(strstr(wrapped, "lines"));
}

/* Check that a footer that cannot be joined stands in a part of its own; the first part is what was sent, byte for
 * byte. */
static void assert_wrapped(const char *fields, const char *body, const char *footer)
{
    g_autofree char *mail = g_strconcat("A: b\r\n", fields, "\r\n", body, NULL);
    g_autofree char *text = decorated_text(mail, NULL, footer);
    g_assert_true(g_str_has_prefix(text, "A: b\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\""));
    g_autofree char *part = g_strconcat("\r\n", fields, "\r\n", body, "\r\n--", NULL);
    g_assert_nonnull(strstr(text, part));
    g_assert_true(g_str_has_suffix(text, "--\r\n"));
    g_assert_nonnull(strstr(text, "Content-Disposition: inline\r\n\r\n"));
}

/* The field is read by its grammar: what stands in quotes or comments is no parameter. */
static void test_parameters(void)
{
#define NAMED "Content-Type: Text/Plain (a; charset=koi8-r); name=\"b; charset=us-ascii\"; charset=\"ut\\f-8\"\r\n" \
              "Content-Transfer-Encoding: 8bit (so)\r\n\r\nx\r\n"
    assert_decorated(NAMED, NULL, "\xc3\xa9\n", NAMED "\xc3\xa9\r\n");
#define MIXED "Content-Type: multipart/mixed; name=\"c; boundary=no\"; boundary*0=\"y\\\"e\"; boundary*1=s\r\n\r\n"
    assert_decorated(MIXED "--y\"es\r\n\r\nx\r\n--y\"es--\r\n", NULL, "foot\n",
                     MIXED "--y\"es\r\n\r\nx\r\n--y\"es\r\nContent-Type: text/plain; charset=\"us-ascii\"\r\n"
                           "Content-Transfer-Encoding: 7bit\r\nContent-Disposition: inline\r\n\r\nfoot\r\n\r\n"
                           "--y\"es--\r\n");
}

static void test_wrapped(void)
{
    assert_decorated("Content-Disposition: Inline (so); filename=a\r\n\r\nx\r\n", NULL, "foot\n",
                     "Content-Disposition: Inline (so); filename=a\r\n\r\nx\r\nfoot\r\n");
    assert_wrapped("Content-Type: text/plain; charset=us-ascii; charset=utf-8\r\n", "x", "foot");
    assert_wrapped("Content-Type: text/plain; charset=\"us-ascii\r\n", "x", "foot");
    assert_wrapped("Content-Type: text/html\r\n", "<p>x</p>", "foot");
    assert_wrapped("Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n", "eA==", "foot");
    assert_wrapped("Content-Type: text/plain; charset=us-ascii; name=a\r\n", "x", "\xc3\xa9");
    assert_wrapped("Content-Type: text/plain; charset=us-ascii\r\n", "\xe9", "\xc3\xa9");
    assert_wrapped("Content-Type: text/plain; charset=iso-2022-jp\r\n", "x", "\xc3\xa9");
    assert_wrapped("Content-Type: text/plain; charset=iso-2022-jp\r\n", "x", "foot");
    assert_wrapped("Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: 8bit\r\n", "\xe9",
                   "\xe2\x82\xac");
    assert_wrapped("Content-Transfer-Encoding: x-uuencode\r\n", "x", "\xc3\xa9");
    /* It is a file, not a text of the sender's. */
    assert_wrapped("Content-Type: text/plain\r\nContent-Disposition: attachment; filename=a.txt\r\n", "x", "foot");
    assert_wrapped("Content-Type: text/plain\r\nContent-Disposition: ATTACHMENT\r\n", "x", "foot");
    assert_wrapped("Content-Disposition: unheard-of\r\n", "x", "foot");
    assert_wrapped("Content-Disposition: inline\r\nContent-Disposition: attachment\r\n", "x", "foot");
    /* Readers do not agree which of two fields counts. */
    assert_wrapped("Content-Type: text/plain\r\nContent-Type: text/html\r\n", "x", "foot");
    assert_wrapped("Content-Type: text/plain\r\nContent-Type: text/plain\r\n", "x", "foot");
    assert_wrapped("Content-Type: multipart/mixed; boundary=m\r\nContent-Type: text/plain\r\n",
                   "--m\r\n\r\nx\r\n--m--\r\n", "foot");
    assert_wrapped("Content-Transfer-Encoding: 7bit\r\nContent-Transfer-Encoding: base64\r\n", "eA==", "foot");
    assert_wrapped("Content-Type: multipart/signed; boundary=s\r\n",
                   "--s\r\n\r\nx\r\n--s\r\n\r\ny\r\n--s--\r\n", "foot");
    assert_wrapped("Content-Type: multipart/mixed; boundary=m\r\n", "--m\r\n\r\nnever closed", "foot");
    assert_wrapped("Content-Type: multipart/mixed\r\n", "--m\r\n\r\nx\r\n--m--", "foot");
}

static void test_mixed(void)
{
    const char *mail = "Content-Type: multipart/mixed; boundary=\"m\"\r\n\r\npreamble\r\n--mm\r\n"
                       "--m\r\n\r\nx\r\n--m--\r\nend";
    assert_decorated(mail, "top", "foot",
                     "Content-Type: multipart/mixed; boundary=\"m\"\r\n\r\npreamble\r\n--mm\r\n"
                     "--m\r\nContent-Type: text/plain; charset=\"us-ascii\"\r\nContent-Transfer-Encoding: 7bit\r\n"
                     "Content-Disposition: inline\r\n\r\ntop\r\n\r\n"
                     "--m\r\n\r\nx\r\n"
                     "--m\r\nContent-Type: text/plain; charset=\"us-ascii\"\r\nContent-Transfer-Encoding: 7bit\r\n"
                     "Content-Disposition: inline\r\n\r\nfoot\r\n\r\n"
                     "--m--\r\nend");
    /* A blank at the end of a boundary counts for nobody. */
    assert_decorated("Content-Type: multipart/mixed; boundary=\"m \"\r\n\r\n--m\r\n\r\nx\r\n--m--\r\n", NULL, "foot",
                     "Content-Type: multipart/mixed; boundary=\"m \"\r\n\r\n--m\r\n\r\nx\r\n"
                     "--m \r\nContent-Type: text/plain; charset=\"us-ascii\"\r\nContent-Transfer-Encoding: 7bit\r\n"
                     "Content-Disposition: inline\r\n\r\nfoot\r\n\r\n--m--\r\n");
}

static void test_long_lines(void)
{
    g_autoptr(GString) footer = g_string_new(NULL);
    for (int at = 0; at < 100; at++)
        g_string_append(footer, "\xc3\xa9 x");
    g_autofree char *text = decorated_text(
        UTF8 "quoted-printable\r\n\r\nx\r\n", NULL,
        footer->str);
    g_auto(GStrv) lines = g_strsplit(text, "\r\n", -1);
    for (char **line = lines; *line; line++)
        g_assert_cmpuint(strlen(*line), <=, 76);
}

static void test_marks(void)
{
    g_autofree char *secret = random_word();
    g_autofree char *mark = copy_mark(secret, COPY_NAME, COPY_ASCII);
    g_autofree char *footer = g_strdup_printf("\xc3\xa9 to %s, who is %s and %s\n", mark, mark, mark);
    const char *mail = UTF8 "quoted-printable\r\n\r\nx\r\n";
    g_autoptr(GBytes) octets = octets_of(mail);
    g_autoptr(Message) message = message_new(octets);
    g_auto(Decorated) result = {0};
    decorate(message, &(Decoration){.footer = footer, .secret = secret}, &result);
    g_autofree char *text = joined(&result);
    g_autoptr(GBytes) whole = g_bytes_new(text, strlen(text));
    g_autoptr(GArray) holes = g_array_new(FALSE, FALSE, sizeof(CopyHole));
    g_autoptr(GBytes) cut = copy_cut(secret, whole, 0, holes);
    g_assert_cmpuint(holes->len, ==, 3);
    for (guint at = 0; at < holes->len; at++)
        g_assert_cmpint(g_array_index(holes, CopyHole, at).encoding, ==, COPY_QP);
    g_assert_true(decorated_is_own(&result, result.pieces->pdata[1]));
    g_assert_false(decorated_is_own(&result, result.pieces->pdata[0]));
    g_assert_false(decorated_is_own(&result, result.pieces->pdata[2]));
}

SUITE("decorate")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mail/decorate/nothing", test_nothing);
    g_test_add_func("/mail/decorate/joined", test_joined);
    g_test_add_func("/mail/decorate/relabelled", test_relabelled);
    g_test_add_func("/mail/decorate/open ends", test_open_ends);
    g_test_add_func("/mail/decorate/sums", test_sums);
    g_test_add_func("/mail/decorate/parameters", test_parameters);
    g_test_add_func("/mail/decorate/wrapped", test_wrapped);
    g_test_add_func("/mail/decorate/mixed", test_mixed);
    g_test_add_func("/mail/decorate/long lines", test_long_lines);
    g_test_add_func("/mail/decorate/marks", test_marks);
    return g_test_run();
}
