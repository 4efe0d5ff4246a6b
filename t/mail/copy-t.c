/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/copy.h"

#include <string.h>

#include "base/fail.h"
#include "base/secret.h"
#include "t/suite.h"

static GArray *new_holes(void)
{
    return g_array_new(FALSE, FALSE, sizeof(CopyHole));
}

/* The copy for a recipient, put together. */
static char *compose(GBytes *octets, const char *holes, const char *address, const char *name)
{
    g_autoptr(GError) error = NULL;
    size_t length, done = 0;
    const char *text = g_bytes_get_data(octets, &length);
    g_autoptr(CopyPlan) plan = copy_plan_new(holes, length, &error);
    g_assert_no_error(error);
    g_autoptr(GString) line = g_string_new(NULL);
    copy_recipient_write(line, address, "sender@example.com", "token", name, *name == 0);
    CopyRecipient who = copy_recipient_read(line->str, line->len);
    g_autoptr(GArray) fills = copy_fill(plan, &who);
    GString *copy = g_string_new(NULL);
    for (guint at = 0; at < fills->len; at++) {
        const CopyFill *fill = &g_array_index(fills, CopyFill, at);
        g_string_append_len(copy, text + done, (gssize)(fill->offset - done));
        g_string_append_len(copy, fill->text, (gssize)fill->length);
        done = fill->offset;
    }
    g_string_append_len(copy, text + done, (gssize)(length - done));
    return g_string_free(copy, FALSE);
}

static char *copy_of(const char *format, CopyField field, CopyEncoding encoding, const char *address, const char *name)
{
    g_autofree char *secret = random_word();
    g_autofree char *mark = copy_mark(secret, field, encoding);
    g_assert_cmpuint(strlen(mark), ==, COPY_MARK_LENGTH);
    g_autoptr(GString) text = g_string_new(format);
    g_string_replace(text, "@@", mark, 0);
    g_autoptr(GBytes) octets = g_bytes_new(text->str, text->len);
    g_autoptr(GArray) holes = new_holes();
    g_autoptr(GBytes) cut = copy_cut(secret, octets, 0, holes);
    g_autofree char *written = copy_holes_write(holes);
    return compose(cut, written, address, name);
}

static void assert_copy(const char *format, CopyField field, CopyEncoding encoding, const char *name,
                        const char *expected)
{
    g_autofree char *copy = copy_of(format, field, encoding, "anne@example.org", name);
    g_assert_cmpstr(copy, ==, expected);
}

static void test_fields(void)
{
    assert_copy("a @@ b @@", COPY_ADDRESS, COPY_ASCII, "", "a anne@example.org b anne@example.org");
    assert_copy("@@", COPY_NAME, COPY_UTF8, "Ann\xc3\xa9", "Ann\xc3\xa9");
    assert_copy("<@@>", COPY_NAME, COPY_UTF8, "", "<>");
    assert_copy("@@", COPY_NAME_OR_ADDRESS, COPY_UTF8, "", "anne@example.org");
    assert_copy("u/@@>", COPY_UNSUBSCRIBE, COPY_HEADER, "", "u/token>");
    assert_copy("To: @@\r\n", COPY_MAILBOX, COPY_HEADER, "Anne Person",
                "To: Anne Person\r\n <anne@example.org>\r\n");
    assert_copy("To: @@\r\n", COPY_MAILBOX, COPY_HEADER, "", "To: anne@example.org\r\n");
    assert_copy("nothing", COPY_NAME, COPY_UTF8, "x", "nothing");
}

static void test_encodings(void)
{
    assert_copy("@@", COPY_NAME, COPY_ASCII, "Ann\xc3\xa9", "Ann?");
    assert_copy("a @@ z", COPY_NAME, COPY_QP, "\xc3\xa9=", "a =\r\n=C3=A9=3D=\r\n z");
    assert_copy("a @@z", COPY_NAME, COPY_QP, "", "a z");
    assert_copy("@@", COPY_NAME, COPY_HEADER, "\xc3\xa9", "=?utf-8?b?w6k=?=");
}

/* The header of each copy says what its own text is. Names in its fields do not count: those are ASCII there. */
static void test_text(void)
{
    static const struct {
        const char *name, *expected;
    } cases[] = {{"Anne", "C: us-ascii T: 7bit To: Anne\r\n <anne@example.org>, Anne"},
                 {"", "C: us-ascii T: 7bit To: anne@example.org, "},
                 {"\xc3\xa9", "C: utf-8 T: 8bit To: =?utf-8?b?w6k=?=\r\n <anne@example.org>, \xc3\xa9"}};
    static const char text[] = "C:  T:  To: , ";
    g_autoptr(GBytes) octets = g_bytes_new_static(text, strlen(text));
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *copy =
            compose(octets, "3:text_charset:header 7:text_transfer:header 12:user_mailbox:header 14:user_name:utf8",
                    "anne@example.org", cases[at].name);
        g_assert_cmpstr(copy, ==, cases[at].expected);
    }
    g_autofree char *no_text =
        compose(octets, "3:text_charset:header 12:user_mailbox:header", "anne@example.org", "\xc3\xa9");
    g_assert_true(g_str_has_prefix(no_text, "C: us-ascii"));
}

/* No name brings a line of its own. */
static void test_injection(void)
{
    assert_copy("X: @@\r\n", COPY_NAME, COPY_HEADER, "a\r\nBcc: b\tc", "X: a  Bcc: b c\r\n");
    assert_copy("@@", COPY_NAME, COPY_UTF8, "a\n.\nb\xff", "a . b\xef\xbf\xbd");
}

static void test_only_marks_are_cut(void)
{
    g_autofree char *secret = random_word();
    g_autofree char *other = random_word();
    g_assert_cmpstr(secret, !=, other);
    g_autofree char *mark = copy_mark(other, COPY_NAME, COPY_UTF8);
    g_autofree char *text = g_strdup_printf("%s %s %sX99X %sX0", mark, secret, secret, secret);
    g_autoptr(GBytes) octets = g_bytes_new(text, strlen(text));
    g_autoptr(GArray) holes = new_holes();
    g_autoptr(GBytes) cut = copy_cut(secret, octets, 7, holes);
    g_assert_cmpuint(holes->len, ==, 0);
    g_assert_true(g_bytes_equal(cut, octets));
    g_autofree char *with = g_strconcat("abc", mark, NULL);
    g_autoptr(GBytes) more = g_bytes_new(with, strlen(with));
    g_autoptr(GBytes) left = copy_cut(other, more, 7, holes);
    g_assert_cmpuint(g_bytes_get_size(left), ==, 3);
    g_assert_cmpuint(g_array_index(holes, CopyHole, 0).offset, ==, 10);
    copy_set_encoding(other, with, COPY_QP);
    g_array_set_size(holes, 0);
    g_autoptr(GBytes) again = g_bytes_new(with, strlen(with));
    g_autoptr(GBytes) rest = copy_cut(other, again, 0, holes);
    g_assert_cmpint(g_array_index(holes, CopyHole, 0).encoding, ==, COPY_QP);
    g_assert_cmpint(g_array_index(holes, CopyHole, 0).field, ==, COPY_NAME);
}

static void assert_no_plan(const char *text)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(copy_plan_new(text, 100, &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
}

static void test_bad_plans(void)
{
    static const char *const bad[] = {
        "1",
        "1:",
        "1:user_name",
        "1:user_name:",
        "1:user_name:utf8:",
        "-1:user_name:utf8",
        "101:user_name:utf8",
        "1:user_nam:utf8",
        "1:user_name:utf9",
        "1:user_name:utf8 ",
        "2:user_name:utf8 1:user_name:utf8",
        "99999999999999999999:user_name:utf8",
    };
    for (size_t at = 0; at < G_N_ELEMENTS(bad); at++)
        assert_no_plan(bad[at]);
}

static void assert_part(const char *part, size_t length, const char *expected)
{
    g_autofree char *text = g_strndup(part, length);
    g_assert_cmpstr(text, ==, expected);
}

static void test_recipients(void)
{
    g_autoptr(GString) line = g_string_new(NULL);
    copy_recipient_write(line, "a@b", NULL, "", NULL, false);
    g_assert_cmpstr(line->str, ==, "a@b");
    g_string_truncate(line, 0);
    copy_recipient_write(line, "a@b", NULL, "", "N", false);
    g_assert_cmpstr(line->str, ==, "a@b\t\t\tN");
    g_string_truncate(line, 0);
    copy_recipient_write(line, "a@b", NULL, NULL, NULL, true);
    CopyRecipient who = copy_recipient_read(line->str, line->len);
    assert_part(who.address, who.address_length, "a@b");
    g_assert_true(who.named);
    who = copy_recipient_read("a@b\ts\t\tN", 8);
    g_assert_false(who.named);
    who = copy_recipient_read("a@b\ts\t\tN\tmore", 13);
    assert_part(who.address, who.address_length, "a@b");
    assert_part(who.sender, who.sender_length, "s");
    assert_part(who.token, who.token_length, "");
    assert_part(who.name, who.name_length, "N");
    who = copy_recipient_read("a@b", 3);
    assert_part(who.address, who.address_length, "a@b");
    g_assert_cmpuint(who.sender_length + who.token_length + who.name_length, ==, 0);
}

SUITE("copy")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mail/copy/fields", test_fields);
    g_test_add_func("/mail/copy/encodings", test_encodings);
    g_test_add_func("/copy/text", test_text);
    g_test_add_func("/mail/copy/injection", test_injection);
    g_test_add_func("/mail/copy/only marks are cut", test_only_marks_are_cut);
    g_test_add_func("/mail/copy/recipients", test_recipients);
    g_test_add_func("/mail/copy/bad plans", test_bad_plans);
    return g_test_run();
}
