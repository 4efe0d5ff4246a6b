/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mbox.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "t/suite.h"

/* All mails of a mailbox, each with "|" behind it. */
static char *read_all(const char *text, size_t length, GError **error)
{
    FILE *stream = length > 0 ? fmemopen((void *)text, length, "r") : fopen("/dev/null", "r");
    g_autoptr(MboxReader) reader = mbox_reader_new(stream);
    GString *mails = g_string_new(NULL);
    for (MboxMail mail; mbox_reader_next(reader, &mail, error) && mail.octets;) {
        g_assert_cmpint(mail.offset, <=, length);
        g_string_append_len(mails, mail.octets->str, (gssize)mail.octets->len);
        g_string_append_c(mails, '|');
    }
    fclose(stream);
    return g_string_free(mails, FALSE);
}

static void assert_mails(const char *text, const char *wanted)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *found = read_all(text, strlen(text), &error);
    g_assert_no_error(error);
    g_assert_cmpstr(found, ==, wanted);
}

#define FROM "From a@b Fri Nov 20 13:20:00 2026\n"

static void reads_what_programs_write(void)
{
    assert_mails(FROM "S: x\n\ntext\n\n" FROM "S: y\n\n", "S: x\n\ntext\n|S: y\n|");
    assert_mails("\n\n" FROM "S: x\n\ntext", "S: x\n\ntext|");
    assert_mails("From a at b  Fri Nov 20 13:20:00 2026\r\nS: x\r\n\r\ntext\r\n\r\n", "S: x\n\ntext\n|");
    assert_mails(FROM "S: x\n\n>From here\n>>From there\n> From\n\n", "S: x\n\nFrom here\n>From there\n> From\n|");
    /* Nobody quoted it, and it is no line of a mailbox. */
    assert_mails(FROM "S: x\n\n\nFrom here on it is cold\n\n", "S: x\n\n\nFrom here on it is cold\n|");
    assert_mails(FROM "S: x\n\ntext\n" FROM "no mail\n\n", "S: x\n\ntext\n" FROM "no mail\n|");
    assert_mails(FROM, "|");
    assert_mails("\n", "");
}

/* From_ lines without a time that can be read, each at the start and behind another mail. */
static void unusual_from_lines_begin_mails(void)
{
    static const char *const lines[] = {
        "From mboxrd@z Thu Jan  1 00:00:00 1970", "From ",
        "From - ", "From -", "From MAILER-DAEMON", "From anne@example.org",
        "From anne@example.org 20 Nov 2026 13:20:00 +0100", "From anne@example.org Nov 20 13:20:00 2026",
        "From - 8/27/2023", "From anne@example.org 8/27/2023 11:20 AM", "From 2023-08-27T11:20:00Z",
        "From\tanne@example.org\tFri Nov 20 13:20:00 2026", "From anne at example.org  20 Nov 2026",
        "From a@b Mon Jan  1 00:00:00 1900", "From a@b Wed Dec 31 23:59:59 1969", "From a@b\r",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
        const char *form = "\xef\xbb\xbf%s\nS: x\n\ntext\n\n%s\nS: y\n\n" FROM "S: z\n\n";
        g_autofree char *text = g_strdup_printf(form, lines[i], lines[i]);
        g_test_message("%s", lines[i]);
        assert_mails(text, "S: x\n\ntext\n|S: y\n|S: z\n|");
    }
    assert_mails("", "");
    assert_mails("\xef\xbb\xbf", "");
}

/* Text that begins so stays text; where it may be a mail, its line is told. */
static void doubtful_lines_are_told(void)
{
    static const char text[] = FROM "S: x\n\n"
                                    "From - \nno field\n\n" /* 4 */
                                    "From here on it is\nNote: cold\n" /* 7, is told */
                                    "From 8:30 to 9\nand\n" /* 9 */
                                    FROM "S: y\n" /* 11, is told: no empty line is before it */
                                    "From " FROM "\n" /* 13 */
                                    "From Monday to 2027\n" /* 15: the file ends here */;
    const char *lines;
    g_autoptr(GError) error = NULL;
    FILE *stream = fmemopen((void *)text, strlen(text), "r");
    g_autoptr(MboxReader) reader = mbox_reader_new(stream);
    MboxMail mail;
    g_assert_true(mbox_reader_next(reader, &mail, &error));
    g_assert_cmpstr(mail.octets->str, ==, text + strlen(FROM));
    g_assert_true(mbox_reader_next(reader, &mail, &error) && !mail.octets);
    g_assert_cmpuint(mbox_reader_doubts(reader, &lines), ==, 2);
    g_assert_cmpstr(lines, ==, "7, 11");
    fclose(stream);
}

static void tells_what_is_no_mailbox(void)
{
    g_autoptr(GError) error = NULL;
    static const char text[] = "Subject: x\n\ntext\n";
    g_autofree char *found = read_all(text, strlen(text), &error);
    g_assert_error(error, FAIL, FAIL_NEVER);
}

static void reads_what_it_wrote(void)
{
    static const char *const mails[] = {"S: x\n\nFrom a\n>From b\n\n\n", "S: y\n\nno end", "", "S: z\n\n"};
    static const char *const wanted[] = {"S: x\n\nFrom a\n>From b\n\n\n", "S: y\n\nno end\n", "", "S: z\n\n"};
    g_autoptr(GString) box = g_string_new(NULL), all = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(mails); i++) {
        mbox_append(box, i == 0 ? "" : "a b@c", (1795180800 + (int64_t)i) * CLOCK_SECOND, mails[i], strlen(mails[i]));
        g_string_append_printf(all, "%s|", wanted[i]);
    }
    assert_mails(box->str, all->str);
    g_assert_true(g_str_has_prefix(box->str, "From MAILER-DAEMON Fri Nov 20 13:20:00 2026\n"));
    g_assert_nonnull(strstr(box->str, "\nFrom a_b@c Fri Nov 20 13:20:01 2026\n"));
}

/* A line longer than what is read at once, with NULs, which begins like a quoted one in its midst. */
static void long_lines_stay_whole(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) text = g_string_new(FROM);
    size_t head = text->len;
    while (text->len - head < 65535)
        g_string_append_c(text, '\0');
    g_string_append(text, ">From within\r\n\r\n");
    FILE *stream = fmemopen(text->str, text->len, "r");
    g_autoptr(MboxReader) reader = mbox_reader_new(stream);
    MboxMail mail;
    g_assert_true(mbox_reader_next(reader, &mail, &error));
    g_assert_cmpint(mail.octets->len, ==, 65535 + strlen(">From within\n"));
    g_assert_cmpint(mail.from_time, ==, 1795180800 * CLOCK_SECOND);
    fclose(stream);
}

SUITE("mbox")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mbox/reads what programs write", reads_what_programs_write);
    g_test_add_func("/mbox/unusual From_ lines begin mails", unusual_from_lines_begin_mails);
    g_test_add_func("/mbox/doubtful lines are told", doubtful_lines_are_told);
    g_test_add_func("/mbox/tells what is no mailbox", tells_what_is_no_mailbox);
    g_test_add_func("/mbox/reads what it wrote", reads_what_it_wrote);
    g_test_add_func("/mbox/long lines stay whole", long_lines_stay_whole);
    return g_test_run();
}
