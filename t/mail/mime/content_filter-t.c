/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime/content_filter.h"

#include <string.h>

#include "base/fail.h"
#include "mail/mime/mime.h"
#include "t/mail/corpus.h"
#include "t/suite.h"

#define HEADER "From: a@example.org\r\nSubject:  as it  was\r\nMIME-Version: 1.0\r\n"
#define TEXT "Content-Type: text/plain; charset=utf-8\r\n\r\nna\303\257ve\r\n"
#define HTML "Content-Type: text/html\r\n\r\n<p>one<br>two &amp; three</p>\r\n"
#define IMAGE "Content-Type: image/png; name=\"cat.png\"\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n"
#define EXE \
    "Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=\"Run.EXE\"\r\n\r\nMZ\r\n"
#define MIXED(parts) HEADER "Content-Type: multipart/mixed; boundary=\"x\"\r\n\r\npreamble\r\n" parts "--x--\r\n"
#define PART(part) "--x\r\n" part

static char *images[] = {(char *)"IMAGE", NULL}, *exes[] = {(char *)".exe", NULL}, *texts[] = {(char *)"text/plain",
       (char *)"multipart", NULL}, *pngs[] = {(char *)"png", NULL}, *mixed[] = {(char *)"multipart/mixed", NULL},
       *htmls[] = {(char *)"text/html", NULL}, *only_image[] = {(char *)"image/png", NULL};

/* Return what is left; g_free(). */
static char *filtered(const char *text, const ContentRules *rules, ContentResult expected, const char *removed)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) octets = g_bytes_new(text, strlen(text));
    g_autoptr(Message) message = message_new(octets);
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    ContentResult result;
    g_assert_true(content_filter(message, rules, &result, lines, &error));
    g_assert_no_error(error);
    g_assert_cmpint(result, ==, expected);
    g_ptr_array_add(lines, NULL);
    g_autofree char *all = g_strjoinv("; ", (char **)lines->pdata);
    if (removed)
        g_assert_cmpstr(all, ==, removed);
    g_autoptr(GBytes) left = message_octets(message);
    g_assert_true(result == CONTENT_CHANGED || g_bytes_equal(left, octets));
    return g_strndup(g_bytes_get_data(left, NULL), g_bytes_get_size(left));
}

static void test_types(void)
{
    const char *both = MIXED(PART(TEXT) PART(TEXT) PART(IMAGE));
    g_autofree char *left = filtered(both, &(ContentRules){.filter_types = images}, CONTENT_CHANGED,
                                     "image/png, cat.png");
    g_assert_cmpstr(left, ==, MIXED(PART(TEXT) PART(TEXT)));
    g_autofree char *passed = filtered(both, &(ContentRules){.pass_types = texts}, CONTENT_CHANGED, NULL);
    g_assert_cmpstr(passed, ==, left);
    g_autofree char *kept = filtered(both, &(ContentRules){.filter_types = exes}, CONTENT_KEPT, "");
    g_assert_cmpstr(kept, ==, both);
}

static void test_one_part_that_is_left_stands_alone(void)
{
    g_autofree char *left = filtered(MIXED(PART(TEXT) PART(IMAGE)), &(ContentRules){.filter_types = images},
                                     CONTENT_CHANGED, "image/png, cat.png");
    g_assert_cmpstr(left, ==, HEADER TEXT);
}

static void test_endings(void)
{
    const char *all = MIXED(PART(TEXT) PART(IMAGE) PART(EXE));
    g_autofree char *left = filtered(all, &(ContentRules){.filter_extensions = exes}, CONTENT_CHANGED,
                                     "application/octet-stream, Run.EXE");
    g_assert_cmpstr(left, ==, MIXED(PART(TEXT) PART(IMAGE)));
    g_autofree char *passed = filtered(all, &(ContentRules){.pass_extensions = pngs}, CONTENT_CHANGED,
                                       "application/octet-stream, Run.EXE");
    g_assert_cmpstr(passed, ==, left);
}

#define NAMED(disposition) \
    "Content-Type: application/octet-stream\r\nContent-Disposition: attachment; " disposition "\r\n\r\nMZ\r\n"

/* Any name that some mail program would give the file counts. */
static void test_hidden_names(void)
{
    static const char *const hidden[] = {
        NAMED("filename=\"x.txt\"; filename*=utf-8''x.exe"),
        NAMED("filename*=utf-8''x.exe; filename=x.txt"),
        NAMED("filename=x.txt; filename=x.exe"),
        NAMED("filename=x.exe; filename=x.txt"),
        NAMED("filename=x.txt\r\nContent-Disposition: attachment; filename=x.exe"),
        NAMED("filename=\"x.exe.\""),
        NAMED("filename=\"x.exe \""),
        NAMED("filename=\"x.exe. . \""),
        NAMED("filename*=utf-8''x.exe%E2%80%8B%C2%A0"),
        NAMED("filename*=utf-8''x.%E2%80%8Bexe"),
        NAMED("filename*=utf-8''x.e%C2%ADxe"),
        NAMED("filename*=utf-8''x%EF%BC%8Eexe"),
        NAMED("filename*=utf-8''x%E2%80%A4%EF%BD%85xe"),
        NAMED("filename*=iso-8859-1'en'x%2Ee%78e"),
        NAMED("filename*=utf-7''x+AC4-exe"),
        NAMED("filename*=utf-8''x.exe%00.txt"),
        NAMED("filename*=''x.e%00xe"),
        NAMED("filename*=x.exe"),
        NAMED("filename=x%2Eexe"),
        NAMED("filename=\"x.exe:y.txt\""),
        NAMED("filename*0=\"x.e\"; filename*1=\"xe\""),
        NAMED("filename*1=xe; filename*0=x.e"),
        NAMED("filename*0*=utf-8''x%2E; filename*1=\"exe\""),
        NAMED("filename*0=x.exe; filename*2=.txt"),
        NAMED("filename*0=x.; filename*1=txt; filename*1=exe"),
        NAMED("filename*0=x.; filename*2=exe"),
        NAMED("filename*0=x.exe; filename=x.txt"),
        NAMED("filename*01=x.exe"),
        NAMED("filename**=x.exe"),
        NAMED("filename=\"=?utf-8?q?x=2Eexe?=\""),
        NAMED("filename=\"=?utf-8?b?eC5leGU=?=\"; filename*=utf-8''x.txt"),
        NAMED("filename==?utf-8?b?eC5l?= =?utf-8?b?eGU=?="),
        NAMED("filename=\"=?koi8-r?q?x.e?=\r\n =?utf-8?q?xe?=\""),
        NAMED("filename=my file.exe"),
        NAMED("filename=\"x.exe; size=2"),
        NAMED("filename=x.exe (a.txt)"),
        NAMED("filename = (a.txt) \"x.\\exe\""),
        NAMED("FileName=\"x.\r\n exe\""),
        NAMED("x; name=x.exe"),
        NAMED("filename=\"a.txt;\" x; filename=\"b\\\".exe\""),
        "Content-Type: =?utf-8?q?application/x=3B_name=3Dx=2Eexe?=\r\n\r\nMZ\r\n",
        "Content-Disposition: attachment =?utf-8?q?=3B_filename=3D=22x=2Eexe=22?=\r\n\r\nMZ\r\n",
        "Content-Type: text/plain; name=x.exe\r\nContent-Disposition: attachment; filename=x.txt\r\n\r\nMZ\r\n",
        "Content-Type: text/plain; name*=utf-8''x.exe\r\nContent-Disposition: attachment; filename=x.txt\r\n\r\nMZ\r\n",
        "Content-Type: message/rfc822; name=x.exe\r\n\r\nSubject: x\r\n\r\nMZ\r\n",
        "Content-Type: text/plain\r\nContent-Name: x.exe\r\n\r\nMZ\r\n",
        "Content-Type: text/plain\r\nContent-Disposition : attachment; filename=x.exe\r\n\r\nMZ\r\n",
    };
    for (size_t at = 0; at < G_N_ELEMENTS(hidden); at++) {
        g_autofree char *mail = g_strconcat(
            HEADER "Content-Type: multipart/mixed; boundary=\"x\"\r\n\r\n" PART(TEXT) "--x\r\n", hidden[at],
            "--x--\r\n", NULL);
        g_test_message("%s", hidden[at]);
        g_autofree char *left = filtered(mail, &(ContentRules){.filter_extensions = exes}, CONTENT_CHANGED, NULL);
        g_assert_cmpstr(left, ==, HEADER TEXT);
    }
    g_autofree char *parameters = g_strnfill(3000 * 9, 'x');
    for (size_t at = 0; at < 3000; at++)
        memcpy(parameters + at * 9, ";name=a.b", 9);
    g_autofree char *many = g_strconcat(HEADER "Content-Type: text/plain", parameters, ";name=x.exe\r\n\r\nMZ\r\n",
                                        NULL);
    g_free(filtered(many, &(ContentRules){.filter_extensions = exes}, CONTENT_REFUSED, NULL));
}

/* Check that a name that only looks like such a one passes, and that the name that most programs read decides where
 * endings are named that pass. */
static void test_harmless_names(void)
{
    static const char *const harmless[] = {NAMED("filename=\"x.exe.txt\""),
                                           NAMED("filename=exe"),
                                           NAMED("filename=\"exe.txt\""),
                                           NAMED("filename=x.exes"),
                                           NAMED("filename*=utf-8''b%C3%BCcher.txt"),
                                           "Content-Type: text/plain\r\nContent-Description: x.exe\r\n\r\nMZ\r\n"};
    for (size_t at = 0; at < G_N_ELEMENTS(harmless); at++) {
        g_autofree char *mail = g_strconcat(HEADER, harmless[at], NULL);
        g_free(filtered(mail, &(ContentRules){.filter_extensions = exes}, CONTENT_KEPT, ""));
    }
    const ContentRules only_png = {.pass_extensions = pngs};
    g_free(filtered(HEADER NAMED("filename=\"a; b.png\""), &only_png, CONTENT_KEPT, ""));
    g_free(filtered(HEADER NAMED("filename=\"a%2Eb.png\""), &only_png, CONTENT_KEPT, ""));
    g_free(filtered(HEADER NAMED("filename=\"=?utf-8?b?w6QucG5n?=\""), &only_png, CONTENT_KEPT, ""));
    g_free(filtered(HEADER NAMED("filename*0=\"a.p\"; filename*1=\"ng\""), &only_png, CONTENT_KEPT, ""));
    g_free(filtered(HEADER NAMED("filename=a.png; filename=a.exe"), &only_png, CONTENT_REFUSED, NULL));
}

/* A message that is encoded, though none may be, is looked into. */
static void test_encoded_message(void)
{
    const char *inner = "Subject: in\r\nContent-Type: multipart/mixed; boundary=y\r\n\r\n--y\r\n" TEXT "--y\r\n" EXE
                        "--y--\r\n";
    const ContentRules rules = {.filter_extensions = exes};
    g_autofree char *base64 = g_base64_encode((const guchar *)inner, strlen(inner));
    g_autofree char *whole = g_strconcat(
        HEADER "Content-Type: multipart/mixed; boundary=x\r\n\r\n" PART(
            TEXT) "--x\r\nContent-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n",
        base64, "\r\n--x--\r\n", NULL);
    g_autofree char *left = filtered(whole, &rules, CONTENT_CHANGED, "application/octet-stream, Run.EXE");
    g_assert_null(strstr(left, base64));
    g_assert_null(strstr(left, "MZ"));
    g_assert_nonnull(strstr(left, "Subject: in\r\n"));
    g_assert_nonnull(strstr(left, "na\303\257ve"));
    g_free(filtered(whole, &(ContentRules){.filter_extensions = pngs}, CONTENT_KEPT, ""));
    g_free(filtered(whole, &(ContentRules){.filter_types = only_image}, CONTENT_KEPT, ""));
    /* One in another, until nobody looks on. */
    g_autofree char *nested = g_strdup("Subject: x\r\n\r\nx\r\n");
    for (unsigned depth = 1; depth <= 12; depth++) {
        g_autofree char *code = g_base64_encode((const guchar *)nested, strlen(nested));
        g_free(nested);
        nested = g_strconcat(HEADER "Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n", code,
                             "\r\n", NULL);
        g_free(filtered(nested, &rules, depth <= 8 ? CONTENT_KEPT : CONTENT_REFUSED, NULL));
    }
}

static char *many_parts(unsigned parts)
{
    GString *text = g_string_new(HEADER "Content-Type: multipart/mixed; boundary=x\r\n\r\n");
    for (unsigned at = 1; at < parts; at++)
        g_string_append(text, "--x\r\n\r\n\r\n");
    g_string_append(text, "--x\r\n" EXE "--x--\r\n");
    return g_string_free(text, FALSE);
}

/* No file comes through because a message has more parts than are looked at, also in messages that are encoded. */
static void test_too_many_parts(void)
{
    const ContentRules rules = {.filter_extensions = exes};
    g_autofree char *few = many_parts(MIME_ALL_PARTS - 1), *many = many_parts(MIME_ALL_PARTS + 1);
    g_autofree char *left = filtered(few, &rules, CONTENT_CHANGED, "application/octet-stream, Run.EXE");
    g_assert_null(strstr(left, "MZ"));
    g_free(filtered(many, &rules, CONTENT_REFUSED,
                    "The message has more than 1000 parts, and they are not looked at."));
    g_free(filtered(many, &(ContentRules){.pass_types = texts}, CONTENT_REFUSED, NULL));
    g_free(filtered(many, &(ContentRules){.html_to_text = true}, CONTENT_KEPT, ""));

    g_autofree char *half = many_parts(MIME_ALL_PARTS * 2 / 5);
    g_autofree char *code = g_base64_encode((const guchar *)half, strlen(half));
    g_autoptr(GString) thrice = g_string_new(HEADER "Content-Type: multipart/mixed; boundary=z\r\n\r\n");
    for (unsigned at = 0; at < 3; at++)
        g_string_append_printf(thrice, "--z\r\nContent-Type: message/rfc822\r\n"
                               "Content-Transfer-Encoding: base64\r\n"
                               "\r\n%s\r\n", code);
    g_string_append(thrice, "--z--\r\n");
    g_free(filtered(thrice->str, &rules, CONTENT_CHANGED,
                    "application/octet-stream, Run.EXE; application/octet-stream, "
                    "Run.EXE; message/rfc822"));
}

/* Readers do not agree which of two types counts, so what would pass as one must not hide the other. */
static void test_two_types(void)
{
    static const char mail[] = HEADER "Content-Type: multipart/mixed; boundary=x\r\nContent-Type: text/plain\r\n\r\n"
                               PART(TEXT) PART(IMAGE) "--x--\r\n";
    g_autofree char *left = filtered(mail, &(ContentRules){.pass_types = texts}, CONTENT_CHANGED, "image/png, cat.png");
    g_assert_cmpstr(left, ==, HEADER TEXT);
    g_autofree char *part = filtered(MIXED(PART(TEXT) PART("Content-Type: text/plain\r\n" IMAGE)),
                                     &(ContentRules){.filter_types = images}, CONTENT_CHANGED, NULL);
    g_assert_cmpstr(part, ==, HEADER TEXT);
    g_free(filtered(HEADER "Content-Type: image/gif\r\n" TEXT, &(ContentRules){.filter_types = images}, CONTENT_REFUSED,
                    NULL));
}

/* Some readers decode encoded words where there are none by the standard. */
static void test_encoded_types(void)
{
    static const char *const types[] = {
        "=?utf-8?q?text/html?=", "=?us-ascii?B?dGV4dC9odG1s?=; charset=utf-8",
        "text/=?utf-8?q?html?=", "=?utf-8?q?text?= =?utf-8?q?/html=3B_charset=3Dutf-8?="};
    for (size_t at = 0; at < G_N_ELEMENTS(types); at++) {
        g_autofree char *part = g_strconcat("Content-Type: ", types[at], "\r\n\r\n<p>one<br>two &amp; three</p>\r\n",
                                            NULL);
        g_autofree char *mail = g_strconcat(
            HEADER "Content-Type: multipart/mixed; boundary=\"x\"\r\n\r\n" PART(TEXT) "--x\r\n", part, "--x--\r\n",
            NULL);
        g_autofree char *left = filtered(mail, &(ContentRules){.filter_types = htmls}, CONTENT_CHANGED, "text/html");
        g_assert_cmpstr(left, ==, HEADER TEXT);
        g_autofree char *whole = g_strconcat(HEADER, part, NULL);
        g_free(filtered(whole, &(ContentRules){.filter_types = htmls}, CONTENT_REFUSED, NULL));
        g_autofree char *text = filtered(whole, &(ContentRules){.html_to_text = true}, CONTENT_CHANGED, NULL);
        g_assert_cmpstr(text, ==, HEADER "Content-Type: text/plain; charset=us-ascii\r\n\r\none\r\ntwo & three\r\n");
    }
    g_autofree char *parts = filtered(
        MIXED(PART(TEXT) PART("Content-Type: =?utf-8?q?multipart/mixed=3B_boundary=3Dy?=\r\n\r\n--y\r\n" TEXT
                              "--y\r\n" EXE "--y--\r\n")),
        &(ContentRules){.filter_extensions = exes}, CONTENT_CHANGED, "application/octet-stream, Run.EXE");
    g_assert_cmpstr(parts, ==, MIXED(PART(TEXT) PART(TEXT)));
    const char *inner = "Content-Type: multipart/mixed; boundary=y\r\n\r\n--y\r\n" EXE "--y--\r\n";
    g_autofree char *base64 = g_base64_encode((const guchar *)inner, strlen(inner));
    g_autofree char *message = g_strconcat(HEADER "Content-Type: multipart/mixed; boundary=\"x\"\r\n\r\n" PART(
                                               TEXT) "--x\r\n"
                                                     "Content-Type: message/rfc822\r\n"
                                                     "Content-Transfer-Encoding: =?utf-8?q?base64?=\r\n\r\n",
                                           base64, "\r\n--x--\r\n", NULL);
    g_autofree char *left = filtered(message, &(ContentRules){.filter_extensions = exes}, CONTENT_CHANGED, NULL);
    g_assert_cmpstr(left, ==, HEADER TEXT);
}

/* Readers do not agree where the parts of such a multipart begin: Python and Mutt split it at lines of two dashes where
 * the boundary is empty, Alpine at "---" where there is none, and of two some take the first and some the last. */
static void test_uncertain_boundaries(void)
{
    static const struct {
        const char *parameters, *delimiter;
    } odd[] = {{"; boundary=\"\"", "--"},
               {"; boundary=\" \"", "--"},
               {"; boundary=", "--"},
               {"", "---"},
               {"; boundary=a; boundary=b", "--b"},
               {"; boundary=a; boundary=b", "--a"},
               {"; boundary=a; boundary*=utf-8''b", "--b"},
               {"; boundary=\"=?utf-8?q?b?=\"", "--b"},
               {"; boundary=a =?utf-8?q?=3B_boundary=3Db?=", "--b"}};
    const ContentRules rules = {.filter_extensions = exes};
    for (size_t at = 0; at < G_N_ELEMENTS(odd); at++) {
        g_autofree char *inner = g_strdup_printf(
            "Content-Type: multipart/mixed%s\r\n\r\n%s\r\n" TEXT "%s\r\n" EXE "%s--\r\n", odd[at].parameters,
            odd[at].delimiter, odd[at].delimiter, odd[at].delimiter);
        g_autofree char *whole = g_strconcat(HEADER, inner, NULL);
        g_autofree char *mail = g_strconcat(
            HEADER "Content-Type: multipart/mixed; boundary=\"x\"\r\n\r\n" PART(TEXT) "--x\r\n", inner, "--x--\r\n",
            NULL);
        g_test_message("%s", odd[at].parameters);
        g_free(filtered(
            whole, &rules, CONTENT_REFUSED,
            "The message is multipart/mixed: readers may find other parts in it than those that are looked at."));
        g_free(filtered(whole, &(ContentRules){.collapse_alternatives = true}, CONTENT_KEPT, ""));
        g_autofree char *left = filtered(mail, &rules, CONTENT_CHANGED, "multipart/mixed");
        g_assert_cmpstr(left, ==, HEADER TEXT);
    }
    g_free(filtered(HEADER
                    "Content-Type: multipart/mixed; boundary*0=\"a b\"; boundary*1*=%20c; boundary=\"a b c \"\r\n\r\n"
                    "--a b c\r\n" TEXT "--a b c--\r\n",
                    &rules, CONTENT_KEPT, ""));
}

/* Some readers go on behind a line that is no field. */
static void test_broken_head(void)
{
    const ContentRules rules = {.filter_extensions = exes};
    g_autofree char *left = filtered(MIXED(PART(TEXT) PART("A: b\r\nno field\r\n" EXE) PART("no field\r\n" EXE)),
                                     &rules, CONTENT_CHANGED,
                                     "application/octet-stream, Run.EXE; application/octet-stream, Run.EXE");
    g_assert_cmpstr(left, ==, HEADER TEXT);
    g_free(filtered(HEADER "no field\r\n" EXE, &rules, CONTENT_REFUSED, NULL));
    g_free(filtered("no field\r\n" EXE, &rules, CONTENT_KEPT, "")); /* a mail that has no header at all */
    const char *harmless = MIXED(PART(TEXT) PART("A: b\r\nno field\r\n\r\n" EXE) PART("\r\n" EXE));
    g_autofree char *kept = filtered(harmless, &rules, CONTENT_KEPT, "");
    g_assert_cmpstr(kept, ==, harmless);
}

static void test_refused(void)
{
    g_autofree char *whole = filtered(HEADER IMAGE, &(ContentRules){.filter_types = images}, CONTENT_REFUSED,
                                      "The message is image/png: its type is one that the list does not take.");
    g_assert_cmpstr(whole, ==, HEADER IMAGE);
    g_free(filtered(MIXED(PART(IMAGE) PART(IMAGE)), &(ContentRules){.filter_types = images}, CONTENT_REFUSED,
                    "The message holds nothing that the list takes."));
    g_free(filtered(MIXED(PART(TEXT)), &(ContentRules){.filter_types = mixed}, CONTENT_REFUSED, NULL));
    g_free(filtered(MIXED(PART(TEXT)), &(ContentRules){.pass_types = only_image}, CONTENT_REFUSED, NULL));
}

#define ALTERNATIVE HEADER "Content-Type: multipart/alternative; boundary=x\r\n\r\n" PART(TEXT) PART(HTML) "--x--\r\n"

static void test_alternatives(void)
{
    g_autofree char *left = filtered(ALTERNATIVE, &(ContentRules){.collapse_alternatives = true}, CONTENT_CHANGED,
                                     "text/html");
    g_assert_cmpstr(left, ==, HEADER TEXT);
    g_autofree char *inside = filtered(
        MIXED(PART("Content-Type: multipart/alternative; boundary=y\r\n\r\n--y\r\n" TEXT "--y\r\n" HTML "--y--\r\n")
              PART(IMAGE)),
        &(ContentRules){.collapse_alternatives = true}, CONTENT_CHANGED, "text/html");
    g_assert_cmpstr(inside, ==, MIXED(PART(TEXT) PART(IMAGE)));
}

static GString *shout(const GString *html, void *data, GError **error)
{
    if (data) {
        fail(error, FAIL_LATER, "broken");
        return NULL;
    }
    return g_string_new("LOUD\n");
}

static void test_html(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *left = filtered(HEADER HTML, &(ContentRules){.html_to_text = true}, CONTENT_CHANGED, NULL);
    g_assert_cmpstr(left, ==, HEADER "Content-Type: text/plain; charset=us-ascii\r\n\r\none\r\ntwo & three\r\n");
    g_autofree char *more = filtered(
        MIXED(PART(TEXT) PART("Content-Type: text/html; charset=iso-8859-1\r\n\r\n<p>caf\xe9 = "
                              "well, some more</p>\r\n") PART(EXE)),
        &(ContentRules){.html_to_text = true}, CONTENT_CHANGED, "");
    g_assert_cmpstr(more, ==,
                    MIXED(PART(TEXT) PART("Content-Type: text/plain; charset=iso-8859-1\r\n"
                                          "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
                                          "caf=E9 =3D well, some more\r\n\r\n") PART(EXE)));
    g_free(filtered(MIXED(PART(TEXT) PART("Content-Type: text/html\r\n\r\n")), &(ContentRules){.html_to_text = true},
                    CONTENT_CHANGED, "")); /* of nothing */
    g_autofree char *loud = filtered(HEADER HTML, &(ContentRules){.html_to_text = true, .convert = shout},
                                     CONTENT_CHANGED, NULL);
    g_assert_nonnull(strstr(loud, "LOUD"));
    g_autoptr(GBytes) octets = g_bytes_new_static(HEADER HTML, strlen(HEADER HTML));
    g_autoptr(Message) message = message_new(octets);
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    ContentResult result;
    const ContentRules broken = {.html_to_text = true, .convert = shout, .data = lines};
    g_assert_false(content_filter(message, &broken, &result, lines, &error));
    g_assert_error(error, FAIL, FAIL_LATER);
    g_autoptr(GBytes) same = message_octets(message);
    g_assert_true(g_bytes_equal(same, octets));
}

/* A NUL byte ends no text. */
static void test_html_with_nul(void)
{
    static const char mail[] = HEADER "Content-Type: text/html\r\n\r\n<p>before\0</p><p>be\0hind</p>\r\n";
    g_autoptr(GBytes) octets = g_bytes_new_static(mail, sizeof mail - 1);
    g_autoptr(Message) message = message_new(octets);
    ContentResult result;
    g_assert_true(content_filter(message, &(ContentRules){.html_to_text = true}, &result, NULL, NULL));
    g_autoptr(GBytes) left = message_octets(message);
    g_autoptr(GPtrArray) parts = mime_parts(g_bytes_get_data(left, NULL), g_bytes_get_size(left));
    GString *text = mime_text(parts->pdata[0], 1000);
    g_assert_cmpstr(text->str, ==, "before\357\277\275\n\nbe\357\277\275hind\n");
    g_string_free(text, TRUE);
}

static void test_inside(void)
{
    g_autofree char *left = filtered(
        MIXED(PART(TEXT) PART("Content-Type: message/rfc822\r\n\r\nFrom: b@example.org\r\nSubject: in\r\n"
                              "Content-Type: multipart/mixed; boundary=y\r\n\r\n--y\r\n" TEXT "--y\r\n" EXE
                              "--y--\r\n")),
        &(ContentRules){.filter_extensions = exes}, CONTENT_CHANGED, NULL);
    g_assert_nonnull(strstr(left, "From: b@example.org\r\nSubject: in\r\n"));
    g_assert_null(strstr(left, "MZ"));
    g_autofree char *signed_one = filtered(
        HEADER "Content-Type: multipart/signed; boundary=x\r\n\r\n" PART(EXE) PART(TEXT) "--x--\r\n",
        &(ContentRules){.filter_extensions = exes, .collapse_alternatives = true}, CONTENT_CHANGED, NULL);
    g_assert_null(strstr(signed_one, "MZ"));
}

/* A file does not come through as the text of another part, where it would be one when that part is written anew. */
static void test_hidden_delimiters(void)
{
    const ContentRules rules = {.filter_extensions = exes, .html_to_text = true};
    const char *hidden = MIXED(PART(TEXT)
                                   PART("Content-Type: text/html\r\n\r\n<pre>\r\n\r\n --x\r\n" EXE "</pre>\r\n"));
    g_free(filtered(hidden, &rules, CONTENT_CHANGED, ""));
    hidden = MIXED(PART(TEXT) PART("Content-Type: text/html\r\n\r\n<pre>\r\n\r\n&#45;-x\r\n" EXE "</pre>\r\n"));
    g_free(filtered(hidden, &rules, CONTENT_REFUSED, NULL));
    const char *inner = "Content-Type: multipart/mixed; boundary=y\r\n\r\n--y\r\n" EXE "--y\r\n\r\ntext\r\n--x\r\n" EXE;
    g_autofree char *base64 = g_base64_encode((const guchar *)inner, strlen(inner));
    g_autofree char *mail = g_strconcat(
        HEADER "Content-Type: multipart/mixed; boundary=\"x\"\r\n\r\n" PART(TEXT)
            PART("Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n"),
        base64, "\r\n--x--\r\n", NULL);
    g_free(filtered(mail, &rules, CONTENT_REFUSED, NULL));
}

/* A part that stays keeps its bytes, whatever they are, and so does what stands between parts. */
#define ODD "Content-Type: a/b (x); y=z\r\nX-Y:\t\xff\r\n\tz \r\n\r\n\xff\r\r\n--xy\r\n--\r\n\n \r\n"
#define SIGNED                                                                                                         \
    "Content-Type: Multipart/Signed; boundary=\"y z\"\r\n\r\nbefore\r\n--y z \r\nContent-Type: multipart/alternative;" \
    " boundary=z\r\n\r\n--z\r\n" TEXT "--z\r\n" HTML "--z--\r\n\r\n--y z\t\r\n" ODD "--y z--\r\nbehind\r\n\r\n"

static void test_bytes(void)
{
    const ContentRules rules = {.filter_extensions = exes, .html_to_text = true, .collapse_alternatives = true};
    static const char before[] = MIXED(PART(ODD) PART(EXE) PART(SIGNED) "--x \t\r\n" ODD PART(EXE)) "behind\r\n";
    static const char after[] = MIXED(PART(ODD) PART(SIGNED) "--x \t\r\n" ODD) "behind\r\n";
    g_autofree char *left = filtered(before, &rules, CONTENT_CHANGED, NULL);
    g_assert_cmpstr(left, ==, after);
    g_autofree char *inside = filtered(
        MIXED(PART(TEXT) PART("Content-Type: message/rfc822\r\nA: b\r\n\r\n" MIXED(PART(ODD) PART("\r\n") PART(EXE)))),
        &rules, CONTENT_CHANGED, NULL);
    g_assert_cmpstr(
        inside, ==,
        MIXED(PART(TEXT) PART("Content-Type: message/rfc822\r\nA: b\r\n\r\n" MIXED(PART(ODD) PART("\r\n")))));
}

/* Where the mail breaks off, what is left is still a mail. */
static void test_unclosed(void)
{
    const ContentRules rules = {.filter_extensions = exes};
    g_autofree char *last = filtered(HEADER "Content-Type: multipart/mixed; boundary=\"x\"\r\n\r\n" PART(TEXT)
                                         PART(TEXT) PART(EXE),
                                     &rules, CONTENT_CHANGED, NULL);
    g_assert_cmpstr(last, ==, HEADER "Content-Type: multipart/mixed; boundary=\"x\"\r\n\r\n" PART(TEXT) PART(TEXT));
    g_autofree char *end = filtered(HEADER "Content-Type: multipart/mixed; boundary=\"x\"\r\n\r\n" PART(EXE) PART(TEXT)
                                        PART("A: b"),
                                    &rules, CONTENT_CHANGED, NULL);
    g_assert_cmpstr(end, ==,
                    HEADER "Content-Type: multipart/mixed; boundary=\"x\"\r\n\r\n" PART(TEXT) PART("A: b\r\n"));
    g_autofree char *inner = filtered(
        MIXED(PART("Content-Type: multipart/mixed; boundary=xy\r\n\r\n--xy\r\n" TEXT "--xy\r\n" EXE) PART(TEXT)),
        &rules, CONTENT_CHANGED, NULL);
    g_assert_cmpstr(inner, ==, MIXED(PART(TEXT) PART(TEXT)));
    const char *blank = "Content-Type: multipart/mixed; boundary=xy\r\n\r\n--xy\r\n" EXE "--xy\r\n" TEXT "--xy\r\n" TEXT
                        "--xy\r\n\r\n";
    g_autofree char *mail = g_strconcat(
        HEADER "Content-Type: multipart/mixed; boundary=\"x\"\r\n\r\n" PART(TEXT) "--x\r\n", blank, "--x--\r\n", NULL);
    g_autofree char *once = filtered(mail, &rules, CONTENT_CHANGED, NULL);
    g_assert_true(g_str_has_suffix(once, TEXT "--xy\r\n\r\n--x--\r\n"));
}

/* Nobody looks into parts that lie too deep, so they do not stay on a list that takes out files. */
static void test_deep(void)
{
    for (unsigned levels = MIME_ALL_DEPTH - 1; levels <= MIME_ALL_DEPTH + 1; levels++) {
        g_autoptr(GString) mail = g_string_new(HEADER);
        for (unsigned at = 0; at < levels; at++)
            g_string_append_printf(
                mail, "Content-Type: multipart/mixed; boundary=b%u\r\n\r\n--b%u\r\n" TEXT "--b%u\r\n", at, at, at);
        g_string_append(mail, EXE);
        g_autofree char *left = filtered(mail->str, &(ContentRules){.filter_extensions = exes}, CONTENT_CHANGED, NULL);
        g_assert_null(strstr(left, "MZ"));
        g_free(filtered(mail->str, &(ContentRules){.collapse_alternatives = true}, CONTENT_KEPT, ""));
    }
}

/* No mail of the world makes it fail, and what is not changed keeps its bytes. */
static void try_one(GBytes *mail, const char *name, void *data)
{
    g_autoptr(GBytes) octets = corpus_wire(mail);
    const ContentRules rules = {.filter_types = images, .filter_extensions = exes, .collapse_alternatives = true,
                                .html_to_text = true};
    g_autoptr(GError) error = NULL;
    g_autoptr(Message) message = message_new(octets);
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    ContentResult result;
    g_assert_true(content_filter(message, &rules, &result, lines, &error));
    g_autoptr(GBytes) left = message_octets(message);
    g_assert_true(result == CONTENT_CHANGED || g_bytes_equal(left, octets));
    if (result != CONTENT_CHANGED)
        return;
    g_ptr_array_set_size(lines, 0); /* a second time there is nothing left to take */
    g_assert_true(content_filter(message, &rules, &result, lines, &error));
    g_assert_cmpint(lines->len, ==, 0);
}

static void test_corpus(gconstpointer folder)
{
    g_assert_cmpuint(corpus_each(folder, try_one, NULL), >, 80);
}

SUITE("content_filter")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/content filter/types", test_types);
    g_test_add_func("/content filter/one part that is left stands alone", test_one_part_that_is_left_stands_alone);
    g_test_add_func("/content filter/endings", test_endings);
    g_test_add_func("/content filter/hidden names", test_hidden_names);
    g_test_add_func("/content filter/harmless names", test_harmless_names);
    g_test_add_func("/content filter/encoded message", test_encoded_message);
    g_test_add_func("/content filter/too many parts", test_too_many_parts);
    g_test_add_func("/content filter/two types", test_two_types);
    g_test_add_func("/content filter/encoded types", test_encoded_types);
    g_test_add_func("/content filter/uncertain boundaries", test_uncertain_boundaries);
    g_test_add_func("/content filter/broken head", test_broken_head);
    g_test_add_func("/content filter/refused", test_refused);
    g_test_add_func("/content filter/alternatives", test_alternatives);
    g_test_add_func("/content filter/html", test_html);
    g_test_add_func("/content filter/html with NUL", test_html_with_nul);
    g_test_add_func("/content filter/inside", test_inside);
    g_test_add_func("/content filter/bytes", test_bytes);
    g_test_add_func("/content filter/unclosed", test_unclosed);
    g_test_add_func("/content filter/hidden delimiters", test_hidden_delimiters);
    g_test_add_func("/content filter/deep", test_deep);
    g_test_add_data_func("/content filter/corpus lists", "lists", test_corpus);
    g_test_add_data_func("/content filter/corpus mime", "mime", test_corpus);
    return g_test_run();
}
