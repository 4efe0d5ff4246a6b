/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/bounce/bounce.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "t/mail/corpus.h"
#include "t/suite.h"

/* "kind: address class status reason, ...", with " from origin" behind what is known to come from another address. */
static char *told(const char *mail)
{
    g_autoptr(Bounce) bounce = bounce_parse(mail, strlen(mail));
    GString *out = g_string_new(bounce_kind_name(bounce->kind));
    for (guint at = 0; at < bounce->recipients->len; at++) {
        const BounceRecipient *one = bounce->recipients->pdata[at];
        g_string_append_printf(out, "%s %s %s %s %s", at > 0 ? "," : ":", one->address, bounce_class_name(one->class),
                               one->status, one->reason);
        if (one->known_as)
            g_string_append_printf(out, " from %s", one->known_as);
    }
    return g_string_free(out, FALSE);
}

static void assert_told(const char *mail, const char *wanted)
{
    g_autofree char *is = told(mail);
    g_assert_cmpstr(is, ==, wanted);
}

#define DSN(fields)                                                                                                    \
    "From: MAILER-DAEMON@mx.example\nContent-Type: multipart/report; report-type=delivery-status; boundary=x\n\n"      \
    "--x\n\nSorry.\n--x\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example\n\n" fields           \
    "\n--x\nContent-Type: message/rfc822\n\nFrom: a@site.example\nTo: list@site.example\n\n"                           \
    "Final-Recipient: rfc822; wrong@site.example\nAction: failed\n--x--\n"

static void test_delivery_status(void)
{
    assert_told(DSN("Final-Recipient: rfc822; joe@example.com\nAction: failed\nStatus: 5.1.1\n"
                    "Diagnostic-Code: smtp; 550 5.1.1\n unknown user\n\n"
                    "Final-Recipient: RFC822;<ann@example.com>\nAction: failed\nStatus: 4.4.7\n\n"
                    "Final-Recipient: rfc822; bob@example.com\nAction: delayed\nStatus: 4.2.2\n\n"
                    "Final-Recipient: rfc822; sue@example.com\nAction: relayed\nStatus: 2.0.0\n"),
                "bounce: joe@example.com permanent 5.1.1 user-unknown, ann@example.com temporary 4.4.7 expired, "
                "bob@example.com delayed 4.2.2 mailbox-full");
    assert_told(DSN("Final-Recipient: rfc822; joe@example.com\nAction: delivered\nStatus: 2.0.0\n"), "success");
    assert_told(DSN("Original-Recipient: rfc822; was@example.com\nFinal-Recipient: x400; /S=joe/\nAction: failed\n"
                    "Status: 5.0.0\nDiagnostic-Code: smtp; 552 5.2.2 quota\n"),
                "bounce: was@example.com permanent 5.2.2 mailbox-full");
}

static void test_coded_addresses(void)
{
    assert_told(DSN("Original-Recipient: rfc822;joe+2Bx@example.com\nFinal-Recipient: rfc822;joe+x@example.com\n"
                    "Action: failed\nStatus: 5.1.1\n"),
                "bounce: joe+x@example.com permanent 5.1.1 user-unknown");
    assert_told(DSN("Original-Recipient: rfc822;joe+20@example.com\nFinal-Recipient: rfc822;joe+20@example.com\n"
                    "Action: failed\nStatus: 5.1.1\n"),
                "bounce: joe+20@example.com permanent 5.1.1 user-unknown");
    assert_told(DSN("Final-Recipient: utf-8; j\\x{F6}rg@example.com\nAction: failed\nStatus: 5.1.1\n"),
                "bounce: j\xc3\xb6rg@example.com permanent 5.1.1 user-unknown");
    assert_told(DSN("Final-Recipient: utf-8; j\xc3\xb6rg@example.com\nAction: failed\nStatus: 5.1.1\n"),
                "bounce: j\xc3\xb6rg@example.com permanent 5.1.1 user-unknown");
    assert_told(DSN("Final-Recipient: rfc822; @relay.example:joe@example.com\nAction: failed\nStatus: 5.1.1\n"),
                "bounce: joe@example.com permanent 5.1.1 user-unknown");
}

static void test_feedback(void)
{
    assert_told(
        "From: fbl@isp.example\nContent-Type: multipart/report; report-type=feedback-report; boundary=x\n\n"
        "--x\n\nAbuse.\n--x\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\n"
        "Original-Rcpt-To: <joe@example.com>\n--x\nContent-Type: message/rfc822\n\nTo: list@site.example\n\n--x--\n",
        "feedback: joe@example.com complaint  undefined");
}

static void test_dialects(void)
{
    assert_told("From: MAILER-DAEMON@mx.example\nSubject: Undelivered Mail Returned to Sender\n\n"
                "I'm sorry to have to inform you\n\n<joe@example.com> (expanded from <was@example.com>): host\n"
                "    mx.example.com[192.0.2.1] said: 450 4.2.1 over rate limit (in reply to RCPT TO)\n",
                "bounce: joe@example.com temporary 4.2.1 rate-limited from was@example.com");
    assert_told("From: MAILER-DAEMON@mx.example\nSubject: failure notice\n\nHi. This is the qmail-send program\n\n"
                "<joe@example.com>:\nSorry, no mailbox here by that name. (#5.1.1)\n\n"
                "--- Below this line is a copy of the message.\n\n<bad@example.com>:\nno\n",
                "bounce: joe@example.com permanent 5.1.1 user-unknown");
    assert_told("From: Mail Delivery System <Mailer-Daemon@mx.example>\nSubject: Mail delivery failed\n"
                "X-Failed-Recipients: joe@example.com, ann@example.com\n\n... The\nfollowing address(es) failed:\n\n"
                "  joe@example.com\n    mailbox is full\n  ann\n    Unrouteable address\n\n"
                "------ This is a copy of the message ------\n",
                "bounce: joe@example.com permanent  mailbox-full, ann@example.com permanent  mailbox-full");
    assert_told("From: Mail Delivery Subsystem <MAILER-DAEMON@mx.example>\nSubject: Returned mail\n\n"
                "   ----- Transcript of session follows -----\n>>> RCPT To:<joe@example.com>\n"
                "<<< 550 no\n550 5.1.1 <joe@example.com>... User unknown\n250 <ann@example.com>... Sent\n",
                "bounce: joe@example.com permanent 5.1.1 user-unknown");
    assert_told("From: postmaster@x.example\nSubject: Undeliverable: x\n\nYour message\n  To: list@site.example\n\n"
                "did not reach the following recipient(s):\n\nc=US;a= ;p=X;dda:SMTP=joe@example.com; on Fri\n"
                "    The recipient name is not recognized\n",
                "bounce: joe@example.com permanent  user-unknown");
    assert_told("From: postmaster@x.example\nSubject: Undeliverable: x\n\n"
                "Delivery has failed to these recipients or distribution lists:\n\n"
                "joe@example.com\nThe mailbox is full.\n\nann@example.com\nThe recipient was not found.\n",
                "bounce: joe@example.com permanent  mailbox-full, ann@example.com permanent  user-unknown");
}

static void test_delays(void)
{
    assert_told("From: Mail Delivery System <Mailer-Daemon@mx.example>\nSubject: Warning: message delayed\n\n"
                "The address to which the message has not yet been delivered is:\n\n  joe@example.com\n"
                "    Delay reason: 451 greylisted\n",
                "bounce: joe@example.com delayed  rate-limited");
}

static void test_no_failures(void)
{
    assert_told("From: joe@example.com\nSubject: Out of office\nAuto-Submitted: auto-replied\n\n"
                "I am away. Write to ann@example.com.\n",
                "auto-reply");
    assert_told("From: joe@example.com\nSubject: hello\n\nUnable to deliver message to <ann@example.com>?\n",
                "not-bounce");
    assert_told("From: postmaster@example.com\nSubject: failure notice\n\nIt failed. Ask postmaster@example.com.\n",
                "unrecognised");
    assert_told("", "unrecognised");
}

/* RFC 8098: a receipt is no failure, and nothing that a person has to read. */
static void test_receipts(void)
{
#define RECEIPT(type)                                                                                                  \
    "From: joe@example.com\nTo: list-bounces@site.example\nSubject: Read: hello\n"                                     \
    "Content-Type: multipart/report; report-type=disposition-notification; boundary=x\n\n--x\n\n"                     \
    "Your message was deleted without being read. Delivery to <ann@example.com> failed.\n--x\nContent-Type: " type     \
    "\n\nFinal-Recipient: rfc822;joe@example.com\nOriginal-Message-ID: <1@site.example>\n"                            \
    "Disposition: manual-action/MDN-sent-manually; deleted\n--x--\n"
    assert_told(RECEIPT("message/disposition-notification"), "auto-reply");
    assert_told(RECEIPT("Message/Global-Disposition-Notification; x=y"), "auto-reply");
}

/* A gateway that passes on what it got, in a report of its own that names nobody. */
static void test_nested(void)
{
    g_autofree char *mail =
        g_strconcat("From: MAILER-DAEMON@relay.example\nSubject: Undelivered Mail\nContent-Type: multipart/mixed; "
                    "boundary=o\n\n--o\n\nSee below.\n--o\nContent-Type: message/rfc822\n\n",
                    DSN("Final-Recipient: rfc822; joe@example.com\nAction: failed\nStatus: 5.1.1\n"), "\n--o--\n",
                    NULL);
    assert_told(mail, "bounce: joe@example.com permanent 5.1.1 user-unknown");
}

/* Systems that no table knows: the shape tells, whatever the language. */
static void test_unknown_systems(void)
{
#define REPORT "From: MAILER-DAEMON@mx.example\nSubject: x\n\n"
    assert_told(REPORT "Se pokazilo.\n\n  joe@example.com\n    host mx.example.com: 550 5.1.1 ne\n"
                       "  ann@example.com\n    452 4.2.2 plno\n",
                "bounce: joe@example.com permanent 5.1.1 user-unknown, ann@example.com temporary 4.2.2 mailbox-full");
    assert_told(REPORT "Dobry den.\n\njoe@example.com\n\nKonec 550.\n", "unrecognised");
    assert_told(REPORT "554 <joe@example.com>... 550 Host unknown\n",
                "bounce: joe@example.com permanent  host-unknown");
    assert_told(REPORT ">>> RCPT To:<joe@example.com>  <<< 550 go away\n",
                "bounce: joe@example.com permanent  undefined");
    assert_told(REPORT ">>> MAIL From:<me@example.com> <<< 550 go away\n", "unrecognised");
    assert_told(REPORT "There was an error delivering your mail to <joe@example.com>.\n",
                "bounce: joe@example.com permanent  undefined");
    assert_told(REPORT "550 ask <postmaster@example.com>... please\n", "unrecognised");
    assert_told("From: joe@example.net\nSubject: x\n\n  ann@example.com\n    550 5.1.1 is her room\n", "not-bounce");
}

/* A recipient that was made from another address is one recipient; what stands for none leaves that address. */
static void test_origins(void)
{
#define EXIM                                                                                                           \
    "From: Mail Delivery System <Mailer-Daemon@mx.example>\nSubject: Mail delivery failed\n\nThe following "          \
    "address(es) failed:\n\n"
    assert_told(EXIM "  joe@example.com\n    (ultimately generated from kim@example.net)\n    mailbox is full\n"
                     "  an undisclosed address\n    (generated from ann@example.net)\n    retry timeout exceeded\n"
                     "  sue@example.com\n    unrouteable\n",
                "bounce: ann@example.net permanent  expired, joe@example.com permanent  mailbox-full from "
                "kim@example.net, sue@example.com permanent  host-unknown");
    assert_told(EXIM "  joe@example.com\n    (generated from joe@example.com)\n",
                "bounce: joe@example.com permanent  undefined");
    assert_told(REPORT "   ----- The following addresses had permanent fatal errors -----\n<joe@example.com>\n"
                       "    (reason: 550 kim@example.org: no such user)\n    (expanded from: <kim@example.net>)\n",
                "bounce: joe@example.com permanent  user-unknown from kim@example.net");
}

static void test_outcomes(void)
{
    g_assert_cmpstr(bounce_outcome(BOUNCE_PERMANENT), ==, "given up");
    g_assert_cmpstr(bounce_outcome(BOUNCE_TEMPORARY), ==, "given up");
    g_assert_cmpstr(bounce_outcome(BOUNCE_DELAYED), ==, "will be tried again");
    g_assert_cmpstr(bounce_outcome(BOUNCE_COMPLAINT), ==, "complaint");
}

static void assert_judged(BouncePhase phase, const char *text, const char *wanted)
{
    BounceVerdict is = bounce_judge(&(BounceReply){.phase = phase, .status = "", .text = text});
    g_autofree char *said = g_strdup_printf("%s %s%s", bounce_about_name(is.about), is.soft ? "soft " : "", is.reason);
    g_test_message("%s", text);
    g_assert_cmpstr(said, ==, wanted);
}

/* The phase is judged before the words. */
static void test_phases(void)
{
    for (BouncePhase phase = BOUNCE_PHASE_UNKNOWN; phase <= BOUNCE_PHASE_END; phase++)
        g_assert_cmpint(bounce_phase_named(bounce_phase_name(phase)), ==, phase);
    g_assert_cmpint(bounce_phase_named(NULL), ==, BOUNCE_PHASE_UNKNOWN);
    g_assert_cmpint(bounce_phase_named("dot"), ==, BOUNCE_PHASE_UNKNOWN);
    for (BouncePhase phase = BOUNCE_PHASE_CONNECT; phase <= BOUNCE_PHASE_MAIL; phase++)
        assert_judged(phase, "550 5.1.1 User unknown", "sender sender");
    assert_judged(BOUNCE_PHASE_CONNECT, "connection refused", "recipient soft network");
    assert_judged(BOUNCE_PHASE_RCPT, "550 5.1.1 User unknown", "recipient user-unknown");
    assert_judged(BOUNCE_PHASE_UNKNOWN, "550 5.1.1 User unknown", "recipient user-unknown");
    assert_judged(BOUNCE_PHASE_DATA, "550 5.1.1 User unknown", "recipient soft user-unknown");
    assert_judged(BOUNCE_PHASE_END, "550 Administrative prohibition", "message policy");
    assert_judged(BOUNCE_PHASE_END, "550 this looks like spam", "message spam");
    assert_judged(BOUNCE_PHASE_END, "550 no", "recipient soft undefined");
    assert_judged(BOUNCE_PHASE_RCPT, "452 4.2.2 mailbox full", "recipient soft mailbox-full");
}

/* Two replies of a kind have one key. */
static void test_reply_keys(void)
{
    g_autofree char *one = bounce_reply_key("smtp; 550 5.7.1 <joe@example.com>: Rejected, joe at example.com (id 17a4)",
                                            "joe@example.com");
    g_autofree char *two = bounce_reply_key("550 5.7.1  <ann@example.net>: Rejected, ann at example.net (id c0ffee1)",
                                            "ann@example.net");
    g_autofree char *three = bounce_reply_key("550 5.7.1 <joe@example.com>: Accepted", "joe@example.com");
    g_autofree char *empty = bounce_reply_key("", "");
    g_assert_cmpstr(one, ==, two);
    g_assert_cmpstr(one, !=, three);
    g_assert_cmpstr(empty, ==, "");
}

/* "address phase about reason, ..." of a report. */
static void assert_phases(const char *mail, const char *wanted)
{
    g_autoptr(Bounce) bounce = bounce_parse(mail, strlen(mail));
    g_autoptr(GString) out = g_string_new(NULL);
    for (guint at = 0; at < bounce->recipients->len; at++) {
        const BounceRecipient *one = bounce->recipients->pdata[at];
        g_string_append_printf(out, "%s%s %s %s%s %s", at > 0 ? ", " : "", one->address, bounce_phase_name(one->phase),
                               one->soft ? "soft " : "", bounce_about_name(one->about), one->reason);
    }
    g_assert_cmpstr(out->str, ==, wanted);
}

/* The text for people tells the phase, where the fields for programs tell of the reply alone. */
static void test_phases_of_reports(void)
{
#define BOTH(text, fields)                                                                                             \
    "From: MAILER-DAEMON@mx.example\nSubject: Undelivered Mail Returned to Sender\n"                                   \
    "Content-Type: multipart/report; report-type=delivery-status; boundary=x\n\n--x\n\n"                              \
    text                                                                                                               \
    "\n--x\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example\n\n" fields "\n--x--\n"
#define FIELDS(address, reply)                                                                                         \
    "Final-Recipient: rfc822; " address "\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; " reply "\n\n"
    assert_phases(BOTH("This is the mail system at host mx.example.\n\n"
                       "<joe@example.com>: host a.example[192.0.2.1] said: 550 no such domain (in\n"
                       "    reply to MAIL FROM command)\n\n"
                       "<ann@example.com>: host b.example[192.0.2.2] said: 550 unknown user (in reply to\n"
                       "    RCPT TO command)\n\n"
                       "<bob@example.com>: host b.example[192.0.2.2] said: 550 unknown user (in reply to\n"
                       "    end of DATA command)\n",
                       FIELDS("joe@example.com", "550 no such domain") FIELDS("ann@example.com", "550 unknown user")
                           FIELDS("bob@example.com", "550 unknown user")),
                  "joe@example.com mail sender sender, ann@example.com rcpt recipient user-unknown, "
                  "bob@example.com end soft recipient user-unknown");
    assert_phases(BOTH("The following address(es) failed:\n\n  joe@example.com\n    host a.example [192.0.2.1]\n"
                       "    SMTP error from remote mail server after pipelined MAIL FROM:<me@site.example>:\n"
                       "    550 not here\n  ann@example.com\n    host b.example [192.0.2.2]\n"
                       "    SMTP error from remote mail server after end of data:\n    550 not here\n",
                       FIELDS("joe@example.com", "550 not here") FIELDS("ann@example.com", "550 not here")),
                  "joe@example.com mail sender sender, ann@example.com end soft recipient undefined");
    assert_phases(BOTH("   ----- The following addresses had permanent fatal errors -----\n<joe@example.com>\n"
                       "    (reason: 550 go away)\n\n   ----- Transcript of session follows -----\n"
                       "... while talking to a.example.:\n>>> MAIL From:<me@site.example> SIZE=100\n<<< 550 go away\n",
                       FIELDS("joe@example.com", "550 go away")),
                  "joe@example.com mail sender sender");
    assert_phases(BOTH("   ----- Transcript of session follows -----\n... while talking to a.example.:\n"
                       ">>> RCPT To:<joe@example.com>\n<<< 550 go away\n>>> DATA\n<<< 550 go away\n",
                       FIELDS("joe@example.com", "550 go away")),
                  "joe@example.com rcpt recipient undefined");
    assert_phases("From: MAILER-DAEMON@mx.example\nSubject: failure notice\n\nHi. This is the qmail-send program\n\n"
                  "<joe@example.com>:\nConnected to 192.0.2.1 but sender was rejected.\nRemote host said: 550 no\n",
                  "joe@example.com mail sender sender");
    assert_phases("From: MAILER-DAEMON@mx.example\nSubject: Undelivered Mail Returned to Sender\n\n"
                  "This is the mail system at host mx.example.\n\n"
                  "<joe@example.com>: host a.example[192.0.2.1] refused to talk to me: 554 a.example\n",
                  "joe@example.com connect sender sender");
}

/* Each reply of t/data/refusals.txt is judged as its line says, in the reply and in the words of Postfix about it. */
static void test_refusals(void)
{
    g_autofree char *path = g_build_filename(g_getenv("top_srcdir"), "t", "data", "refusals.txt", NULL), *text = NULL;
    unsigned wrong = 0, count = 0;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        g_auto(GStrv) parts = g_strsplit(*line, "\t", 2);
        if (**line == '#' || g_strv_length(parts) != 2)
            continue;
        g_autofree char *told = g_strdup_printf("host mx.example.org[198.51.100.7] said: %s (in reply to RCPT TO "
                                                "command)", parts[1]);
        for (int way = 0; way < 2; way++) {
            BounceVerdict is = bounce_judge(&(BounceReply){.phase = BOUNCE_PHASE_RCPT, .text = way ? told : parts[1]});
            const char *name = is.about != BOUNCE_ABOUT_RECIPIENT ? bounce_about_name(is.about)
                               : is.soft                          ? "soft"
                                                                  : "hard";
            count++;
            if (strcmp(name, parts[0]) == 0)
                continue;
            wrong++;
            g_test_message("%s %s, not %s: %s", name, is.reason, parts[0], parts[1]);
        }
    }
    g_assert_cmpuint(count, >, 200);
    g_assert_cmpuint(wrong, ==, 0);
}

/* Check that an empty line before the header is not taken for its end. */
static void test_blank_lines(void)
{
    assert_told(" \t\n\r\n   \nFrom: MAILER-DAEMON@mx.example\nContent-Type: text/plain\n"
                "Content-Transfer-Encoding: base64\n\nPGpvZUBleGFtcGxlLmNvbT46IDU1MCA1LjEuMSBuZWluCg==\n",
                "bounce: joe@example.com permanent 5.1.1 user-unknown");
    assert_told("   \nFrom: joe@example.com\nSubject: hello\n\nUnable to deliver message to <ann@example.com>?\n",
                "not-bounce");
}

/* A list stands in To: what the returned mail says of its recipients is not enough. */
static void test_returned_list_mail(void)
{
    assert_told("From: MAILER-DAEMON@mx.example\nSubject: failure\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\n"
                "Your mail could not be delivered.\n--x\nContent-Type: message/rfc822\n\nTo: list@site.example\n"
                "List-Id: <list.site.example>\n\nx\n--x--\n",
                "unrecognised");
}

static void measure(GBytes *mail, const char *name, void *data)
{
    gint64 *slowest = data, start = g_get_monotonic_time();
    gsize length;
    const char *text = g_bytes_get_data(mail, &length);
    g_autoptr(Bounce) bounce = bounce_parse(text, length);
    g_test_message("%s: %s", name, bounce_kind_name(bounce->kind));
    *slowest = MAX(*slowest, g_get_monotonic_time() - start);
}

/* All mail of the corpus can be read, with CRLF and cut anywhere. */
static void test_corpus(void)
{
    gint64 slowest = 0;
    g_assert_cmpuint(corpus_each("bounces", measure, &slowest), >, 15);
    g_test_message("slowest: %" G_GINT64_FORMAT " us", slowest);
}

/* A megabyte of anything, in the shapes that could be read again and again: t/bench/bounces tells how long that takes;
 * what would take minutes is ended by the alarm. */
static void test_size(void)
{
    static const char *const lines[] = {"a@b.example ",
                                        "<a@b.example>:\n",
                                        "From MAILER-DAEMON\n",
                                        "@",
                                        "<!--",
                                        "<style>",
                                        "--x\n",
                                        "Content-Type: message/rfc822\n\n",
                                        "5.1",
                                        "following address(es) failed:\n",
                                        "Final-Recipient: rfc822; a@b.example\n",
                                        "rcpt to:<a@b.example>",
                                        "NAME@",
                                        "\"",
                                        "Original-Recipient: utf-8; \\x{41"};
    alarm(120);
    for (size_t at = 0; at < G_N_ELEMENTS(lines); at++)
        for (int kind = 0; kind < 2; kind++) {
            GString *mail =
                g_string_new("From: MAILER-DAEMON@yahoo.example\nSubject: failure\nX-Mailer: <SMTP32>\nContent-Type: ");
            g_string_append(mail, kind == 0 ? "text/plain\n\n" : "text/html; boundary=x\n\n");
            while (mail->len < 1000000)
                g_string_append(mail, lines[at]);
            clock_t start = clock();
            g_autoptr(Bounce) bounce = bounce_parse(mail->str, mail->len);
            g_test_message("%.20s: %.0f ms of one core", lines[at], (double)(clock() - start) / CLOCKS_PER_SEC * 1e3);
            g_assert_cmpuint(bounce->recipients->len, <=, 2000);
            g_string_free(mail, TRUE);
        }
    alarm(0);
}

SUITE("bounce")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bounce/delivery-status", test_delivery_status);
    g_test_add_func("/bounce/coded-addresses", test_coded_addresses);
    g_test_add_func("/bounce/feedback", test_feedback);
    g_test_add_func("/bounce/dialects", test_dialects);
    g_test_add_func("/bounce/delays", test_delays);
    g_test_add_func("/bounce/no-failures", test_no_failures);
    g_test_add_func("/bounce/receipts", test_receipts);
    g_test_add_func("/bounce/nested", test_nested);
    g_test_add_func("/bounce/unknown-systems", test_unknown_systems);
    g_test_add_func("/bounce/origins", test_origins);
    g_test_add_func("/bounce/outcomes", test_outcomes);
    g_test_add_func("/bounce/phases", test_phases);
    g_test_add_func("/bounce/phases-of-reports", test_phases_of_reports);
    g_test_add_func("/bounce/reply-keys", test_reply_keys);
    g_test_add_func("/bounce/refusals", test_refusals);
    g_test_add_func("/bounce/blank-lines", test_blank_lines);
    g_test_add_func("/bounce/returned-list-mail", test_returned_list_mail);
    g_test_add_func("/bounce/corpus", test_corpus);
    g_test_add_func("/bounce/size", test_size);
    return g_test_run();
}
