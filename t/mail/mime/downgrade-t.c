/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime/downgrade.h"

#include <pthread.h>
#include <string.h>

#include "mail/mime/mime.h"
#include "t/doubling.h"
#include "t/suite.h"

static char *downgraded(const char *mail)
{
    g_autoptr(GBytes) octets = g_bytes_new(mail, strlen(mail));
    g_autoptr(GBytes) result = downgrade_to_7bit(octets);
    size_t length;
    const char *text = g_bytes_get_data(result, &length);
    return g_strndup(text, length);
}

static void assert_downgraded(const char *mail, const char *expected)
{
    g_autofree char *text = downgraded(mail);
    g_assert_cmpstr(text, ==, expected);
}

static void test_ascii(void)
{
    const char *mail = "Content-Transfer-Encoding: 8bit\n\nplain";
    g_autoptr(GBytes) octets = g_bytes_new(mail, strlen(mail));
    g_autoptr(GBytes) result = downgrade_to_7bit(octets);
    g_assert_true(result == octets);
}

static void test_text(void)
{
    assert_downgraded("A: b\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
                      "Content-Transfer-Encoding: 8bit\r\n\r\n.caf\xc3\xa9 = ok \r\n"
                      "long enough to be quoted and not base64\r\n",
                      "A: b\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
                      "Content-Transfer-Encoding: quoted-printable\r\n\r\n=2Ecaf=C3=A9 =3D ok=20\r\n"
                      "long enough to be quoted and not base64\r\n");
}

/* The bytes between the parts, and those of the parts that are ASCII, stay. */
static void test_bytes(void)
{
    static const char frame[] =
        "A: \xff\r\nContent-Type: multipart/mixed; boundary=b\r\n%s\r\nbefore\r\n--b \r\nA:\t1\r\n \r\n%s--b\t\r\n"
        "Content-Type: message/rfc822\r\n\r\nX: \xff\r\nContent-Type: multipart/alternative; boundary=\"b--\"\r\n%s\r\n"
        "--b--\r\n%s--b----\r\n\r\n--b\r\n%s--b--\r\nbehind \r\n";
    static const char eight[] = "Content-Transfer-Encoding: 8bit\r\n",
                      quoted[] = "Content-Transfer-Encoding: quoted-printable\r\n";
    static const char before[] = "\r\nOne \xff\tand a good deal of ASCII, so that it is quoted-printable\r\n\r\n";
    static const char after[] = "\r\nOne =FF\tand a good deal of ASCII, so that it is quoted-printable\r\n\r\n";
    g_autofree char *one = g_strdup_printf(frame, eight, "\r\ntext\r\n", eight, before, before);
    g_autofree char *part = g_strconcat(quoted, after, NULL);
    g_autofree char *two = g_strdup_printf(frame, "", "\r\ntext\r\n", "", part, part);
    assert_downgraded(one, two);
}

/* No text is lost of a part whose head breaks off, that has none, or that has no line end. */
static void test_odd_heads(void)
{
#define TEXT "no field, but \xff\r\nand a good deal of ASCII"
#define QUOTED "no field, but =FF\r\nand a good deal of ASCII"
#define QP "Content-Transfer-Encoding: quoted-printable\r\n"
    assert_downgraded("A: b\r\n" TEXT, "A: b\r\n" QP "\r\n" QUOTED);
    assert_downgraded(TEXT, QP "\r\n" QUOTED);
    assert_downgraded("\r\n" TEXT, QP "\r\n" QUOTED);
    assert_downgraded(
        "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n" TEXT "\r\n--b\r\n\r\n" TEXT
        "\r\n--b\r\nA: b\r\n--b\r\n--b\r\nContent-Transfer-Encoding: 7bit\r\nContent-Transfer-encoding:\r\n"
        "A: b\r\n\r\n" TEXT,
        "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n" QP "\r\n" QUOTED "\r\n--b\r\n" QP "\r\n" QUOTED
        "\r\n--b\r\nA: b\r\n--b\r\n--b\r\n" QP "A: b\r\n\r\n" QUOTED);
}

/* The contents of the only part, whatever its encoding. */
static char *contents_of(GBytes *mail)
{
    g_autoptr(GPtrArray) parts = mime_parts(g_bytes_get_data(mail, NULL), g_bytes_get_size(mail));
    g_assert_cmpuint(parts->len, ==, 1);
    g_autoptr(GString) body = mime_body(parts->pdata[0], G_MAXSIZE);
    char *text = g_strndup(body->str, body->len);
    return text;
}

/* No line is longer than 76 characters, and no blank stands at its end. */
static void test_quoted(void)
{
    g_autoptr(GString) body = g_string_new("\xff\r\n");
    for (unsigned length = 60; length < 90; length++)
        for (unsigned tail = 0; tail < 8; tail++) {
            static const char *const tails[] = {"\r\n", "\n", " \r\n", "\t\n", "\xff\r\n", "=\r\n", "\r\r\n", " x\r\n"};
            g_autofree char *line = g_strnfill(length, 'x');
            g_string_append_printf(body, "%s%s", line, tails[tail]);
        }
    g_autofree char *mail = g_strconcat("A: b\r\n\r\n", body->str, NULL), *text = downgraded(mail);
    g_auto(GStrv) lines = g_strsplit(strstr(text, "\r\n\r\n") + 4, "\r\n", -1);
    for (char **line = lines; *line; line++) {
        g_assert_cmpuint(strlen(*line), <=, 76);
        g_assert_false(g_str_has_suffix(*line, " ") || g_str_has_suffix(*line, "\t"));
    }
    g_autoptr(GBytes) octets = g_bytes_new(text, strlen(text));
    g_autofree char *decoded = contents_of(octets);
    g_string_replace(body, "\r\r\n", "\r.", 0);
    g_string_replace(body, "\r\n", "\n", 0);
    g_string_replace(body, "\n", "\r\n", 0);
    g_string_replace(body, "\r.", "\r\r\n", 0);
    g_assert_cmpstr(decoded, ==, body->str);
}

static void test_parts(void)
{
    g_autofree char *text = downgraded(
        "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
        "--b\r\nContent-Type: text/plain\r\n\r\nplain\r\n--b\r\nContent-Type: message/rfc822\r\n"
        "Content-Transfer-Encoding: 8bit\r\n\r\nSubject: x\r\nContent-Type: text/plain; charset=utf-8\r\n"
        "Content-Transfer-Encoding: 8bit\r\n\r\nna\xc3\xafve and some more of plain text\r\n--b--\r\n");
    g_assert_null(strstr(text, "8bit"));
    g_assert_nonnull(strstr(text, "na=C3=AFve and some more of plain text"));
    g_assert_nonnull(strstr(text, "\r\n\r\nplain\r\n--b"));
}

static GBytes *lines_of(const char *mail)
{
    g_autoptr(GBytes) octets = g_bytes_new(mail, strlen(mail));
    return downgrade_lines(octets);
}

static void assert_short(GBytes *mail)
{
    size_t length;
    const char *text = g_bytes_get_data(mail, &length);
    for (const char *at = text, *feed; at < text + length; at = feed + 1) {
        feed = memchr(at, '\n', (size_t)(text + length - at));
        feed = feed ? feed : text + length;
        g_assert_cmpuint(feed - at, <=, 999);
    }
}

/* Long lines leave in an encoding, and say what they said. */
static void test_long_lines(void)
{
    g_autoptr(GString) html = g_string_new("<p>");
    for (int word = 0; word < 2000; word++)
        g_string_append_printf(html, "caf\xc3\xa9 %d &amp; ", word);
    g_string_append(html, "</p>\r\n");
    g_autofree char *code = g_base64_encode((const guchar *)html->str, html->len);
    static const char head[] = "A: b\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n";
    g_autofree char *eight = g_strconcat(head, "Content-Transfer-Encoding: 8bit\r\n\r\n", html->str, NULL);
    g_autofree char *based = g_strconcat(head, "Content-Transfer-Encoding: base64\r\n\r\n", code, "\r\n", NULL);
    const char *const mails[] = {eight, based};
    for (size_t at = 0; at < G_N_ELEMENTS(mails); at++) {
        g_autoptr(GBytes) result = lines_of(mails[at]);
        assert_short(result);
        g_autofree char *text = contents_of(result);
        g_assert_cmpstr(text, ==, html->str);
    }
}

static void test_lines_that_fit(void)
{
    g_autofree char *line = g_strnfill(998, 'x'), *more = g_strnfill(999, 'x');
    g_autofree char *fits = g_strconcat("A: b\r\n\r\n", line, "\r\n", line, "\n", line, NULL);
    g_autofree char *longer = g_strconcat("A: b\r\n\r\n", line, "\r\n", more, NULL);
    g_autoptr(GBytes) octets = g_bytes_new(fits, strlen(fits)), same = downgrade_lines(octets);
    g_autoptr(GBytes) changed = lines_of(longer);
    g_assert_true(same == octets);
    assert_short(changed);
    g_autofree char *text = contents_of(changed);
    g_assert_true(g_str_has_prefix(text, line) && g_str_has_suffix(text, more));
}

/* A header of one long line is folded at its blanks, and the body stays byte for byte. */
static void test_long_header(void)
{
    g_autoptr(GString) mail = g_string_new("To: ");
    for (int number = 0; mail->len < 5000; number++)
        g_string_append_printf(mail, "%sNumber %d <m%d@example.org>", number ? ", " : "", number, number);
    g_autofree char *field = g_strdup(mail->str), *blankless = g_strnfill(2000, 'y');
    g_string_append_printf(mail, "  \r\nX-Long: %s\r\nSubject: s\r\n\r\nbody\nas it is \r\n", blankless);
    g_autoptr(GBytes) result = lines_of(mail->str);
    size_t length;
    g_autofree char *text = g_strndup(g_bytes_get_data(result, &length), g_bytes_get_size(result));
    g_assert_true(g_str_has_suffix(text, "\r\nSubject: s\r\n\r\nbody\nas it is \r\n"));
    g_assert_nonnull(strstr(text, blankless));
    g_auto(GStrv) parts = g_strsplit(text, "  \r\nX-Long: ", 2);
    g_auto(GStrv) lines = g_strsplit(parts[0], "\r\n", -1);
    for (char **line = lines; *line; line++)
        g_assert_cmpuint(strlen(*line), <=, 998);
    g_autofree char *joined = g_strjoinv("", lines);
    g_assert_cmpstr(joined, ==, field);
}

/* A fragment is joined with others as it is, whoever joins them; so it has no encoding (RFC 2046, section 5.2.2). */
static void test_fragment(void)
{
    const char *mail = "MIME-Version: 1.0\r\nContent-Type: message/partial; id=\"x@y\"; number=2; total=3\r\n"
                       "Content-Transfer-Encoding: 8bit\r\n\r\nna\xc3\xafve and some more of plain text\r\n";
    assert_downgraded(mail, mail);
    g_autofree char *within = downgraded(
        "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n"
        "Content-Type: message/partial; id=\"x@y\"; number=1; total=2\r\n\r\nna\xc3\xafve = 1\r\n--b\r\n"
        "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
        "na\xc3\xafve = 2, and some more of plain text\r\n--b--\r\n");
    g_assert_nonnull(strstr(within, "\r\n\r\nna\xc3\xafve = 1\r\n--b"));
    g_assert_nonnull(strstr(within, "na=C3=AFve =3D 2,"));
}

/* The signature counts for more: no byte of it changes, beside a part that does. */
static void test_signed(void)
{
#define SIGNED                                                                                                       \
    "--a\r\nContent-Type: multipart/signed; boundary=b; micalg=pgp-sha1; protocol=\"application/pgp-signature\"\r\n" \
    "Content-Transfer-Encoding: 8bit\r\n\r\n--b \r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n"        \
    "Content-Transfer-Encoding: 8bit\r\n\r\nna\xc3\xafve\r\n--c--\r\n--b\r\n"                                        \
    "Content-Type: application/pgp-signature\r\n\r\nx\r\n--b--\r\n"
    assert_downgraded(
        "Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n\r\nna\xc3\xafve and more of a text\r\n" SIGNED
        "--a--\r\n",
        "Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n"
        "Content-Transfer-Encoding: quoted-printable\r\n\r\nna=C3=AFve and more of a text\r\n" SIGNED "--a--\r\n");
}

static void test_broken(void)
{
    g_autofree char *header = downgraded("Subject: na\xc3\xafve\r\n\r\nbody\r\n");
    g_assert_nonnull(strstr(header, "body"));
    g_autofree char *lying =
        downgraded("Content-Transfer-Encoding: 7bit\r\n\r\nna\xc3\xafve and more of plain text\r\n");
    g_assert_true(g_str_is_ascii(lying));
    g_autofree char *nothing = downgraded("\xff\xfe");
    g_assert_nonnull(nothing);
}

#define MIXED "A: \xff\nContent-Type: multipart/mixed; boundary=b\n\n"

static void downgrade(const char *text, size_t length, void *data)
{
    g_autoptr(GBytes) octets = g_bytes_new_static(text, length);
    g_autoptr(GBytes) result = downgrade_to_7bit(octets);
    g_assert_nonnull(result);
}

static void test_hostile(void)
{
    static const Doubling inputs[] = {
        {.before = "A: \xff\n", .unit = "A: b\n"},
        {.before = "A: \xff\n\n", .unit = "\xff"},
        {.before = "A: \xff\n\n", .unit = "a\n"},
        {.before = "A: \xff\nA: ", .unit = "=?"},
        {.before = "A: \xff\nTo: ", .unit = "a@b,"},
        {.before = "A: \xff\nTo: ", .unit = "("},
        {.before = "A: \xff\nContent-Type: a/b", .unit = ";x=y"},
        {.before = MIXED, .unit = "--b\n"},
        {.before = MIXED, .unit = "--b\n\n"},
        {.before = MIXED, .unit = "--b\nContent-Type: message/rfc822\n\n"},
        {.before = MIXED,
         .unit = "--b\nContent-Type: multipart/mixed; boundary=b\n\n"},
    };
    doubling_check_all(inputs, G_N_ELEMENTS(inputs), downgrade, NULL);
}

/* Less than each program has, so that a call within a call for each byte shows at once. */
#define SMALL_STACK (256 * 1024)
#define DEEP (1024 * 1024)

static void *downgrade_deep(void *data)
{
    GString *text = data;
    g_autoptr(GBytes) octets = g_bytes_new_static(text->str, text->len);
    g_autoptr(GBytes) result = downgrade_to_7bit(octets);
    return GSIZE_TO_POINTER(g_bytes_get_size(result));
}

static void check_deep(const char *before, const char *unit, const char *after)
{
    g_autoptr(GString) text = g_string_new(before);
    while (text->len < DEEP)
        g_string_append(text, unit);
    g_string_append(text, after);
    pthread_attr_t small;
    pthread_t thread;
    void *length;
    pthread_attr_init(&small);
    g_assert_cmpint(pthread_attr_setstacksize(&small, SMALL_STACK), ==, 0);
    g_assert_cmpint(pthread_create(&thread, &small, downgrade_deep, text), ==, 0);
    g_assert_cmpint(pthread_join(thread, &length), ==, 0);
    pthread_attr_destroy(&small);
    if (!strstr(before, "Transfer-Encoding")) /* which is made anew; all else is kept */
        g_assert_cmpuint(GPOINTER_TO_SIZE(length), >=, text->len);
}

static void test_deep(void)
{
    static const char *const fields[] = {
        "From",    "To",         "Cc",         "Bcc",       "Reply-To",     "Sender",     "Date",
        "Subject", "Message-ID", "References", "Resent-To", "Content-Type", "Content-ID", "Content-Disposition",
        "Content-Transfer-Encoding"};
    static const char *const units[] = {"g:", "(",    "<",  "\"",    "[",  ",",
                                        "<@", "(a\\", "a/", ";a=\"", "a*", "=?utf-8?q?"};
    for (size_t at = 0; at < G_N_ELEMENTS(fields); at++)
        for (size_t unit = 0; unit < G_N_ELEMENTS(units); unit++) {
            g_autofree char *before = g_strdup_printf("%s: ", fields[at]);
            check_deep(before, units[unit], "a@b.example;\r\n\r\n\xff\r\n");
            g_autofree char *inner = g_strdup_printf("Content-Type: message/rfc822\r\n\r\n%s: ", fields[at]);
            check_deep(inner, units[unit], "a@b.example;\r\n\r\n\xff\r\n");
        }
    check_deep("Content-Type: message/rfc822\n\n", "Content-Type: message/rfc822\n\n", "\n\xff\n");
    check_deep(MIXED, "--b\nContent-Type: multipart/mixed; boundary=b\n\n", "\xff\n");
    check_deep(MIXED, "--b\nContent-Type: message/rfc822\n\nContent-Type: multipart/mixed; boundary=b\n\n",
               "\xff\n");
}

/* Each way to name parts is counted. Lines that only look like a boundary are not. */
static void test_count(void)
{
    static const struct {
        const char *head, *unit;
        bool many;
    } cases[] = {
        {MIXED, "--b\n\n", true},
        {MIXED, "--b \t\r\n\n", true},
        {"Content-Type: multipart/mixed;\n BOUNDARY*=us-ascii''%62\n\n", "--b\n\n", true},
        {MIXED, "--b\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\n--c--\n", true},
        {"", "Content-Type: message/rfc822\n\n", false}, /* they lie too deep */
        {"Subject: SQL\n\n", "-- a comment\n", false},
        {MIXED, "text\n", false},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autoptr(GString) text = g_string_new(cases[at].head);
        for (unsigned i = 0; i <= MIME_ALL_PARTS; i++)
            g_string_append(text, cases[at].unit);
        g_autoptr(GPtrArray) parts = mime_parts_all(text->str, text->len);
        g_test_message("case %zu", at);
        g_assert_cmpint(!parts, ==, cases[at].many);
    }
}

/* Beyond the bound all is one text: nothing is lost, and it is ASCII. */
static void test_many(void)
{
    g_autoptr(GString) text = g_string_new("Subject: x\r\nContent-Type: multipart/mixed;\r\n boundary=b\r\n"
                                           "To: y\r\n\r\n");
    for (unsigned at = 0; at < 100000; at++)
        g_string_append(text, "--b\r\n\r\n\r\n");
    g_string_append(text, "--b\r\n\r\nna\xc3\xafve and some more of plain text\r\n--b--\r\n");
    g_autofree char *result = downgraded(text->str);
    g_assert_true(g_str_is_ascii(result) && g_str_has_prefix(result, "Subject: x\r\nTo: y\r\n"));
    g_assert_null(strstr(result, "multipart"));
    g_assert_nonnull(strstr(result, "Content-Transfer-Encoding: quoted-printable"));
    g_assert_nonnull(strstr(result, "na=C3=AFve and some more of plain text\r\n--b--"));
    g_auto(GStrv) lines = g_strsplit(result, "--b\r\n", -1);
    g_assert_cmpuint(g_strv_length(lines), ==, 100002);
}

SUITE("downgrade")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mail/downgrade/long-lines", test_long_lines);
    g_test_add_func("/mail/downgrade/lines-that-fit", test_lines_that_fit);
    g_test_add_func("/mail/downgrade/long-header", test_long_header);
    g_test_add_func("/mail/downgrade/ascii", test_ascii);
    g_test_add_func("/mail/downgrade/text", test_text);
    g_test_add_func("/mail/downgrade/bytes", test_bytes);
    g_test_add_func("/mail/downgrade/odd-heads", test_odd_heads);
    g_test_add_func("/mail/downgrade/quoted", test_quoted);
    g_test_add_func("/mail/downgrade/parts", test_parts);
    g_test_add_func("/mail/downgrade/signed", test_signed);
    g_test_add_func("/mail/downgrade/fragment", test_fragment);
    g_test_add_func("/mail/downgrade/broken", test_broken);
    g_test_add_func("/mail/downgrade/hostile", test_hostile);
    g_test_add_func("/mail/downgrade/deep", test_deep);
    g_test_add_func("/mail/downgrade/count", test_count);
    g_test_add_func("/mail/downgrade/many", test_many);
    return g_test_run();
}
