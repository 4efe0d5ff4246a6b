/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/issue.h"

#include <string.h>

#include "mail/header.h"
#include "mail/message.h"
#include "mail/mime/mime.h"
#include "t/mail/corpus.h"
#include "t/mail/text/issue_check.h"
#include "t/suite.h"

#define SECRET "0123456789abcdef0123456789abcdef0123"
#define RULE "------------------------------"

static const Issue issue = {
    .subject = "[Test] Digest, Vol 1, Issue 3", .title = "Test Digest, Vol 1, Issue 3",
    .from = "test-request@example.com", .to = "test@example.com", .id = "digest.1.3@example.com", .date = 0,
    .masthead = "Send posts to test@example.com\n", .footer = "The footer.\n", .contents = "Today's Topics",
    .footer_title = "Digest Footer", .end = "End of", .left_out = "[left out: $type $name $size]", .prefix = "[Test]",
    .secret = SECRET,
};

/* The whole message; posts ends with NULL. */
static GBytes *compose_issue(const Issue *whole, IssueForm form, const char *const *posts)
{
    char *octets = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&octets, &length);
    g_autoptr(IssueWriter) writer = issue_writer_new(whole, form, stream);
    for (int pass = 0; pass < 2; pass++)
        for (const char *const *post = posts; *post; post++) {
            g_autoptr(GBytes) bytes = g_bytes_new(*post, strlen(*post));
            (pass == 0 ? issue_announce : issue_add)(writer, bytes);
        }
    issue_end(writer);
    fclose(stream);
    return g_bytes_new_with_free_func(octets, length, free, octets);
}

static GBytes *compose(IssueForm form, const char *const *posts)
{
    return compose_issue(&issue, form, posts);
}

static char *text_of(IssueForm form, const char *const *posts)
{
    g_autoptr(GBytes) message = compose(form, posts);
    return g_strndup(g_bytes_get_data(message, NULL), g_bytes_get_size(message));
}

#define assert_has(text, part) g_assert_nonnull(strstr(text, part))
#define assert_lacks(text, part) g_assert_null(strstr(text, part))

static void test_mime(void)
{
    static const char *const posts[] = {
        "From: Anne <anne@example.org>\r\nSubject: [Test] One\r\n\r\nfirst\r\n",
        "From: bart@example.org\nSubject: Re: [Test] =?utf-8?b?w6Q=?=\n\nsecond, without an end", NULL};
    g_autoptr(GBytes) whole = compose(ISSUE_MIME, posts);
    g_autoptr(GPtrArray) parts = mime_parts(g_bytes_get_data(whole, NULL), g_bytes_get_size(whole));
    static const char *const types[] = {"multipart/mixed", "text/plain", "text/plain", "multipart/digest",
                                        "message/rfc822", "text/plain", "message/rfc822", "text/plain", "text/plain"};
    g_assert_cmpuint(parts->len, ==, G_N_ELEMENTS(types));
    for (guint at = 0; at < parts->len; at++)
        g_assert_cmpstr(((MimePart *)parts->pdata[at])->type, ==, types[at]);
    const MimePart *contents = parts->pdata[2], *first = parts->pdata[4], *second = parts->pdata[6];
    g_autoptr(GString) topics = mime_text(contents, SIZE_MAX);
    assert_has(topics->str, "   1. One (Anne)\n");
    assert_has(topics->str, "   2. Re: \303\244 (bart@example.org)\n");
    g_assert_cmpmem(first->body, strlen(posts[0]), posts[0], strlen(posts[0]));
    g_assert_cmpmem(second->body, strlen(posts[1]), posts[1], strlen(posts[1]));
    g_autofree char *number = mime_field(second->head, second->head_length, "Message");
    g_assert_cmpstr(number, ==, "2");
    g_autoptr(Message) message = message_new(whole);
    g_autofree char *encoding = message_value(message, "Content-Transfer-Encoding");
    g_assert_cmpstr(encoding, ==, "8bit"); /* for the table of contents */
}

/* The prefix with its number is left out of the table of contents, and nothing that only resembles it. */
static void test_numbered_prefix(void)
{
    static const char *const posts[] = {
        "Subject: [Test 00042] One\r\n\r\n1\r\n",        "Subject: [Test 43] Re: Two\r\n\r\n2\r\n",
        "Subject: Re: [test 7] Three\r\n\r\n3\r\n",      "Subject: [Test x] Four\r\n\r\n4\r\n",
        "Subject: about the [Test 8] Five\r\n\r\n5\r\n", NULL};
    Issue numbered = issue;
    numbered.prefix = "[Test %05d] ";
    g_autoptr(GBytes) message = compose_issue(&numbered, ISSUE_PLAIN, posts);
    g_autofree char *text = g_strndup(g_bytes_get_data(message, NULL), g_bytes_get_size(message));
    assert_has(text, "   1. One\r\n   2. Re: Two\r\n   3. Re: Three\r\n   4. [Test x] Four\r\n"
                     "   5. about the [Test 8] Five\r\n");
}

static void test_plain(void)
{
    static const char *const posts[] = {
        "Received: x\r\nSubject: =?iso-8859-1?q?Gr=FC=DFe?=\r\nFrom: a@example.org\r\nDate: today\r\n"
        "Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
        "\r\n\r\nK=F6ln\r\n" RULE "\r\n" RULE "-\r\n\r\n\r\n", NULL};
    g_autofree char *text = text_of(ISSUE_PLAIN, posts);
    assert_has(text, "\r\n\r\nToday's Topics:\r\n\r\n   1. Gr\303\274\303\237e (a@example.org)\r\n");
    assert_has(text, RULE RULE "----------\r\n\r\nMessage: 1\r\nDate: today\r\nFrom: a@example.org\r\n"
                     "Subject: Gr\303\274\303\237e\r\n\r\nK\303\266ln\r\n " "-----------------------------\r\n"
                     RULE "-\r\n\r\n" RULE "\r\n\r\nSubject: Digest Footer\r\n\r\nThe footer.\r\n");
    assert_has(text, "End of Test Digest, Vol 1, Issue 3\r\n**********************************\r\n");
    assert_lacks(text, "Received");
}

/* Labels mean what they mean to mail programs; what cannot be decoded stays as it came. */
static void test_charsets(void)
{
    static const char *const posts[] = {
        "Subject: =?ks_c_5601-1987?B?jGM=?=\r\nFrom: =?iso-8859-8-i?Q?=F9?= <a@example.org>\r\n"
        "Content-Type: text/plain; charset=\"KS_C_5601-1987\"\r\nContent-Transfer-Encoding: base64\r\n\r\njGM=\r\n",
        "Subject: =?x-foo?Q?=F9?=\r\nFrom: =?x-foo?Q?=F8?= <b@example.org>\r\n"
        "Content-Type: text/html; charset=gb2312\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>=E9F</p>\r\n",
        "Content-Type: text/plain; charset=iso-8859-2\r\n\r\na\x9b"
        "b\r\n",
        NULL};
    g_autofree char *text = text_of(ISSUE_PLAIN, posts);
    assert_has(text, "   1. \353\230\240 (\327\251)\r\n   2. =?x-foo?Q?=F9?= (=?x-foo?Q?=F8?=)\r\n");
    assert_has(text, "Subject: \353\230\240\r\n\r\n\353\230\240\r\n");
    assert_has(text, "From: =?x-foo?Q?=F8?= <b@example.org>\r\nSubject: =?x-foo?Q?=F9?=\r\n\r\n\351\225\225\r\n");
    assert_has(text, "a\357\277\275b\r\n");
}

static void test_attachments(void)
{
    static const char *const posts[] = {
        "Content-Type: multipart/mixed; boundary=b\r\n\r\n"
        "--b\r\nContent-Type: multipart/alternative; boundary=a\r\n\r\n"
        "--a\r\nContent-Type: text/html\r\n\r\n<p>tags</p>\r\n--a\r\n\r\nwords\r\n--a--\r\n--b\r\n"
        "Content-Type: application/pdf; name=\"=?utf-8?q?=C3=A4?=.pdf\"\r\n\r\nxx\r\n"
        "--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\ninner text\r\n"
        "--b\r\nContent-Type: text/html\r\n\r\nonly <b>html</b>\r\n--b--\r\n", NULL};
    g_autofree char *text = text_of(ISSUE_PLAIN, posts);
    assert_has(text, "words");
    assert_lacks(text, "tags");
    assert_has(text, "[left out: application/pdf \303\244.pdf");
    assert_has(text, "Subject: inner\r\n\r\ninner text");
    assert_has(text, "only html");
}

/* A digest within a post: its mails need not say that they are mails. */
static void test_digest_within(void)
{
    static const char *const posts[] = {
        "Content-Type: multipart/digest; boundary=b\r\n\r\n"
        "--b\r\n\r\nReceived: x\r\nSubject: =?utf-8?q?=C3=A4?=\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
        "a=62c\r\n--b\r\n\r\nSubject: two\r\nContent-Type: text/html\r\n\r\n<p>html</p>\r\n--b--\r\n",
        NULL};
    g_autofree char *text = text_of(ISSUE_PLAIN, posts);
    assert_has(text, "\r\nSubject: \303\244\r\n\r\nabc\r\n\r\nSubject: two\r\n\r\nhtml\r\n");
    assert_lacks(text, "Received");
}

/* No line is longer than mail allows, and no character is cut. */
static void test_long_lines(void)
{
    g_autoptr(GString) post = g_string_new("Subject: ");
    for (int at = 0; at < 3000; at++)
        g_string_append(post, "\303\266");
    g_string_append(post, "\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n");
    for (int at = 0; at < 5000; at++)
        g_string_append(post, at % 1500 == 0 ? " " : "\303\244");
    const char *const posts[] = {post->str, NULL};
    g_autofree char *text = text_of(ISSUE_PLAIN, posts);
    g_assert_true(g_utf8_validate(text, -1, NULL));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        g_assert_cmpuint(strcspn(line, "\r\n"), <=, 998);
}

static void test_nothing(void)
{
    static const char *const none[] = {NULL}, *const empty[] = {"", "\r\n", "no header", NULL};
    for (IssueForm form = ISSUE_MIME; form <= ISSUE_PLAIN; form++) {
        g_autofree char *first = text_of(form, none), *second = text_of(form, empty);
        assert_has(first, "Subject: [Test] Digest, Vol 1, Issue 3\r\n");
        assert_has(second, "Message: 3\r\n");
    }
}

static void check_mail(GBytes *mail, const char *name, void *data)
{
    (void)data, (void)name;
    g_autoptr(GBytes) wire = corpus_wire(mail);
    GBytes *posts[] = {mail, wire};
    issue_check(posts, 2);
}

static void test_corpus(void)
{
    static const char *const folders[] = {"lists", "mime", "partial", "bounces"};
    for (size_t at = 0; at < G_N_ELEMENTS(folders); at++)
        g_assert_cmpuint(corpus_each(folders[at], check_mail, NULL), >, 0);
}

SUITE("issue")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mail/issue/MIME, each post octet for octet", test_mime);
    g_test_add_func("/mail/issue/plain text, RFC 1153", test_plain);
    g_test_add_func("/mail/issue/prefix with a number", test_numbered_prefix);
    g_test_add_func("/mail/issue/charsets", test_charsets);
    g_test_add_func("/mail/issue/attachments, alternatives, messages within", test_attachments);
    g_test_add_func("/mail/issue/digest within a post", test_digest_within);
    g_test_add_func("/mail/issue/long lines", test_long_lines);
    g_test_add_func("/mail/issue/no posts, and posts of nothing", test_nothing);
    g_test_add_func("/mail/issue/made and real mail", test_corpus);
    return g_test_run();
}
