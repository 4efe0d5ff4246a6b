/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/readable.h"

#include "t/doubling.h"
#include "t/mail/corpus.h"
#include "t/mail/text/readable_check.h"
#include "t/mail/text/readable_print.h"
#include "t/suite.h"

#define PLAIN "Content-Type: text/plain; charset=utf-8\r\n\r\n"

static GBytes *bytes_of(const char *text)
{
    return g_bytes_new_static(text, strlen(text));
}

/* The print of the blocks. */
static void assert_blocks(const char *mail, const char *wanted)
{
    g_autoptr(GBytes) octets = bytes_of(mail);
    g_autoptr(Readable) readable = readable_new(octets, READABLE_TEXT);
    g_autoptr(GString) out = g_string_new(NULL);
    print_blocks(out, readable);
    check_readable(octets, READABLE_TEXT);
    g_assert_cmpstr(out->str, ==, wanted);
}

static void assert_head(const char *mail, const char *wanted)
{
    g_autoptr(GBytes) octets = bytes_of(mail);
    g_autoptr(Readable) readable = readable_new(octets, 0);
    g_autoptr(GString) out = g_string_new(NULL);
    print_head(out, &readable->head);
    check_readable(octets, READABLE_TEXT);
    g_assert_cmpstr(out->str, ==, wanted);
}

/* ---- the head ---- */

static void test_head(void)
{
    assert_head(
        "From: =?utf-8?q?J=C3=B6rg?= <joerg@example.org>, \"Anne\" <anne@example.org>\r\n"
        "To: Test <test@lists.example.org>, bart@example.org\r\nCc: cate@example.org (Cate), \"x@y.example\" "
        "<x@y.example>\r\n"
        "Cc: second <two@example.org>\r\nReply-To: 'Anne' <anne@example.org>\r\n"
        "Date: Tue, 3 Nov 2026 10:11:12 -0700\r\nSubject: =?iso-8859-1?q?Gr=FC=DFe?=\r\n  twice\r\n"
        "Message-ID: <1@example.org>\r\nIn-Reply-To: Your mail of today <a b> <2@example.org>\r\n"
        "References: <3@example.org>\r\n\t<2@example.org> and text\r\nList-Post: "
        "<mailto:test%40lists.example.org?x=y>\r\n\r\n",
        "From: J\u00f6rg|joerg@example.org\nFrom: Anne|anne@example.org\nTo: Test|test@lists.example.org\n"
        "To: |bart@example.org\nCc: Cate|cate@example.org\nCc: |x@y.example\nCc: second|two@example.org\n"
        "Reply-To: Anne|anne@example.org\nDate: 1793725872 -420\nSubject: Gr\u00fc\u00dfe twice\nId: 1@example.org\n"
        "Reply: 2@example.org\nReference: 3@example.org\nReference: 2@example.org\nPost: test@lists.example.org\n");
}

static void test_head_absent(void)
{
    assert_head("", "");
    assert_head("\r\n", "");
    assert_head("no field\r\n", "");
    assert_head(
        "From:\r\nDate: Tue, 99 Nov 2026 10:11:12\r\nSubject: \r\nMessage-ID: <>\r\nIn-Reply-To: x\r\nReferences: <\r\n"
        "List-Post: NO\r\nTo: \r\n\r\n",
        "");
    assert_head("Date: tomorrow\r\n\r\n", "");
}

/* Check that a head that holds no address is shown all the same; a person may have written it. */
static void test_head_broken(void)
{
    assert_head("From: anne at example.org (Anne Frost)\r\nTo: \r\nCc: bart at example.org\r\n\r\n",
                "From: Anne Frost|anne@example.org\nCc: |bart@example.org\n");
    assert_head("From: anne, at home (Anne)\r\nTo: undisclosed-recipients:;\r\nSubject: a\xe4"
                "b\r\n\r\n",
                "From: anne, at home (Anne)|\nTo: undisclosed-recipients:;|\nSubject: a\u00e4"
                "b\n");
    assert_head("From: \"\u202egro.live\u202c\" <a@b.example>\r\nSubject: =?utf-8?q?=1B[31m=00x=E2=80=AEy?=\r\n\r\n",
                "From: gro.live|a@b.example\nSubject: [31m\ufffdxy\n");
    assert_head("Subject: =?no-such?q?a=E4?= =?utf-8?q?=ED=A0=80?= =?utf-8?b?\r\n\r\n",
                "Subject: a\u00e4\ufffd\ufffd\ufffd =?utf-8?b?\n");
}

static void test_head_bounds(void)
{
    g_autoptr(GString) mail = g_string_new("Subject: ");
    for (int word = 0; word < 100000; word++)
        g_string_append(mail, "=?utf-8?q?=C3=A4?=\r\n ");
    g_string_append(mail, "\r\nTo: ");
    for (int person = 0; person < 20000; person++)
        g_string_append_printf(mail, "p%d@example.org,\r\n ", person);
    g_string_append(mail, "x@example.org\r\nReferences: ");
    for (int id = 0; id < 5000; id++)
        g_string_append_printf(mail, "<%d@example.org>\r\n ", id);
    g_string_append(mail, "x\r\n\r\ntext\r\n");
    g_autoptr(GBytes) octets = g_bytes_new(mail->str, mail->len);
    check_readable(octets, READABLE_TEXT);
    g_autoptr(Readable) readable = readable_new(octets, 0);
    const ReadableHead *head = &readable->head;
    g_assert_cmpuint(strlen(head->subject), <=, READABLE_LINE);
    g_assert_true(g_str_has_suffix(head->subject, "\u00e4\u2026"));
    g_assert_cmpuint(head->to.list->len, ==, READABLE_PEOPLE);
    g_assert_true(head->to.more);
    g_assert_cmpuint(head->references->len, ==, READABLE_REFERENCES);
    g_assert_cmpstr(head->references->pdata[0], ==, "0@example.org");
    g_assert_cmpstr(head->references->pdata[READABLE_REFERENCES - 1], ==, "4999@example.org");
}

/* ---- texts ---- */

static void test_paragraphs(void)
{
    assert_blocks(PLAIN "one\r\ntwo  \r\n\r\n\r\n  three\r\n", "text: one\ntwo\ntext:   three\n");
    assert_blocks(PLAIN, "");
    assert_blocks(PLAIN "\r\n \r\n\t\r\n", "");
    assert_blocks("\nno header", "text: no header\n");
    assert_blocks(PLAIN "see http://a.example/, <b@c.example>", "text: see {http://a.example/}, <{b@c.example}>\n");
}

static void test_quotations(void)
{
    assert_blocks(PLAIN "> a\r\n> b\r\n>\r\n> c\r\nd\r\n\r\n>> e\r\n> > f\r\n> g\r\n > h\r\n",
                  "quote1 (1): a\nb\nquote1 (1): c\ntext: d\nquote2 (2): e\nf\nquote1 (2): g\nh\n");
    assert_blocks(PLAIN "> a\r\n\r\n> b\r\n\r\nc\r\n\r\n>  d\r\n",
                  "quote1 (1): a\nquote1 (1): b\ntext: c\nquote1 (2):  d\n");
    assert_blocks(PLAIN "a\r\n\r\n>From here on\r\n", "text: a\ntext: From here on\n");
    assert_blocks(PLAIN "> a\r\n>From here on\r\n", "quote1 (1): a\nFrom here on\n");
    assert_blocks(PLAIN ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>> deep\r\n", "quote20 (1): deep\n");
}

static void test_flowed(void)
{
    assert_blocks(
        "Content-Type: text/plain; charset=utf-8; format=flowed\r\n\r\nOne line \r\ngoes on.\r\n\r\n >no quotation\r\n"
        " From here\r\n> quoted \r\n> too\r\n> > deeper \r\n> end\r\nbreaks \r\n\r\nnext\r\n>> a \r\n>> b\r\n-- "
        "\r\nAnne \r\n",
        "text: One line goes on.\ntext: >no quotation\nFrom here\nquote1 (1): quoted too\nquote2 (1): deeper\n"
        "quote1 (1): end\ntext: breaks\ntext: next\nquote2 (2): a b\nsignature: Anne\n");
    assert_blocks("Content-Type: text/plain; charset=utf-8; Format=Flowed; DelSp=Yes\r\n\r\n\u65e5 \r\n\u672c\r\n> a "
                  "\r\n> b  \r\n> c\r\n",
                  "text: \u65e5\u672c\nquote1 (1): ab c\n");
    assert_blocks("Content-Type: text/plain; delsp=yes\r\n\r\na \r\nb\r\n", "text: a\nb\n");
}

static void test_attributions(void)
{
    static const char *const lines[] = {
        "On Tue, 3 Nov 2026 at 10:11, Anne <anne@example.org> wrote:",
        "Am 03.11.26 um 10:11 schrieb Anne:",
        "Le mar. 3 nov. 2026 \u00e0 10:11, Anne <anne@example.org> a\n\u00e9crit :",
        "El 3/11/26 a las 10:11, Anne escribi\u00f3:",
        "On Tuesday, November 3, 2026 at 10:11:12 AM UTC+1 Anne of Example\n<anne@example.org> wrote:",
        "* Anne <anne@example.org> [2026-11-03 10:11]:",
        "Anne wrote:",
        "Il giorno mar 3 nov 2026 alle ore 10:11 Anne ha scritto:",
        "W dniu 03.11.2026 o 10:11, Anne pisze:",
        "2026\u5e7411\u67083\u65e5(\u706b) 10:11 Anne <anne@example.org>:",
        "\u5728 2026-11-03 10:11\uff0cAnne \u5199\u9053\uff1a",
        "Op di 3 nov. 2026 om 10:11 schreef Anne <anne@example.org>:",
        "Den tis 3 nov. 2026 kl 10:11 skrev Anne:",
        "03.11.2026 10:11, Anne \u043f\u0438\u0448\u0435\u0442:",
        "Quoting Anne <anne@example.org>:",
        "On Tue, 3 Nov 2026, Anne wrote",
    };
    for (size_t at = 0; at < G_N_ELEMENTS(lines); at++) {
        g_autofree char *mail = g_strconcat(PLAIN "Hi,\n", lines[at], "\n\n> a\n", NULL);
        g_autoptr(GBytes) octets = bytes_of(mail);
        g_autoptr(Readable) readable = readable_new(octets, READABLE_TEXT);
        g_assert_cmpuint(readable->blocks->len, ==, 3);
        const ReadableBlock *text = readable->blocks->pdata[0], *line = readable->blocks->pdata[1];
        const ReadableBlock *quotation = readable->blocks->pdata[2];
        g_assert_cmpstr(text->text, ==, "Hi,");
        g_assert_cmpint(line->kind, ==, READABLE_ATTRIBUTION);
        g_assert_cmpstr(line->text, ==, lines[at]);
        g_assert_cmpuint(line->fold, ==, 1);
        g_assert_cmpuint(quotation->fold, ==, 1);
    }
    assert_blocks(PLAIN "It says in the manual:\r\n> a\r\n\r\nI have 3 questions:\r\n\r\nx\r\n",
                  "text: It says in the manual:\nquote1 (1): a\ntext: I have 3 questions:\ntext: x\n");
}

/* The mail below, as Outlook copies it; but one that is passed on is what the mail has to say. */
static void test_original(void)
{
    assert_blocks(
        PLAIN "Yes.\r\n\r\n-----Original Message-----\r\nFrom: Anne <anne@example.org>\r\nSent: 3 Nov "
              "2026\r\n\r\nNo?\r\n> b\r\n",
        "text: Yes.\nattribution (1): -----Original Message-----\nFrom: Anne <{anne@example.org}>\nSent: 3 Nov 2026\n"
        "quote1 (1): No?\nquote2 (1): b\n");
    assert_blocks(PLAIN "Ja.\r\n________________________________\r\n\r\nVon: Anne\r\nGesendet: Montag\r\nAn: "
                        "Bart\r\nBetreff: x\r\n\r\nNein?\r\n",
                  "text: Ja.\nattribution (1): ________________________________\n\nVon: Anne\nGesendet: Montag\nAn: "
                  "Bart\nBetreff: x\n"
                  "quote1 (1): Nein?\n");
    assert_blocks(PLAIN "Oui.\r\n\r\n*De :* Anne\r\n*Envoy\u00e9 :* 3 novembre 2026\r\n*\u00c0 :* Bart\r\n\r\nNon?\r\n",
                  "text: Oui.\nattribution (1): *De :* Anne\n*Envoy\u00e9 :* 3 novembre 2026\n*\u00c0 :* Bart\nquote1 "
                  "(1): Non?\n");
    assert_blocks(PLAIN "See below.\r\n\r\n-------- Forwarded Message --------\r\nSubject: x\r\nFrom: a\r\n\r\ny\r\n",
                  "text: See below.\ntext: -------- Forwarded Message --------\nSubject: x\nFrom: a\ntext: y\n");
    assert_blocks(PLAIN "From: a\r\nSent: 3 Nov 2026\r\nTo: b\r\n\r\ny\r\n",
                  "text: From: a\nSent: 3 Nov 2026\nTo: b\ntext: y\n");
}

static void test_signatures(void)
{
    assert_blocks(PLAIN "a\r\n-- \r\nAnne\r\n\r\nhttp://a.example\r\n",
                  "text: a\nsignature: Anne\n\n{http://a.example}\n");
    assert_blocks(PLAIN "a\r\n--\r\nAnne\r\n", "text: a\nsignature: Anne\n");
    assert_blocks(PLAIN "a\r\n-- \r\nAnne\r\n\r\nOn 3 Nov 2026, Bart wrote:\r\n> b\r\n",
                  "text: a\nsignature: Anne\nattribution (1): On 3 Nov 2026, Bart wrote:\nquote1 (1): b\n");
    assert_blocks(PLAIN "a\r\n_______________________________________________\r\nTest mailing list\r\n",
                  "text: a\nsignature: Test mailing list\n");
    assert_blocks(PLAIN "a\r\n------------------------------\r\nTo unsubscribe, write\r\n",
                  "text: a\nsignature: To unsubscribe, write\n");
    assert_blocks(PLAIN "a\r\n------------------------------\r\nb\r\n", "text: a\n------------------------------\nb\n");
    assert_blocks(PLAIN "> a\r\n> -- \r\n> Bart\r\n", "quote1 (1): a\n-- \nBart\n");
}

static void test_patches(void)
{
    assert_blocks(PLAIN "Fixed.\r\n\r\ndiff --git a/x b/x\r\nindex 1..2 100644\r\n--- a/x\r\n+++ b/x\r\n@@ -1,3 +1,3 "
                        "@@ f\r\n a\r\n\r\n-> b\r\n+> c\r\n"
                        "-- \r\n2.39\r\n",
                  "text: Fixed.\nfixed patch: diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ "
                  "f\n a\n\n-> b\n+> c\n"
                  "signature: 2.39\n");
    assert_blocks(PLAIN "--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\nAnd now text.\r\n",
                  "fixed patch: --- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\ntext: And now text.\n");
    assert_blocks("Content-Type: text/x-patch\r\n\r\n> a\r\n-- \r\n-b\r\n", "fixed patch: > a\n-- \n-b\n");
    assert_blocks(PLAIN "Name    Age\r\nAnne    7\r\n\r\n    code\r\n    more\r\n\r\n| a | b |\r\n| c | d |\r\n",
                  "fixed: Name    Age\nAnne    7\nfixed:     code\n    more\nfixed: | a | b |\n| c | d |\n");
}

static void test_html(void)
{
    assert_blocks("Content-Type: text/html; charset=utf-8\r\n\r\n<style>p{}</style><p>See <a "
                  "href=\"https://a.example/?b&amp;c\">this</a>.</p>"
                  "<p>Bye<br>-- <br>Anne</p><div>On 3 Nov 2026, Bart wrote:<blockquote><p>x &gt; "
                  "y</p><blockquote>z</blockquote></blockquote>"
                  "<script>alert(1)</script><a href=\"javascript:x()\">run</a></div>",
                  "text: See this <{https://a.example/?b&c}>.\ntext: Bye\nsignature: Anne\nattribution (1): On 3 Nov "
                  "2026, Bart wrote:\n"
                  "quote1 (1): x > y\nquote2 (1): z\ntext: run\n");
    assert_blocks("Content-Type: text/html\r\n\r\n</blockquote><p>a\1b\2c &lt;img src=x onerror=y&gt;",
                  "text: abc <img src=x onerror=y>\n");
}

static void test_charsets(void)
{
    assert_blocks("Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: "
                  "quoted-printable\r\n\r\n=E4=80=F6=\r\n!",
                  "text: \u00e4\u20ac\u00f6!\n");
    assert_blocks("Content-Type: text/plain; charset=no-such\r\n\r\na\xe4z\xff", "text: a\u00e4z\u00ff\n");
    assert_blocks("Content-Type: text/plain; charset=utf-8\r\n\r\na\xed\xa0\x80z \xc3",
                  "text: a\ufffd\ufffd\ufffdz \ufffd\n");
    assert_blocks("Content-Type: text/plain; charset=utf-16le\r\nContent-Transfer-Encoding: base64\r\n\r\nYQAA2GIA\r\n",
                  "text: a\ufffdb\n");
    assert_blocks(PLAIN "a\033[31m\u202eb\0\r\nc\fd", "text: a[31mb\n");
}

/* ---- parts ---- */

#define MIXED "Content-Type: multipart/mixed; boundary=b\r\n\r\npreamble\r\n--b\r\n"

/* An invitation without words beside it is shown as what it says; the file stays. */
static void test_lone_calendar(void)
{
#define CALENDAR                                                                                                     \
    "Content-Type: text/calendar; charset=utf-8; name=i.ics\r\n\r\nBEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\n"          \
    "TZID:Europe/Berlin\r\nDESCRIPTION:not this\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\nSUMMARY:Planting\\, "          \
    "with f\r\n riends\r\nDTSTART;TZID=\"Europe/Berlin\":20261201T100000\r\nDTEND:20261201T110000Z\r\nLOCATION;" \
    "X=\"a:b\":G\303\244rten\r\nDESCRIPTION:Bring spades.\\nAll of you.\r\nBEGIN:VALARM\r\n"                       \
    "DESCRIPTION:nor this\r\nEND:VALARM\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20261224\r\n"         \
    "END:VEVENT\r\nEND:VCALENDAR\r\n"
#define SHOWN                                                                                                         \
    "text: Planting, with friends\n2026-12-01 10:00 Europe/Berlin \342\200\223 2026-12-01 11:00 UTC\n"           \
    "G\303\244rten\ntext: Bring spades.\nAll of you.\ntext: 2026-12-24\n"
    assert_blocks(CALENDAR, "file 0 i.ics text/calendar application/octet-stream 407\n" SHOWN);
}

static void test_alternative(void)
{
#define ALTERNATIVE(plain)                                                                   \
    "Content-Type: multipart/alternative; boundary=a\r\n\r\n--a\r\n\r\n" plain "\r\n--a\r\n" \
    "Content-Type: text/html\r\n\r\n<b>html</b>\r\n--a\r\nContent-Type: text/calendar; "     \
    "name=x.ics\r\n\r\nBEGIN\r\n--a--\r\n"
    assert_blocks(ALTERNATIVE("plain"), "text: plain\nfile 0 x.ics text/calendar application/octet-stream 7\n");
    assert_blocks(ALTERNATIVE(" \r\n"), "text: html\nfile 0 x.ics text/calendar application/octet-stream 7\n");
    assert_blocks("Content-Type: multipart/alternative; boundary=a\r\n\r\n--a\r\n\r\nplain\r\n--a\r\nContent-Type: "
                  "multipart/mixed; boundary=c\r\n\r\n"
                  "--c\r\nContent-Type: text/html\r\n\r\nhtml\r\n--c\r\nContent-Type: application/pdf; "
                  "name=x.pdf\r\n\r\nPDF\r\n--c--\r\n--a--\r\n",
                  "text: plain\nfile 0 x.pdf application/pdf application/pdf 5\n");
}

static void test_files(void)
{
    assert_blocks(MIXED
                  "\r\ntext\r\n--b\r\nContent-Type: image/svg+xml\r\nContent-Transfer-Encoding: base64\r\n"
                  "Content-Disposition: attachment; filename=\"../../etc/.=?utf-8?q?b=C3=A4?=.svg "
                  "\"\r\n\r\nPHN2\r\nZz4=\r\n--b\r\n"
                  "Content-Type: text/plain; name=log.txt\r\nContent-Disposition: attachment\r\n\r\nlines\r\n--b\r\n"
                  "Content-Type: text/plain; name=fix.patch\r\nContent-Disposition: attachment\r\n\r\n-a\r\n--b\r\n"
                  "Content-Type: IMAGE/PNG\r\nContent-Disposition: inline; "
                  "filename*=utf-8''%41%CC%88%0A%2fCON.png\r\n\r\nP\r\n--b\r\n\r\nend\r\n--b--\r\n",
                  "text: text\nfile 0 b\u00e4.svg image/svg+xml application/octet-stream 5\nfile 1 log.txt text/plain "
                  "text/plain 7\n"
                  "file 2 fix.patch text/plain text/plain 4\nfixed patch: -a\nfile 3 _CON.png image/png image/png "
                  "3\ntext: end\n");
    assert_blocks("Content-Type: text/html; name=x.html\r\nContent-Disposition: attachment\r\n\r\n<b>x",
                  "file 0 x.html text/html application/octet-stream 4\ntext: x\n");
    assert_blocks(MIXED "Content-Type: application/x-thing\r\n\r\n--b--\r\n",
                  "file 0 part-1.bin application/x-thing application/octet-stream 0\n");
}

static void test_file_bytes(void)
{
    g_autoptr(GBytes) octets = bytes_of(
        MIXED "Content-Type: application/zip\r\nContent-Transfer-Encoding: base64\r\n\r\nAAH/\r\n--b\r\nContent-Type: "
              "message/rfc822\r\n"
              "Content-Transfer-Encoding: "
              "base64\r\n\r\nQ29udGVudC1UeXBlOiBhcHBsaWNhdGlvbi9wZGYKCnBkZg==\r\n--b\r\nContent-Type: image/gif\r\n"
              "Content-Transfer-Encoding: quoted-printable\r\n\r\n=00=FF=\r\n!\r\n--b--\r\n");
    static const char *const wanted[] = {"\0\1\xff", "pdf", "\0\xff!\r\n"};
    static const size_t lengths[] = {3, 3, 5};
    g_autoptr(Readable) readable = readable_new(octets, 0);
    for (size_t number = 0; number < G_N_ELEMENTS(wanted); number++) {
        const ReadableFile *file = readable_file(readable, number);
        g_autoptr(GBytes) bytes = readable_file_bytes(file);
        g_assert_cmpmem(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes), wanted[number], lengths[number]);
    }
    g_assert_null(readable_file(readable, 3));
    g_assert_cmpuint(readable->files->len, ==, 2); /* the other is the message's within */
}

static void test_messages(void)
{
    assert_blocks(
        MIXED
        "\r\nabove\r\n--b\r\nContent-Type: multipart/digest; boundary=d\r\n\r\n--d\r\n\r\nFrom: "
        "a@b.example\r\nSubject: one\r\n\r\nfirst\r\n"
        "--d\r\n\r\nSubject: two\r\nContent-Type: text/html\r\n\r\n<p>second\r\n--d--\r\n--b\r\n\r\nbelow\r\n--b--\r\n",
        "text: above\nmessage\nFrom: |a@b.example\nSubject: one\ntext: first\nend\nmessage\nSubject: two\ntext: "
        "second\nend\ntext: below\n");
    g_autoptr(GString) deep = g_string_new(NULL), wanted = g_string_new(NULL);
    for (int level = 0; level < 1000; level++)
        g_string_append(deep, "Content-Type: message/rfc822\r\n\r\n");
    for (int level = 0; level < READABLE_DEPTH; level++)
        g_string_append(wanted, "message\n");
    g_string_append_printf(wanted, "note deep 0\nfile 0 part-1.eml message/rfc822 application/octet-stream %d\n",
                           (999 - READABLE_DEPTH) * 32);
    for (int level = 0; level < READABLE_DEPTH; level++)
        g_string_append(wanted, "end\n");
    assert_blocks(deep->str, wanted->str);
}

static void test_signed(void)
{
    assert_blocks("Content-Type: multipart/signed; boundary=b\r\n\r\n--b\r\n\r\ntext\r\n--b\r\nContent-Type: "
                  "application/pgp-signature; name=x.asc\r\n\r\nx\r\n--b--\r\n",
                  "text: text\nnote signed 0\n");
    assert_blocks("Content-Type: multipart/encrypted; boundary=b\r\n\r\n--b\r\nContent-Type: "
                  "application/pgp-encrypted\r\n\r\nVersion: 1\r\n--b\r\n"
                  "Content-Type: application/octet-stream\r\n\r\nx\r\n--b--\r\n",
                  "note encrypted 0\nfile 0 part-1.bin application/octet-stream application/octet-stream 3\n");
    assert_blocks("Content-Type: application/pkcs7-mime; smime-type=signed-data; name=smime.p7m\r\n\r\nx",
                  "note signed 0\nfile 0 smime.p7m application/pkcs7-mime application/octet-stream 1\n");
    assert_blocks(PLAIN "-----BEGIN PGP SIGNED MESSAGE-----\r\nHash: SHA256\r\n\r\ntext\r\n- -- \r\nAnne\r\n-----BEGIN "
                        "PGP SIGNATURE-----\r\n"
                        "Version: 1\r\n\r\niQEz+/=\r\n-----END PGP SIGNATURE-----\r\n\r\nbelow\r\n",
                  "text: text\nsignature: Anne\nnote signed 0\ntext: below\n");
    assert_blocks(PLAIN "-----BEGIN PGP SIGNATURE-----\r\nbuy this now\r\n-----END PGP SIGNATURE-----\r\n",
                  "text: -----BEGIN PGP SIGNATURE-----\nbuy this now\n-----END PGP SIGNATURE-----\n");
}

static void test_broken_parts(void)
{
    assert_blocks("Content-Type: multipart/mixed\r\n\r\ntext\r\n", "text: text\n");
    assert_blocks("Content-Type: multipart/mixed; boundary=x\r\n\r\ntext\r\n", "text: text\n");
    assert_blocks(MIXED "\r\nnot ended", "text: not ended\n");
    assert_blocks(MIXED "Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\ndGV4dA\r\n",
                  "text: tex\n");
}

/* ---- bounds ---- */

/* How many blocks of a kind there are. */
static unsigned count(const Readable *readable, ReadableKind kind, ReadableNote note)
{
    unsigned found = 0;
    for (guint at = 0; at < readable->blocks->len; at++) {
        const ReadableBlock *block = readable->blocks->pdata[at];
        found += block->kind == kind && (kind != READABLE_NOTE || block->note == note);
    }
    return found;
}

static void test_limit(void)
{
    g_autoptr(GBytes) octets = bytes_of(MIXED "\r\n\u00e4\u00e4\u00e4\r\n--b\r\n\r\nmore\r\n--b--\r\n");
    g_autoptr(Readable) readable = readable_new(octets, 5);
    g_autoptr(GString) out = g_string_new(NULL);
    print_blocks(out, readable);
    g_assert_cmpstr(out->str, ==, "text: \u00e4\u00e4\nnote cut 3\ntext: m\nnote cut 5\n");
    for (size_t limit = 0; limit < 20; limit++)
        check_readable(octets, limit);
    g_autoptr(GBytes) grows = bytes_of("Content-Type: text/plain; charset=iso-8859-1\r\n\r\n\xe4\xe4\xe4\xe4");
    g_autoptr(Readable) longer = readable_new(grows, 5);
    g_string_truncate(out, 0);
    print_blocks(out, longer);
    g_assert_cmpstr(out->str, ==, "text: \u00e4\u00e4\nnote cut 0\n");
}

static void test_many_parts(void)
{
    g_autoptr(GString) mail = g_string_new("Content-Type: multipart/mixed; boundary=b\r\n\r\n");
    for (int part = 0; part < 10000; part++)
        g_string_append_printf(mail, "--b\r\nContent-Type: image/png; name=%d.png\r\n\r\n%d\r\n", part, part);
    g_autoptr(GBytes) octets = g_bytes_new(mail->str, mail->len);
    check_readable(octets, READABLE_TEXT);
    g_autoptr(Readable) readable = readable_new(octets, READABLE_TEXT);
    g_assert_cmpuint(readable->files->len, ==, READABLE_PARTS - 1);
    g_assert_cmpuint(count(readable, READABLE_NOTE, READABLE_NOTE_PARTS), ==, 1);
}

/* Of an alternative the forms beyond the bound are not looked at. */
static void test_many_forms(void)
{
    g_autoptr(GString) mail = g_string_new("Content-Type: multipart/alternative; boundary=b\r\n\r\n");
    for (int part = 0; part < READABLE_PARTS * 2; part++)
        g_string_append_printf(mail, "--b\r\nContent-Type: text/%s\r\n\r\n\r\n", part % 2 ? "html" : "plain");
    g_autoptr(GBytes) octets = g_bytes_new(mail->str, mail->len);
    check_readable(octets, READABLE_TEXT);
    g_autoptr(Readable) readable = readable_new(octets, READABLE_TEXT);
    g_assert_cmpuint(count(readable, READABLE_NOTE, READABLE_NOTE_PARTS), ==, 1);
}

/* Multiparts in each other, and then the text of the innermost. */
static void test_deep_parts(void)
{
    g_autoptr(GString) mail = g_string_new(NULL);
    for (int level = 0; level < 1000; level++)
        g_string_append_printf(mail, "Content-Type: multipart/mixed; boundary=\"b%d-\"\r\n\r\n--b%d-\r\n", level,
                               level);
    g_string_append(mail, "\r\ntext\r\n");
    g_autoptr(GBytes) octets = g_bytes_new(mail->str, mail->len);
    check_readable(octets, READABLE_TEXT);
    g_autoptr(Readable) readable = readable_new(octets, READABLE_TEXT);
    g_assert_cmpuint(count(readable, READABLE_NOTE, READABLE_NOTE_DEEP), ==, 1);
    g_assert_cmpuint(readable->files->len, ==, 1);
}

static void test_many_lines(void)
{
    g_autoptr(GString) mail = g_string_new(PLAIN);
    for (int line = 0; line < 1000000; line++)
        g_string_append(mail, line % 2 ? "> a\n" : "b\n");
    g_autoptr(GBytes) octets = g_bytes_new(mail->str, mail->len);
    g_autoptr(Readable) readable = readable_new(octets, READABLE_TEXT);
    g_assert_cmpuint(readable->blocks->len, <=, READABLE_BLOCKS + 3);
    g_assert_cmpuint(count(readable, READABLE_NOTE, READABLE_NOTE_CUT), ==, 1);
    g_assert_cmpuint(count(readable, READABLE_FIXED, 0), ==, 1); /* all that is beyond the bound */
    check_readable(octets, READABLE_TEXT);
}

static void test_long_line(void)
{
    g_autoptr(GString) mail = g_string_new("Content-Type: text/plain; format=flowed\r\n\r\n> ");
    size_t head = mail->len;
    g_string_set_size(mail, DOUBLING_TIMELESS ? 1000000 : 100000000);
    memset(mail->str + head, 'x', mail->len - head);
    g_autoptr(GBytes) octets = g_bytes_new(mail->str, mail->len);
    g_autoptr(Readable) readable = readable_new(octets, 1000);
    const ReadableBlock *block = readable->blocks->pdata[0], *note = readable->blocks->pdata[1];
    g_assert_cmpuint(block->length, ==, 998);
    g_assert_cmpuint(note->left_out, ==, mail->len - head - 998);
}

static void test_search_text(void)
{
    g_autoptr(GBytes)
        octets = bytes_of(MIXED "\r\nwords\r\n\r\nOn 3 Nov 2026, Anne wrote:\r\n> quoted\r\n-- "
                                "\r\nBart\r\n--b\r\nContent-Type: application/pdf; name=plan.pdf\r\n\r\nx\r\n"
                                "--b\r\nContent-Type: message/rfc822\r\n\r\nFrom: Cate <c@d.example>\r\nSubject: "
                                "inner\r\n\r\ntext\r\n--b--\r\n");
    g_autoptr(Readable) readable = readable_new(octets, READABLE_TEXT);
    GString *own = readable_search_text(readable, false, 1000), *all = readable_search_text(readable, true, 1000);
    g_assert_cmpstr(own->str, ==, "words\n\nplan.pdf\ninner\nCate\ntext\n\n");
    g_assert_cmpstr(all->str, ==,
                    "words\n\nOn 3 Nov 2026, Anne wrote:\n\nquoted\n\nBart\n\nplan.pdf\ninner\nCate\ntext\n\n");
    g_string_free(own, TRUE);
    g_string_free(all, TRUE);
    for (size_t limit = 0; limit < 60; limit++) {
        GString *cut = readable_search_text(readable, true, limit);
        g_assert_cmpuint(cut->len, <=, limit);
        g_string_free(cut, TRUE);
    }
}

static void read_all(const char *text, size_t length, void *data)
{
    g_autoptr(GBytes) octets = g_bytes_new_static(text, length);
    g_autoptr(Readable) readable = readable_new(octets, SIZE_MAX);
    g_string_free(readable_search_text(readable, true, SIZE_MAX), TRUE);
}

static void test_work(void)
{
#define FLOWED "Content-Type: text/plain; format=flowed\r\n\r\n"
    static const Doubling inputs[] = {
        {.before = PLAIN, .unit = "a\n"},
        {.before = PLAIN, .unit = "a"},
        {.before = PLAIN, .unit = "> a\nb\n"},
        {.before = PLAIN, .unit = "a:\n\n> b\n"},
        {.before = PLAIN, .unit = ">"},
        {.before = PLAIN, .unit = "\n"},
        {.before = PLAIN, .unit = "-- \n"},
        {.before = PLAIN, .unit = "From: a\n"},
        {.before = PLAIN, .unit = "x\n", .after = "\n> a"},
        {.before = PLAIN "a\n", .unit = "-----x-----\n"},
        {.before = PLAIN "a\n", .unit = "-----x-----\n\n\n"},
        {.before = PLAIN "a\n\n", .unit = "____________________\nFrom: 2026\n"},
        {.before = PLAIN, .unit = "--- \n+++ \n@@ -1 +1 @@\n-a\n+b\nx\n"},
        {.before = PLAIN, .unit = "diff -\n"},
        {.before = PLAIN "diff -\n@@ -1,99999999 +1,99999999 @@\n", .unit = " \n"},
        {.before = PLAIN, .unit = "-----BEGIN PGP SIGNATURE-----\n"},
        {.before = PLAIN, .unit = "-----BEGIN PGP SIGNATURE-----\n\nx\n"},
        {.before = FLOWED, .unit = "a \n"},
        {.before = FLOWED, .unit = "--- \n+++ \nx \n"},
        {.before = FLOWED, .unit = "> a \n>> b \n"},
        {.before = "Content-Type: text/html\r\n\r\n", .unit = "<blockquote>a"},
        {.before = "Content-Type: text/html\r\n\r\n", .unit = "<blockquote>a</blockquote><br>"},
        {.before = "Content-Type: text/html\r\n\r\n", .unit = "<a href=http://x.example/>"},
        {.before = "Content-Type: multipart/mixed; boundary=b\r\n\r\n",
         .unit = "--b\r\nContent-Type: image/png\r\n\r\nx\r\n"},
        {.before = "Content-Type: multipart/alternative; boundary=b\r\n\r\n", .unit = "--b\r\n\r\nx\r\n"},
        {.before = "Content-Type: multipart/digest; boundary=b\r\n\r\n", .unit = "--b\r\n\r\nSubject: x\r\n\r\nx\r\n"},
        {.before = MIXED "Content-Type: application/zip\r\nContent-Transfer-Encoding: base64\r\n\r\n",
         .unit = "AAAA\r\n"},
        {.before = MIXED "Content-Type: application/zip\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n",
         .unit = "=  "},
        {.unit = "Content-Type: message/rfc822\r\n\r\n"},
        {.unit = "Content-Type: message/rfc822\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"},
        {.before = "Subject: ", .unit = "=?utf-8?q?=C3?= "},
        {.before = "From: ", .unit = "a@b.example, "},
        {.before = "To: ", .unit = "(("},
        {.before = "References: ", .unit = "<a@b> "},
        {.before = "In-Reply-To: ", .unit = "<"},
        {.unit = "To: a@b.example\r\n"},
        {.before = MIXED "Content-Disposition: attachment; ", .unit = "filename*0=a; "},
        {.before = MIXED "Content-Type: image/png; name=", .unit = "a/"},
        {.before = "Content-Type: text/calendar\r\n\r\nBEGIN:VEVENT\r\nSUMMARY:", .unit = "\r\n a"},
    };
    doubling_check_all(inputs, G_N_ELEMENTS(inputs), read_all, NULL);
}

/* ---- real mail ---- */

static void check_each(GBytes *mail, const char *name, void *data)
{
    check_readable(mail, READABLE_TEXT);
    g_autoptr(GBytes) wire = corpus_wire(mail);
    check_readable(wire, 2000);
}

static void test_corpus(void)
{
    static const char *const folders[] = {"lists", "mime", "partial", "bounces"};
    for (size_t at = 0; at < G_N_ELEMENTS(folders); at++)
        g_assert_cmpuint(corpus_each(folders[at], check_each, NULL), >, 0);
}

SUITE("readable")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/readable/lone calendar", test_lone_calendar);
    g_test_add_func("/readable/head", test_head);
    g_test_add_func("/readable/head absent", test_head_absent);
    g_test_add_func("/readable/head broken", test_head_broken);
    g_test_add_func("/readable/head bounds", test_head_bounds);
    g_test_add_func("/readable/paragraphs", test_paragraphs);
    g_test_add_func("/readable/quotations", test_quotations);
    g_test_add_func("/readable/flowed", test_flowed);
    g_test_add_func("/readable/attributions", test_attributions);
    g_test_add_func("/readable/original", test_original);
    g_test_add_func("/readable/signatures", test_signatures);
    g_test_add_func("/readable/patches", test_patches);
    g_test_add_func("/readable/html", test_html);
    g_test_add_func("/readable/charsets", test_charsets);
    g_test_add_func("/readable/alternative", test_alternative);
    g_test_add_func("/readable/files", test_files);
    g_test_add_func("/readable/file bytes", test_file_bytes);
    g_test_add_func("/readable/messages", test_messages);
    g_test_add_func("/readable/signed", test_signed);
    g_test_add_func("/readable/broken parts", test_broken_parts);
    g_test_add_func("/readable/limit", test_limit);
    g_test_add_func("/readable/many parts", test_many_parts);
    g_test_add_func("/readable/many forms", test_many_forms);
    g_test_add_func("/readable/deep parts", test_deep_parts);
    g_test_add_func("/readable/many lines", test_many_lines);
    g_test_add_func("/readable/long line", test_long_line);
    g_test_add_func("/readable/search text", test_search_text);
    g_test_add_func("/readable/work", test_work);
    g_test_add_func("/readable/corpus", test_corpus);
    return g_test_run();
}
