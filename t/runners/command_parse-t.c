/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/command/parse.h"

#include <string.h>

#include "mail/header.h"
#include "mail/message.h"
#include "t/suite.h"

#define TOKEN "abcdefghijklmnopqrstuvwx23"

/* "0(address,) 2(token,)?|ignored line": the commands of a mail that brought token (NULL: none) in its address; "?"
 * where it does not say that it confirms. */
static char *read_answer(const char *mail, const char *token)
{
    g_autoptr(GBytes) octets = g_bytes_new(mail, strlen(mail));
    g_auto(MailCommands) read = {0};
    mail_commands_read(&read, octets, token);
    GString *text = g_string_new(NULL);
    for (unsigned at = 0; at < read.commands->len; at++) {
        const MailCommand *command = read.commands->pdata[at];
        g_string_append_printf(text, "%s%d(%s,%s)%s", at > 0 ? " " : "", command->word,
                               command->argument ? command->argument : "", command->digest ? command->digest : "",
                               command->answers ? "?" : "");
    }
    for (unsigned at = 0; at < read.ignored->len; at++)
        g_string_append_printf(text, "|%s", (const char *)read.ignored->pdata[at]);
    if (read.stopped)
        g_string_append(text, ".");
    return g_string_free(text, FALSE);
}

static char *read_mail(const char *mail)
{
    return read_answer(mail, NULL);
}

typedef struct Case {
    const char *mail, *read;
} Case;

static const Case cases[] = {
    {"Subject: join\n\n", "0(,)"},
    {"Subject: SUBSCRIBE\n\n", "0(,)"},
    {"Subject: Re: join\n\nhello\n", "0(,)|hello"},
    {"Subject: AW: Re[2]: leave\n\n", "1(,)"},
    {"Subject: =?utf-8?B?5Zue5aSN77yaIGpvaW4=?=\n\n", "0(,)"}, /* two characters, and a colon of full width */
    {"Subject: Regarding join\n\n", ""},
    {"Subject: hi\n\njoin digest=no address=x@example.org\n", "0(x@example.org,no)"},
    {"Subject: hi\n\njoin digest=often\n", "|join digest=often"},
    {"Subject: hi\n\njoin us for lunch\nhelp me\n", "|join us for lunch|help me"},
    {"\n\njoin\njoin\nJOIN\n", "0(,)"}, /* each once */
    {"Subject: join\n\nleave\nend\nhelp\n", "0(,) 1(,)."},
    {"Subject: stop\n\njoin\n", "."},
    {"\n\n> join\n| leave\nhelp\n-- \nleave\n", "3(,)"},
    {"\n\nconfirm " TOKEN "\n", "2(" TOKEN ",)"},
    {"\n\nconfirm 123\nconfirm\n", "|confirm 123|confirm"},
    {"Subject: Re: Please confirm: join X (confirm " TOKEN ")\n\nyes\n", "2(" TOKEN ",)?|yes"},
    {"Subject: Re: Please confirm: join X (confirm " TOKEN ")\n\nConfirm\nthanks\n", "2(" TOKEN ",)|thanks"},
    {"Subject: Re: Please confirm: join X (confirm " TOKEN ")\n\nconfirm " TOKEN "\n", "2(" TOKEN ",)"},
    {"Subject: confirm " TOKEN "\n\n", "2(" TOKEN ",)"},
    {"\n\necho  a  b\n", "4(a b,)"},
    {"\n\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\njoin\n", "|1|2|3|4|5|6|7|8|9|10"},
    {"Content-Type: multipart/alternative; boundary=x\n\n--x\nContent-Type: text/plain\n\nleave\n--x\n"
     "Content-Type: text/html\n\n<p>join</p>\n--x--\n",
     "1(,)"},
    {"Content-Type: text/html\n\n<html><body><div>join</div><div>help</div></body></html>\n", "0(,) 3(,)"},
    {"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nam9pbgo=\n", "0(,)"},
    {"Subject: Re: anything\n\n\xff\xfe join\n", "|\xc3\xbf\xc3\xbe join"},
    {"Subject: Join Digest=Mime\n\n", "0(,mime)"},
    {"\n\nset\nset digest plain ack=on\nset the table\nset digest sometimes\n",
     "5(,) 5(digest plain ack=on,) 5(digest sometimes,)|set the table"},
    {"\n\nchange a@example.org\nchange address=b@example.org\nchange trains\n",
     "6(a@example.org,) 6(b@example.org,)|change trains"},
    {"\n\nWHO\nwho is there\ninfo\nlists\n", "7(,) 8(,) 9(,)|who is there"},
    {"\n\nwho mode=digest delivery=Enabled\nwho mode=often\nwho mode=digest mode=digest\n",
     "7(mode=digest delivery=Enabled,)|who mode=often|who mode=digest mode=digest"},
    {"Subject: get 3\n\nget 4..17\nget 5..\nget\nget 0\nget 4..3\nget lost\n",
     "10(3,) 10(4..17,) 10(5..,)|get|get 0|get 4..3|get lost"},
    {"Subject: RE: Please confirm\n\njoin\n\n-----Original Message-----\nFrom: test-owner@example.com\nleave\n",
     "0(,)"},
    /* Marks that programs and people put around a command, and prose with such marks. */
    {"Subject: *Join*\n\n- leave\n<help>\n\"info\".\n", "0(,) 1(,) 3(,) 8(,)"},
    {"\n\n*confirm " TOKEN "*.\n", "2(" TOKEN ",)"},
    {"\n\nconfirm <" TOKEN ">\n", "2(" TOKEN ",)"},
    {"Content-Type: text/plain; charset=utf-8\n\nconfirm\302\240" TOKEN ".\n", "2(" TOKEN ",)"},
    {"Content-Type: text/plain; charset=utf-8\n\n\342\200\213join\342\200\213 please\n", "0(,)"},
    {"\n\nchange <a@example.org>\n", "6(a@example.org,)"},
    {"\n\n- join us\n*help* me\n- echo chambers\nleave?\n<stop>\n",
     "|- join us|*help* me|- echo chambers|leave?|<stop>"},
    {"Subject: Re: Please confirm: join X (confirm " TOKEN ")\n\n*Confirm*.\n", "2(" TOKEN ",)"},
    {"Subject: Re: Please confirm: join X (confirm " TOKEN ")\n\nPlease confirm.\n", "2(" TOKEN ",)?|Please confirm."},
    {"", ""},
};

static void test_cases(void)
{
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_auto(GStrv) lines = g_strsplit(cases[at].mail, "\n", -1);
        g_autofree char *crlf = g_strjoinv("\r\n", lines);
        g_autofree char *plain = read_mail(cases[at].mail), *wire = read_mail(crlf);
        g_assert_cmpstr(plain, ==, cases[at].read);
        g_assert_cmpstr(wire, ==, cases[at].read);
    }
}

/* Check mails that people's programs wrote: t/data/commands-NAME.eml, whose field X-Read has the lines of the commands
 * and then the lines that are none, with "|" between. */
static void test_programs(void)
{
    static const char *const names[] = {"outlook-web", "gmail-web", "iphone", "outlook-es", "flowed",
                                        "qq",          "several",   "android", "forwarded"};
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++) {
        g_autofree char *file = g_strdup_printf("commands-%s.eml", names[at]), *text = NULL;
        g_autofree char *path = g_build_filename(g_getenv("top_srcdir"), "t", "data", file, NULL);
        size_t length;
        g_assert_true(g_file_get_contents(path, &text, &length, NULL));
        g_autoptr(GBytes) octets = g_bytes_new(text, length);
        g_autoptr(Message) message = message_new(octets);
        g_autofree char *field = message_value(message, "X-Read"), *expected = header_decode(field);
        g_auto(MailCommands) read = {0};
        mail_commands_read(&read, octets, NULL);
        g_autoptr(GPtrArray) lines = g_ptr_array_new();
        for (unsigned i = 0; i < read.commands->len; i++)
            g_ptr_array_add(lines, ((MailCommand *)read.commands->pdata[i])->line);
        for (unsigned i = 0; i < read.ignored->len; i++)
            g_ptr_array_add(lines, read.ignored->pdata[i]);
        g_ptr_array_add(lines, NULL);
        g_autofree char *seen = g_strjoinv("|", (char **)lines->pdata);
        g_autofree char *lower = g_utf8_strdown(seen, -1), *wanted = g_utf8_strdown(expected, -1);
        g_test_message("%s", file);
        g_assert_cmpstr(lower, ==, wanted);
    }
}

/* An answer that goes to the address of a token; a program may have written it, and repeat the letter. */
static void test_answers(void)
{
    static const Case answers[] = {
        {"Subject: Re: Please confirm\n\n", "2(" TOKEN ",)?"},
        {"", "2(" TOKEN ",)?"},
        {"Subject: Re: x\n\nconfirm\n", "2(" TOKEN ",)"},
        {"Subject: Re: x\n\n\nCONFIRM " TOKEN "\n\n> confirm\n", "2(" TOKEN ",)"},
        {"Subject: Re: x\n\nI am away until Monday.\n\n    confirm\n\n    confirm " TOKEN "\n",
         "2(" TOKEN ",)?|I am away until Monday.|confirm"},
        {"Subject: Re: x\n\n> confirm\n", "2(" TOKEN ",)?"},
        {"Subject: Re: x\n\nconfirm that I am away\n", "2(" TOKEN ",)?|confirm that I am away"},
        {"Subject: Re: x\n\nconfirm abcdefghijklmnopqrstuvwx24\n",
         "2(" TOKEN ",)? 2(abcdefghijklmnopqrstuvwx24,)"},
        {"Subject: confirm\n\nhello\n", "2(" TOKEN ",)?|hello"},
        {"Content-Type: text/html\n\n<div>confirm</div><blockquote>confirm " TOKEN "</blockquote>\n", "2(" TOKEN ",)"},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(answers); at++) {
        g_autofree char *read = read_answer(answers[at].mail, TOKEN);
        g_test_message("%zu", at);
        g_assert_cmpstr(read, ==, answers[at].read);
    }
}

SUITE("command_parse")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/command/parse", test_cases);
    g_test_add_func("/command/programs", test_programs);
    g_test_add_func("/command/answers", test_answers);
    return g_test_run();
}
