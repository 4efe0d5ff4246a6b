/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/pipeline.h"

#include "mail/address.h"
#include "mail/header.h"
#include "store/lists/list_setting.h"
#include "t/mail/corpus.h"
#include "t/posting/fixture.h"
#include "t/suite.h"

#define BASE "From: anne@example.org\r\nTo: test@example.com\r\n"

static void process(const Handler *handler, Post *post)
{
    g_autoptr(GError) error = NULL;
    g_assert_true(handler->process(post, &error));
    g_assert_no_error(error);
}

static void assert_head(const Post *post, const char *expected)
{
    g_autoptr(GBytes) head = message_head(post->message);
    g_autofree char *text = g_strndup(g_bytes_get_data(head, NULL), g_bytes_get_size(head));
    g_assert_cmpstr(text, ==, expected);
}

static void assert_field(const Post *post, const char *name, const char *expected)
{
    g_autofree char *value = message_value(post->message, name);
    g_assert_cmpstr(value, ==, expected);
}

static void set_text(char **place, const char *text)
{
    g_free(*place);
    *place = g_strdup(text);
}

static void test_recipients(Bench *bench, gconstpointer data)
{
    Post *post = bench_post(bench, BASE "Cc: Bart <bart@example.org>\r\n\r\n");
    process(&handler_member_recipients, post);
    process(&handler_avoid_duplicates, post);
    g_assert_cmpint(post->recipients, ==, POST_TO_MEMBERS);
    g_assert_cmpstr(post->skip_sender, ==, "anne@example.org");
    g_assert_cmpuint(g_strv_length(post->copied), ==, 2);
    g_assert_cmpstr(post->copied[1], ==, "bart@example.org");
}

/* Bart reads the list and wants no copy besides; Cris does not mind; Dora gets digests, and Gus nothing; Eve and Fay
 * are no members. */
static void test_cc(Bench *bench, gconstpointer data)
{
    static const struct {
        const char *fields, *expected; /* NULL: there is no Cc */
    } cases[] = {
        {"", NULL},
        {"Cc: Eve <eve@example.net>,cris@example.org\r\n", "Eve <eve@example.net>,cris@example.org"},
        {"Cc: Dora <dora@example.org>\r\n", "Dora <dora@example.org>"},
        {"Cc: gus@example.org\r\n", "gus@example.org"},
        {"Cc: bart@example.org\r\n", NULL},
        {"Cc: \"Bart, B.\" <BART@example.org>, =?utf-8?q?J=C3=B6?= <eve@example.net>,\r\n cris@example.org\r\n",
         "=?utf-8?q?J=C3=B6?= <eve@example.net>,\r\n cris@example.org"},
        {"Cc: Friends: eve@example.net,\r\n\tBart <bart@example.org>,\r\n\tfay@example.net;, (C) cris@example.org\r\n",
         "Friends: eve@example.net,\r\n fay@example.net;, (C) cris@example.org"},
        {"Cc: Friends: Bart <bart@example.org>, fay@example.net, bart@example.org;\r\n", "Friends: fay@example.net;"},
        {"Cc: Friends: bart@example.org;, bart@example.org (B.)\r\n", "Friends:;"},
        {"Cc: eve@example.net\r\nCC: bart@example.org, \"Fay, F.\" <fay@example.net>\r\n",
         "eve@example.net,\r\n \"Fay, F.\" <fay@example.net>"},
        {"Cc: bart@example.org\r\nCc: Bart <bart@example.org>\r\n", NULL},
    };
    static const char open[] = BASE "Cc: eve@example.net, \"Fay\r\nCc: cris@example.org\r\n\r\n";
    Preferences none = preferences_unset, digest = preferences_unset, away = preferences_unset;
    none.receive_list_copy = 0;
    away.receive_list_copy = 0;
    away.delivery_status = DELIVERY_BY_USER;
    digest.receive_list_copy = 0;
    digest.delivery_mode = MODE_MIME_DIGESTS;
    member_set_preferences(bench->store, "test.example.com", ROLE_MEMBER, mailbox_of("bart@example.org"), &none, NULL);
    member_add(bench->store, "test.example.com", ROLE_MEMBER, mailbox_of("cris@example.org"), NULL, NULL, NULL);
    member_add(bench->store, "test.example.com", ROLE_MEMBER, mailbox_of("dora@example.org"), NULL, &digest, NULL);
    member_add(bench->store, "test.example.com", ROLE_MEMBER, mailbox_of("gus@example.org"), NULL, &away, NULL);
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *octets = g_strconcat(BASE, cases[at].fields, "\r\n", NULL);
        Post *post = bench_post(bench, octets);
        size_t index = 0;
        process(&handler_avoid_duplicates, post);
        const Field *field = message_find(post->message, "Cc", &index);
        g_autofree char *value = field ? field_value_folded(field) : NULL;
        g_test_message("%s", cases[at].fields);
        g_autofree char *plain = value ? g_ascii_strdown(value, -1) : NULL;
        g_autofree char *expected = cases[at].expected ? g_ascii_strdown(cases[at].expected, -1) : NULL;
        g_assert_cmpstr(plain, ==, expected);
        index++;
        g_assert_null(field ? message_find(post->message, "Cc", &index) : NULL);
    }
    /* Where nobody is left out the fields stay as they are: they may be signed. */
    static const char two[] = BASE "Cc: eve@example.net\r\nCc: \"Fay, F.\" <fay@example.net>\r\n\r\n";
    Post *signed_post = bench_post(bench, two);
    process(&handler_avoid_duplicates, signed_post);
    assert_head(signed_post, two);
    Post *post = bench_post(bench, open); /* what cannot be joined stays */
    size_t index = 0;
    process(&handler_avoid_duplicates, post);
    g_assert_nonnull(message_find(post->message, "Cc", &index));
    index++;
    g_assert_nonnull(message_find(post->message, "Cc", &index));
}

static void test_owner_recipients(Bench *bench, gconstpointer data)
{
    Post *post = bench_post(bench, BASE "\r\n");
    process(&handler_owner_recipients, post);
    g_assert_cmpuint(g_strv_length(post->given), ==, 1);
    g_assert_cmpstr(post->given[0], ==, "olga@example.org");
    g_assert_true(member_remove(bench->store, "test.example.com", ROLE_OWNER, mailbox_of("olga@example.org"), NULL));
    g_assert_true(member_add(bench->store, "test.example.com", ROLE_OWNER, mailbox_of("test-owner@example.com"), NULL,
                             NULL, NULL));
    post = bench_post(bench, BASE "\r\n");
    process(&handler_owner_recipients, post);
    g_assert_cmpstr(post->given[0], ==, "postmaster@example.com");
}

static void test_cleanse(Bench *bench, gconstpointer data)
{
    Post *post = bench_post(bench, BASE "Approved: secret\r\nX-Approve: x\r\nBcc: eve@example.net\r\n"
                                        "Resent-Bcc: eve@example.net\r\nDisposition-Notification-To: y\r\n"
                                        "X-Mailer: z\r\nArchived-At: <a>\r\n\r\n");
    process(&handler_cleanse, post);
    assert_head(post, BASE "X-Mailer: z\r\n\r\n");
}

static void test_anonymous(Bench *bench, gconstpointer data)
{
    bench->list->settings->anonymous_list = true;
    Post *post = bench_post(bench,
                            "Received: from a\r\nFrom: anne@example.org\r\nDKIM-Signature: v=1\r\nARC-Seal: i=1\r\n"
                            "Sender: anne@example.org\r\nX-Mailer: z\r\nMessage-ID: <anne@example.org>\r\n"
                            "Subject: x\r\n\r\n");
    process(&handler_cleanse, post);
    process(&handler_cook_headers, post);
    g_autoptr(GBytes) head = message_head(post->message);
    g_assert_null(g_strstr_len(g_bytes_get_data(head, NULL), (gssize)g_bytes_get_size(head), "anne"));
    assert_field(post, "From", "Test <test@example.com>");
    assert_field(post, "Reply-To", "test@example.com");
    g_assert_true(message_has(post->message, "Message-ID"));
    g_assert_false(message_has(post->message, "ARC-Seal"));
    assert_field(post, "Subject", "x");
    /* The owners' address for replies is no author's. */
    set_text(&bench->list->settings->reply_to_address, "office@example.net");
    bench->list->settings->reply_goes_to_list = REPLY_EXPLICIT_HEADER;
    process(&handler_cook_headers, post);
    assert_field(post, "Reply-To", "office@example.net, test@example.com");
}

/* Of all that mail programs write, nothing stays but what the list's readers need. */
static void test_anonymous_fields(Bench *bench, gconstpointer data)
{
    bench->list->settings->anonymous_list = true;
    Post *post = bench_post(bench,
                            "From: anne@example.org\r\nDate: Fri, 20 Nov 2026 13:20:00 +0545\r\n"
                            "Thread-Index: AdXtrace==\r\nThread-Topic: trace\r\nAccept-Language: trace\r\n"
                            "Feedback-ID: trace\r\nUser-Agent: trace\r\nMessage-ID-Hash: TRACE\r\nList-Id: <trace>\r\n"
                            "Mime-Version: 1.0 (trace 13.4)\r\nContent-Type: text/plain; charset=utf-8\r\n"
                            "Content-Location: http://trace.example/1\r\nContent-ID: <1@trace.example>\r\n"
                            "In-Reply-To: Mail from <anne@trace.example> of today, <1@trace.example>\r\n"
                            "References: <2@trace.example> <3@example.com> <4@trace.example <5@example.com>\r\n"
                            "To: test@example.com\r\nSubject: x\r\n\r\nbody\r\n");
    process(&handler_cleanse, post);
    g_autoptr(GBytes) head = message_head(post->message);
    g_autofree char *text = g_utf8_strdown(g_bytes_get_data(head, NULL), (gssize)g_bytes_get_size(head));
    g_assert_null(strstr(text, "trace"));
    g_assert_null(strstr(text, "+0545"));
    g_assert_true(message_has(post->message, "Date"));
    assert_field(post, "MIME-Version", "1.0");
    assert_field(post, "References", "<3@example.com> <5@example.com>");
    g_assert_false(message_has(post->message, "In-Reply-To"));
    assert_field(post, "Content-Type", "text/plain; charset=utf-8");
}

static const struct {
    int policy;
    bool strip;
    const char *own, *expected;
} reply_to[] = {
    {REPLY_NO_MUNGING, false, "Reply-To: a@x\r\n", "a@x"},
    {REPLY_NO_MUNGING, false, "Reply-To: A <a@x>\r\nReply-To: b@x\r\n", "A <a@x>, b@x"},
    {REPLY_NO_MUNGING, false, "Reply-To: a@x\r\nReply-To: nobody\r\n", "a@x"},
    {REPLY_NO_MUNGING, true, "Reply-To: a@x\r\n", NULL},
    {REPLY_POINT_TO_LIST, false, "", "test@example.com"},
    {REPLY_POINT_TO_LIST, false, "Reply-To: a@x\r\n", "a@x, test@example.com"},
    {REPLY_POINT_TO_LIST, true, "Reply-To: a@x\r\n", "test@example.com"},
    {REPLY_POINT_TO_LIST, false, "Reply-To: A <a@x>,\r\n\tTEST@example.com\r\n", "A <a@x>,\tTEST@example.com"},
    {REPLY_POINT_TO_LIST, false, "Reply-To: test@example.com\r\n", "test@example.com"},
    {REPLY_EXPLICIT_HEADER, false, "Reply-To: a@x\r\n", "else@example.net, a@x"},
    {REPLY_EXPLICIT_HEADER, true, "Reply-To: a@x\r\n", "else@example.net"},
    {REPLY_EXPLICIT_HEADER_ONLY, false, "Reply-To: a@x\r\n", "else@example.net, a@x"},
    {REPLY_EXPLICIT_HEADER_ONLY, false, "Reply-To: Else <else@example.net>\r\n", "else@example.net"},
    {REPLY_EXPLICIT_HEADER_ONLY, true, "Reply-To: a@x\r\n", "else@example.net"},
};

static void test_reply_to(Bench *bench, gconstpointer data)
{
    set_text(&bench->list->settings->reply_to_address, "else@example.net");
    for (size_t at = 0; at < G_N_ELEMENTS(reply_to); at++) {
        bench->list->settings->reply_goes_to_list = reply_to[at].policy;
        bench->list->settings->first_strip_reply_to = reply_to[at].strip;
        g_autofree char *text = g_strconcat(BASE, reply_to[at].own, "\r\n", NULL);
        Post *post = bench_post(bench, text);
        process(&handler_cook_headers, post);
        assert_field(post, "Reply-To", reply_to[at].expected);
    }
}

/* A field that is folded stays so: made one line, thirty addresses would be longer than a line may be. */
static void test_reply_to_folded(Bench *bench, gconstpointer data)
{
    bench->list->settings->reply_goes_to_list = REPLY_POINT_TO_LIST;
    Post *post = bench_post(bench, BASE "Reply-To: A <a@x>,\r\n\tB <b@x>\r\n\r\n");
    process(&handler_cook_headers, post);
    g_autoptr(GBytes) head = message_head(post->message);
    g_assert_nonnull(g_strstr_len(g_bytes_get_data(head, NULL), (gssize)g_bytes_get_size(head),
                                  "\r\nReply-To: A <a@x>,\r\n\tB <b@x>,\r\n test@example.com\r\n"));
}

static void test_cook_headers(Bench *bench, gconstpointer data)
{
    Post *post = bench_post(bench, BASE "\r\n");
    post->message_id = "made-up@example.com";
    process(&handler_cook_headers, post);
    assert_head(post, BASE "Message-ID: <made-up@example.com>\r\nPrecedence: list\r\n\r\n");
    post = bench_post(bench, BASE "Precedence: first-class\r\nMessage-ID: <1@x>\r\n\r\n");
    post->message_id = "1@x";
    process(&handler_cook_headers, post);
    assert_head(post, BASE "Precedence: first-class\r\nMessage-ID: <1@x>\r\n\r\n");
}

static const struct {
    const char *prefix, *subject, *expected;
} subjects[] = {
    {"[Test] ", "Subject: hello\r\n", "Subject: [Test] hello\r\n"},
    {"[Test]", "Subject: hello\r\n", "Subject: [Test] hello\r\n"},
    {"", "Subject: hello\r\n", "Subject: hello\r\n"},
    {"[Test] ", "Subject: [Test] hello\r\n", "Subject: [Test] hello\r\n"},
    {"[Test] ", "Subject: [Test] Re: hello\r\n", "Subject: [Test] Re: hello\r\n"},
    {"[Test] ", "Subject: Re: hello\r\n", "Subject: [Test] Re: hello\r\n"},
    {"[Test] ", "Subject: Re: [Test] hello\r\n", "Subject: [Test] Re: hello\r\n"},
    {"[Test] ", "Subject: AW: [Test] Re[2]: RE: hello\r\n", "Subject: [Test] Re: hello\r\n"},
    {"[Test] ", "Subject: Re : Antw: RES: [Test] hello\r\n", "Subject: [Test] Re: hello\r\n"},
    {"[Test] ", "Subject: =?utf-8?b?UmXCoDogaGVsbG8=?=\r\n", "Subject: [Test] Re: hello\r\n"},
    {"[Test] ", "Subject: =?utf-8?b?5Zue5aSN77yaIGhlbGxv?=\r\n", "Subject: [Test] Re: hello\r\n"},
    {"[Test] ", "Subject: Resolved: hello\r\n", "Subject: [Test] Resolved: hello\r\n"},
    {"[Test] ", "Subject: Reform: hello\r\n", "Subject: [Test] Reform: hello\r\n"},
    /* The prefix among marks of forwarding and tags of gateways: it goes to the front, and they stay, each once. */
    {"[Test] ", "Subject: FW: [Test] hello\r\n", "Subject: [Test] FW: hello\r\n"},
    {"[Test] ", "Subject: Re: WG: [Test] TR: [Test] hello\r\n", "Subject: [Test] Re: WG: TR: hello\r\n"},
    {"[Test] ", "Subject: Fwd: AW: [Test] Re: hello\r\n", "Subject: [Test] Fwd: Re: hello\r\n"},
    {"[Test] ", "Subject: [EXT] [Test] hello\r\n", "Subject: [Test] [EXT] hello\r\n"},
    {"[Test] ", "Subject: [EXT] Re: [Test] [EXT] Re: hello\r\n", "Subject: [Test] [EXT] Re: hello\r\n"},
    {"[Test] ", "Subject: Re: {Spam?} (EXT) [Test] hello\r\n", "Subject: [Test] Re: {Spam?} (EXT) hello\r\n"},
    {"[Test %d] ", "Subject: FW: [Test 7] FW: [Test 8] hello\r\n", "Subject: [Test 42] FW: hello\r\n"},
    {"[Test] ", "Subject: FW: [Other] hello\r\n", "Subject: [Test] FW: [Other] hello\r\n"},
    {"[Test] ", "Subject: FW: FW: hello\r\n", "Subject: [Test] FW: FW: hello\r\n"},
    {"[Test] ", "Subject: FW: see [Test] here\r\n", "Subject: [Test] FW: see [Test] here\r\n"},
    {"[Test] ", "Subject: [EXT [Test] hello\r\n", "Subject: [Test] [EXT [Test] hello\r\n"},
    {"[Test] ", "Subject: FW: [Test]\r\n", "Subject: [Test] FW: (no subject)\r\n"},
    {"[Test] ", "Subject: FW:\r\n [Test] a\r\n b\r\n", "Subject: [Test] FW: a\r\n b\r\n"},
    {"[Test] ", "Subject: =?utf-8?q?WG=3A_=5BTest=5D_=C3=B6l?=\r\n", "Subject: [Test] WG: \xc3\xb6l\r\n"},
    {"[Test] ", "Subject: WG: =?utf-8?q?=5BTest=5D_=C3=B6l?=\r\n", "Subject: [Test] WG: \xc3\xb6l\r\n"},
    {"[Test] ", "Subject: =?utf-8?b?6L2s5Y+R77yaIFtUZXN0XSDlpb0=?=\r\n",
     "Subject: [Test] \xe8\xbd\xac\xe5\x8f\x91\xef\xbc\x9a \xe5\xa5\xbd\r\n"},
    {"[Test] ", "Subject: FW: [Test] =?x-foo?Q?=F9?=\r\n", "Subject: [Test] FW: =?x-foo?Q?=F9?=\r\n"},
    {"[Test] ", "Subject: see [Test] here\r\n", "Subject: [Test] see [Test] here\r\n"},
    {"[Test %d] ", "Subject: hello\r\n", "Subject: [Test 42] hello\r\n"},
    {"[Test %05d] ", "Subject: hello\r\n", "Subject: [Test 00042] hello\r\n"},
    {"[Test %4d] ", "Subject: hello\r\n", "Subject: [Test   42] hello\r\n"},
    {"[Test %1d]", "Subject: hello\r\n", "Subject: [Test 42] hello\r\n"},
    {"%099999999999999999999d", "Subject: hello\r\n", "Subject: 00000000000000000042 hello\r\n"},
    {"[%d%% %5 %d]", "Subject: hello\r\n", "Subject: [42%% %5 %d] hello\r\n"},
    {"[Test %05d]", "Subject: Re: [Test 00007] [Test 8] hello\r\n", "Subject: [Test 00042] Re: hello\r\n"},
    {"[Test %5d]", "Subject: Re: [Test     7] hello\r\n", "Subject: [Test    42] Re: hello\r\n"},
    {"[Test %d] ", "Subject: Re: [Test 7] hello\r\n", "Subject: [Test 42] Re: hello\r\n"},
    {"[Test] ", "Subject: =?utf-8?q?=C3=B6l?=\r\n", "Subject: [Test] =?utf-8?q?=C3=B6l?=\r\n"},
    {"[Test] ", "Subject: a long\r\n folded\r\n\tone\r\n", "Subject: [Test] a long\r\n folded\r\n\tone\r\n"},
    {"[Test] ", "Subject: raw \xff\r\n", "Subject: [Test] raw \xff\r\n"},
    {"[Test] ", "Subject:\r\n", "Subject: [Test] (no subject)\r\n"},
    {"[Test] ", "", "Subject: [Test] (no subject)\r\n"},
    {"[Test] ", "Subject: [Test]\r\n", "Subject: [Test] (no subject)\r\n"},
    {"[Test] ", "Subject: =?utf-8?q?Re=3A_=5BTest=5D_=C3=B6l?=\r\n", "Subject: [Test] Re: \xc3\xb6l\r\n"},
    {"[Test] ", "Subject: Re: =?utf-8?q?=5BTest=5D_=C3=B6l?=\r\n", "Subject: [Test] Re: \xc3\xb6l\r\n"},
    /* A charset that is larger than its label says, and what cannot be decoded: that stays as it came. */
    {"[Test] ", "Subject: =?ks_c_5601-1987?B?UmU6IFtUZXN0XSC+yLPnjGM=?=\r\n",
     "Subject: [Test] Re: \xec\x95\x88\xeb\x85\x95\xeb\x98\xa0\r\n"},
    {"[Test] ", "Subject: =?iso-8859-8-i?Q?Re=3A_=F9?=\r\n", "Subject: [Test] Re: \xd7\xa9\r\n"},
    {"[Test] ", "Subject: =?x-foo?Q?Re=3A_=F9?=\r\n =?x-foo?Q?=F9?=\r\n",
     "Subject: [Test] =?x-foo?Q?Re=3A_=F9?=\r\n =?x-foo?Q?=F9?=\r\n"},
    {"[Test] ", "Subject: =?x-foo?Q?Re=3A_[Test]_=F9?=\r\n", "Subject: =?x-foo?Q?Re=3A_[Test]_=F9?=\r\n"},
    {"[Test] ", "Subject: Re: [Test] =?utf-8?Q?Re=3A_=F9?=\r\n", "Subject: [Test] Re: =?utf-8?Q?Re=3A_=F9?=\r\n"},
    {"[Test] ", "Subject: =?utf-8?Q?Re=3A_=09=F9?= \xff\r\n", "Subject: [Test] =?utf-8?Q?Re=3A_=09=F9?= \xff\r\n"},
    {"[\xc3\x96l] ", "Subject: =?utf-8?Q?Re=3A_=F9?=\r\n", "Subject: =?utf-8?b?W8OWbF0g?= =?utf-8?Q?Re=3A_=F9?=\r\n"},
    {"[\xc3\x96l] ", "Subject: hello\r\n", "Subject: [\xc3\x96l] hello\r\n"},
    {"[\xc3\x96l] ", "Subject: =?utf-8?q?=C3=B6l?=\r\n", "Subject: [\xc3\x96l] \xc3\xb6l\r\n"},
};

/* Compares as they are, else as readers see them. */
static void test_subject_prefix(Bench *bench, gconstpointer data)
{
    for (size_t at = 0; at < G_N_ELEMENTS(subjects); at++) {
        set_text(&bench->list->settings->subject_prefix, subjects[at].prefix);
        g_autofree char *text = g_strconcat(subjects[at].subject, "\r\n", NULL);
        Post *post = bench_post(bench, text);
        post->post_id = 42;
        process(&handler_subject_prefix, post);
        g_autofree char *expected = g_strconcat(subjects[at].expected, "\r\n", NULL);
        g_autoptr(GBytes) head = message_head(post->message);
        g_autofree char *result = g_strndup(g_bytes_get_data(head, NULL), g_bytes_get_size(head));
        if (g_strcmp0(result, expected) == 0)
            continue;
        for (char *octet = result; *octet; octet++)
            g_assert_cmpint((unsigned char)*octet, <, 128);
        g_autofree char *decoded = header_decode(result), *wanted = header_decode(expected);
        g_assert_cmpstr(decoded, ==, wanted);
        g_assert_nonnull(strstr(result, "=?"));
        /* Twice is the same as once. */
        g_autoptr(Message) again = message_new(head);
        post->message = again;
        process(&handler_subject_prefix, post);
        g_autofree char *once = header_decode(result), *raw = message_value(again, "Subject"),
                        *twice = header_decode(raw);
        g_assert_true(g_str_has_prefix(once, "Subject: "));
        g_assert_cmpstr(g_strchomp(once) + 9, ==, twice);
    }
}

/* RFC 5322, 2.1.1: no line is longer than 998 bytes, whatever prefix the owner sets and whatever subject comes. */
static void test_long_subject(Bench *bench, gconstpointer data)
{
    g_autofree char *word = g_strnfill(997, 'x'), *long_word = g_strnfill(980, 'y');
    g_autoptr(GString) words = g_string_new("x"), octets = g_string_new(NULL);
    while (words->len < 990)
        g_string_append(words, " xx");
    while (octets->len < 990)
        g_string_append(octets, "\xc3\xb6");
    const char *const prefixes[] = {"[Test]", word, words->str, octets->str};
    const char *const given[] = {"hello", "=?utf-8?q?=C3=B6l?=", long_word};
    for (size_t prefix = 0; prefix < G_N_ELEMENTS(prefixes); prefix++)
        for (size_t at = 0; at < G_N_ELEMENTS(given); at++) {
            set_text(&bench->list->settings->subject_prefix, prefixes[prefix]);
            g_autofree char *text = g_strdup_printf("Subject: %s\r\n\r\n", given[at]);
            Post *post = bench_post(bench, text);
            process(&handler_subject_prefix, post);
            g_autoptr(GBytes) head = message_head(post->message);
            g_autofree char *all = g_strndup(g_bytes_get_data(head, NULL), g_bytes_get_size(head));
            g_auto(GStrv) lines = g_strsplit(all, "\r\n", -1);
            for (char **line = lines; *line; line++)
                g_assert_cmpuint(strlen(*line), <=, 998);
            g_autofree char *raw = message_value(post->message, "Subject"), *read = header_decode(raw);
            g_autofree char *subject = header_decode(given[at]);
            g_autofree char *wanted = g_strdup_printf("%s %s", prefixes[prefix], subject);
            g_assert_cmpstr(read, ==, wanted);
        }
}

static void test_rfc_2369(Bench *bench, gconstpointer data)
{
    static const PostArchiver archivers[] = {{"box", "https://x/$list_id/", "https://x/$list_id/$hash", false}, {0}};
    set_text(&bench->list->settings->description, "What, \"we\" do\r\nBcc: x");
    Post *post = bench_post(bench,
                            BASE "List-Unsubscribe: <mailto:x@y>\r\nlist-id: <old>\r\nMessage-ID: <ant>\r\n\r\n");
    post->archivers = archivers;
    post_send(post, POST_ARCHIVE);
    process(&handler_rfc_2369, post);
    assert_head(post, BASE "Message-ID: <ant>\r\n"
                           "List-Id: \"What, \\\"we\\\" do\" <test.example.com>\r\n"
                           "List-Help: <mailto:test-request@example.com?subject=help>\r\n"
                           "List-Owner: <mailto:test-owner@example.com>\r\n"
                           "List-Subscribe: <mailto:test-join@example.com>\r\n"
                           "List-Unsubscribe: <mailto:test-leave@example.com>\r\n"
                           "List-Post: <mailto:test@example.com>\r\n"
                           "Archived-At: <https://x/test.example.com/MS6QLWERIJLGCRF44J7USBFDELMNT2BW>\r\n"
                           "List-Archive: <https://x/test.example.com/>\r\n\r\n");
    bench->list->settings->allow_list_posts = false;
    bench->list->settings->archive_policy = ARCHIVE_NEVER;
    post = bench_post(bench, BASE "\r\n");
    post->archivers = archivers;
    process(&handler_rfc_2369, post);
    assert_field(post, "List-Post", "NO");
    g_assert_false(message_has(post->message, "List-Archive"));
    bench->list->settings->include_rfc2369_headers = false;
    post = bench_post(bench, BASE "List-Id: <kept>\r\n\r\n");
    process(&handler_rfc_2369, post);
    assert_head(post, BASE "List-Id: <kept>\r\n\r\n");
}

static unsigned count_fields(const Post *post, const char *name)
{
    unsigned count = 0;
    for (size_t index = 0; message_find(post->message, name, &index); index++)
        count++;
    return count;
}

/* Only what is archived has a place in an archive, and only in those that the list uses. */
static void test_archived_at(Bench *bench, gconstpointer data)
{
    static const PostArchiver archivers[] = {
        {"a", "https://a/", "https://a/$hash", false}, {"b", "https://b/", "https://b/$hash", false},
        {"c", NULL, NULL, false}, {0}};
    static const struct {
        const char *chosen, *more;
        unsigned places;
        const char *list;
    } cases[] = {
        {NULL, "", 2, "<https://a/>, <https://b/>"},
        {"b", "", 1, "<https://b/>"},
        {"c", "", 0, NULL},
        {NULL, "X-No-Archive: yes\r\n", 0, "<https://a/>, <https://b/>"},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_strfreev(bench->list->settings->archivers);
        bench->list->settings->archivers = cases[at].chosen ? g_strsplit(cases[at].chosen, ",", -1) : NULL;
        g_autofree char *text = g_strconcat(BASE "Message-ID: <ant>\r\n", cases[at].more, "\r\n", NULL);
        Post *post = bench_post(bench, text);
        post->archivers = archivers;
        g_autoptr(GError) error = NULL;
        g_assert_true(pipeline_run(&pipeline_posting, post, &error));
        g_assert_cmpuint(count_fields(post, "Archived-At"), ==, cases[at].places);
        g_assert_cmpuint(count_fields(post, "List-Archive"), ==, cases[at].list ? 1 : 0);
        assert_field(post, "List-Archive", cases[at].list);
    }
}

static void test_to_archive(Bench *bench, gconstpointer data)
{
    static const PostArchiver archivers[] = {{"a", NULL, NULL, false}, {"b", NULL, NULL, false}, {0}};
    static const struct {
        const char *header;
        bool archived;
    } cases[] = {{"", true},
                 {"X-No-Archive: yes\r\n", false},
                 {"X-No-Archive:\r\n", false},
                 {"X-No-Archive: no\r\n", true},
                 {"X-Archive: No\r\n", false},
                 {"X-Archive: yes\r\n", true}};
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *text = g_strconcat(BASE, cases[at].header, "\r\n", NULL);
        Post *post = bench_post(bench, text);
        post->archivers = archivers;
        process(&handler_to_archive, post);
        g_assert_true((post_send_find(post, POST_ARCHIVE) != NULL) == cases[at].archived);
    }
    g_strfreev(bench->list->settings->archivers);
    bench->list->settings->archivers = g_strsplit("b,c", ",", -1);
    Post *post = bench_post(bench, BASE "\r\n");
    post->archivers = archivers;
    process(&handler_to_archive, post);
    g_auto(GStrv) kept = g_strdupv(post_send_find(post, POST_ARCHIVE)->archivers);
    g_assert_cmpuint(g_strv_length(kept), ==, 1);
    g_assert_cmpstr(kept[0], ==, "b");
    bench->list->settings->archive_policy = ARCHIVE_NEVER;
    post = bench_post(bench, BASE "\r\n");
    post->archivers = archivers;
    process(&handler_to_archive, post);
    g_assert_null(post_send_find(post, POST_ARCHIVE));
}

/* An archive that everybody may read gets no post of a list whose own archive is not public, nor is it named to its
 * members. */
static void test_public_archive(Bench *bench, gconstpointer data)
{
    static const PostArchiver archivers[] = {{"own", "https://own/", "https://own/$hash", false},
                                             {"world", "https://world/", "https://world/$hash", true},
                                             {0}};
    for (int is_public = 0; is_public < 2; is_public++) {
        bench->list->settings->archive_policy = is_public ? ARCHIVE_PUBLIC : ARCHIVE_PRIVATE;
        Post *post = bench_post(bench, BASE "Message-ID: <ant>\r\n\r\n");
        post->archivers = archivers;
        g_autoptr(GError) error = NULL;
        g_assert_true(pipeline_run(&pipeline_posting, post, &error));
        g_autofree char *names = g_strjoinv(",", post_send_find(post, POST_ARCHIVE)->archivers);
        g_assert_cmpstr(names, ==, is_public ? "own,world" : "own");
        assert_field(post, "List-Archive", is_public ? "<https://own/>, <https://world/>" : "<https://own/>");
        g_assert_cmpuint(count_fields(post, "Archived-At"), ==, is_public ? 2 : 1);
    }
}

/* A list that is linked with a newsgroup sends it its posts, but those that came from there. */
static void test_to_usenet(Bench *bench, gconstpointer data)
{
    static const struct {
        bool gateway, linked, from_news, has_news, goes;
    } cases[] = {
        {true, true, false, true, true}, {false, true, false, true, false}, {true, false, false, true, false},
        {true, true, true, true, false}, {true, true, false, false, false},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        bench->list->settings->gateway_to_news = cases[at].gateway;
        g_free(bench->list->settings->linked_newsgroup);
        bench->list->settings->linked_newsgroup = g_strdup(cases[at].linked ? "comp.test" : "");
        const PostSite site = {.header_match_target = "hold", .news = cases[at].has_news};
        for (int prefixed = 0; prefixed < 2; prefixed++) {
            bench->list->settings->nntp_prefix_subject_too = prefixed;
            Post *post = bench_post(bench, BASE "Subject: [Test] hello\r\n\r\n");
            post->site = &site;
            post->from_news = cases[at].from_news;
            post->author_subject = g_strdup("hello");
            process(&handler_to_usenet, post);
            PostSend *send = post_send_find(post, POST_NEWS);
            g_assert_true((send != NULL) == cases[at].goes);
            if (!send)
                continue;
            g_autofree char *subject = message_value(post_send_message(post, send), "Subject");
            g_assert_cmpstr(subject, ==, prefixed ? "[Test] hello" : "hello");
        }
    }
}

static void test_ours(Bench *bench, gconstpointer data)
{
    Post *post = bench_post(bench, "From: test-owner@example.com\r\nSubject: x\r\nPrecedence: bulk\r\n\r\n");
    post->ours = true;
    g_assert_true(pipeline_run(&pipeline_virgin, post, NULL));
    assert_field(post, "Subject", "x");
    assert_field(post, "Precedence", "bulk");
    assert_field(post, "List-Id", "<test.example.com>");
    g_assert_false(message_has(post->message, "List-Post"));
    g_assert_null(post_send_find(post, POST_OUT)->envelope_sender);
    /* A letter whose answer is waited for has none. */
    post = bench_post(bench, "From: test-owner@example.com\r\nSubject: x\r\n\r\n");
    post->ours = true;
    g_assert_true(pipeline_run(&pipeline_virgin, post, NULL));
    g_assert_false(message_has(post->message, "Precedence"));
    assert_field(post, "List-Id", "<test.example.com>");
}

/* Nothing that leaves tells of the delivery to us, whoever gets it. */
static void test_return_path(Bench *bench, gconstpointer data)
{
    static const Pipeline *const pipelines[] = {&pipeline_posting, &pipeline_owner, &pipeline_virgin};
    for (size_t i = 0; i < G_N_ELEMENTS(pipelines); i++) {
        Post *post = bench_post(bench, "Return-Path: <a@example.org>\r\n" BASE "return-path:\r\n <>\r\n\r\n");
        g_assert_true(pipeline_run(pipelines[i], post, NULL));
        g_assert_false(message_has(post->message, "Return-Path"));
    }
}

static void expect_untouched(const Message *original, const Message *again, const char *field, const char *name)
{
    size_t here = 0, there = 0;
    const Field *given;
    for (; (given = message_find(original, field, &here)); here++, there++) {
        const Field *kept = message_find(again, field, &there);
        if (!kept || kept->length < given->length || memcmp(kept->text, given->text, given->length) != 0)
            g_error("%s: %s changed", name, field);
    }
    if (message_find(again, field, &there))
        g_error("%s: one more %s", name, field);
}

/* A real mail through the whole pipeline: the body is the same, and so is each
 * field that no handler is there to change. */
static void check_mail(GBytes *mail, const char *name, void *data)
{
    Bench *bench = data;
    g_autoptr(GBytes) wire = corpus_wire(mail);
    g_autoptr(Message) original = message_new(wire);
    Post *post = bench_post_bytes(bench, wire);
    post->message_id = "made-up@example.com";
    g_autoptr(GError) error = NULL;
    if (!pipeline_run(&pipeline_posting, post, &error))
        g_error("%s: %s", name, error->message);
    g_autoptr(GBytes) before = message_body(original), after = message_body(post->message);
    g_autofree char *sum_before = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, before);
    g_autofree char *sum_after = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, after);
    g_assert_cmpstr(sum_before, ==, sum_after);
    /* Read anew, as the next host does. */
    g_autoptr(GBytes) head = message_head(post->message);
    g_autoptr(Message) again = message_new(head);
    static const char *const ours[] = {"List-Id",    "List-Post",  "List-Unsubscribe",
                                       "Precedence", "Message-ID", "Subject"};
    for (size_t at = 0; at < G_N_ELEMENTS(ours); at++)
        if (!message_has(again, ours[at]))
            g_error("%s: no %s", name, ours[at]);
    g_autofree char *subject = message_value(again, "Subject"), *decoded = header_decode(subject);
    if (!g_str_has_prefix(decoded, "[Test] "))
        g_error("%s: Subject: %s", name, decoded);
    static const char *const untouched[] = {"From", "To", "Date", "Received", "DKIM-Signature", "MIME-Version",
                                            "Content-Type", "Content-Transfer-Encoding", "In-Reply-To", "References"};
    for (size_t at = 0; at < G_N_ELEMENTS(untouched); at++)
        expect_untouched(original, again, untouched[at], name);
    expect_untouched(original, again, "Cc", name);
}

static void corpus(Bench *bench, const char *folder, unsigned least)
{
    g_assert_true(store_begin(bench->store, NULL));
    g_assert_cmpuint(corpus_each(folder, check_mail, bench), >=, least);
    bench_clear_post(bench);
    g_assert_true(store_commit(bench->store, NULL));
}

static void test_corpus_lists(Bench *bench, gconstpointer data)
{
    corpus(bench, "lists", 600);
}

static void test_corpus_mime(Bench *bench, gconstpointer data)
{
    corpus(bench, "mime", 80);
}

static void test_table(void)
{
    for (const Handler *const *handler = handlers; *handler; handler++) {
        g_assert_true(handler_find((*handler)->name) == *handler);
        g_assert_true(!handler[1] || strcmp(handler[0]->name, handler[1]->name) < 0);
    }
    g_assert_null(handler_find("nothing"));
}

static PostSend *decorate_post(Post *post)
{
    process(&handler_to_outgoing, post);
    process(&handler_decorate, post);
    return post_send_find(post, POST_OUT);
}

/* Return what leaves, with each hole written as <field encoding>. */
static char *outgoing(const Post *post)
{
    const PostSend *send = post_send_find(post, POST_OUT);
    g_autoptr(GString) all = g_string_new(NULL);
    for (guint at = 0; at < send->pieces->len; at++) {
        size_t length;
        const char *octets = g_bytes_get_data(send->pieces->pdata[at], &length);
        g_string_append_len(all, octets, (gssize)length);
    }
    for (guint at = send->holes->len; at > 0; at--) {
        const CopyHole *hole = &g_array_index(send->holes, CopyHole, at - 1);
        g_autofree char *mark = g_strdup_printf("<%s %d>", copy_field_name(hole->field), (int)hole->encoding);
        g_string_insert(all, (gssize)hole->offset, mark);
    }
    return g_string_free(g_steal_pointer(&all), FALSE);
}

static void test_decorate_not_asked(Bench *bench, gconstpointer data)
{
    static const PostCopies copies = {.verp_interval = 3, .unsubscribe_url = ""};
    Post *post = bench_post(bench, BASE "\r\nbody\r\n");
    const PostSend *send = decorate_post(post);
    g_assert_null(send->pieces);
    for (int number = 1; number <= 6; number++) {
        post = bench_post(bench, BASE "\r\nbody\r\n");
        post->copies = &copies;
        post->post_id = number;
        send = decorate_post(post);
        g_assert_null(send->pieces);
        g_assert_true(send->verp == (number % 3 == 0));
        g_assert_false(send->personal);
    }
}

static void test_decorate_for_all(Bench *bench, gconstpointer data)
{
    set_text(&bench->list->settings->msg_header, "$display_name:\n");
    set_text(&bench->list->settings->msg_footer, "-- \n$list_address $user_name");
    Post *post = bench_post(bench, BASE "\r\nbody\r\n");
    const PostSend *send = decorate_post(post);
    g_autofree char *text = outgoing(post);
    g_assert_cmpstr(text, ==, BASE "\r\nTest:\r\nbody\r\n-- \r\ntest@example.com $user_name\r\n");
    g_assert_cmpuint(send->holes->len, ==, 0);
    g_assert_false(send->verp);
    assert_head(post, BASE "\r\n"); /* the archive's copy stays */
}

static void test_decorate_personal(Bench *bench, gconstpointer data)
{
    static const PostCopies copies = {.verp_personalized = true, .unsubscribe_url = "https://l.example.com/$token"};
    set_text(&bench->list->settings->msg_footer, "for $user_name <$user_address>\n");
    bench->list->settings->personalize = PERSONALIZE_FULL;
    Post *post = bench_post(bench, BASE "List-Unsubscribe: <mailto:x>\r\nCc: bart@example.org,\r\n\tcris@x\r\n"
                                        "Cc: dora@x\r\n\r\nbody\r\n");
    post->copies = &copies;
    const PostSend *send = decorate_post(post);
    g_assert_true(send->verp && send->personal);
    g_autofree char *text = outgoing(post);
    g_assert_cmpstr(text, ==,
                    "From: anne@example.org\r\nTo: <user_mailbox 3>\r\n"
                    "List-Unsubscribe: <https://l.example.com/<unsubscribe_token 3>>,\r\n"
                    " <mailto:test-leave@example.com>\r\nCc: bart@example.org,\r\n\tcris@x,\r\n dora@x,\r\n"
                    " test@example.com\r\n"
                    "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\nMIME-Version: 1.0\r\n"
                    "Content-Type: text/plain; charset=<text_charset 3>\r\n"
                    "Content-Transfer-Encoding: <text_transfer 3>\r\n\r\nbody\r\n"
                    "for <user_name 1> <<user_address 1>>\r\n");
}

/* Each member's copy has a To of its own: the list is then in Cc, unless replies to all reach it without that. */
static void test_decorate_list_in_cc(Bench *bench, gconstpointer data)
{
    static const struct {
        const char *fields;
        int reply_goes_to_list;
        bool anonymous;
        const char *expected; /* the field Cc; NULL: there is none */
    } cases[] = {
        {"", REPLY_NO_MUNGING, false, "test@example.com"},
        {"Cc: eve@x\r\n", REPLY_NO_MUNGING, false, "eve@x, test@example.com"},
        {"Cc: eve@x, TEST@example.com\r\n", REPLY_NO_MUNGING, false, "eve@x, TEST@example.com"},
        {"Reply-To: eve@x\r\n", REPLY_NO_MUNGING, false, "test@example.com"},
        {"Reply-To: anne@example.org, Test <test@example.com>\r\n", REPLY_NO_MUNGING, false, NULL},
        {"", REPLY_EXPLICIT_HEADER, false, "test@example.com"},
        {"", REPLY_EXPLICIT_HEADER_ONLY, false, NULL},
        {"Cc: eve@x\r\n", REPLY_EXPLICIT_HEADER_ONLY, false, "eve@x"},
        {"", REPLY_POINT_TO_LIST, false, NULL},
        {"Reply-To: eve@x\r\n", REPLY_POINT_TO_LIST, false, NULL},
        {"Cc: eve@x\r\n", REPLY_POINT_TO_LIST, false, "eve@x"},
        {"", REPLY_NO_MUNGING, true, NULL},
        {"Cc: eve@x\r\n", REPLY_NO_MUNGING, true, "eve@x"},
    };
    bench->list->settings->personalize = PERSONALIZE_FULL;
    set_text(&bench->list->settings->reply_to_address, "talk@example.net");
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        bench->list->settings->reply_goes_to_list = cases[at].reply_goes_to_list;
        bench->list->settings->anonymous_list = cases[at].anonymous;
        g_autofree char *octets = g_strconcat(BASE, cases[at].fields, "\r\nbody\r\n", NULL);
        g_test_message("case %zu: %s", at, cases[at].fields);
        Post *post = bench_post(bench, octets);
        process(&handler_cleanse, post);
        process(&handler_cook_headers, post);
        PostSend *send = decorate_post(post);
        g_autofree char *cc = message_value(post_send_message(post, send), "Cc");
        g_assert_cmpstr(cc, ==, cases[at].expected);
    }
}

SUITE("handlers")
{
    g_test_init(&argc, &argv, NULL);
    BENCH_TEST("/handlers/archived-at", test_archived_at);
    BENCH_TEST("/handlers/recipients", test_recipients);
    BENCH_TEST("/handlers/cc", test_cc);
    BENCH_TEST("/handlers/owner-recipients", test_owner_recipients);
    BENCH_TEST("/handlers/cleanse", test_cleanse);
    BENCH_TEST("/handlers/anonymous", test_anonymous);
    BENCH_TEST("/handlers/anonymous fields", test_anonymous_fields);
    BENCH_TEST("/handlers/reply-to", test_reply_to);
    BENCH_TEST("/handlers/reply-to-folded", test_reply_to_folded);
    BENCH_TEST("/handlers/cook-headers", test_cook_headers);
    BENCH_TEST("/handlers/subject-prefix", test_subject_prefix);
    BENCH_TEST("/handlers/long subject", test_long_subject);
    BENCH_TEST("/handlers/rfc-2369", test_rfc_2369);
    BENCH_TEST("/handlers/to-archive", test_to_archive);
    BENCH_TEST("/handlers/to-archive, public archive", test_public_archive);
    BENCH_TEST("/handlers/to-usenet", test_to_usenet);
    BENCH_TEST("/handlers/decorate, not asked for", test_decorate_not_asked);
    BENCH_TEST("/handlers/decorate, for all", test_decorate_for_all);
    BENCH_TEST("/handlers/decorate, personal", test_decorate_personal);
    BENCH_TEST("/handlers/decorate, list in cc", test_decorate_list_in_cc);
    BENCH_TEST("/handlers/ours", test_ours);
    BENCH_TEST("/handlers/return-path", test_return_path);
    BENCH_TEST("/handlers/corpus lists", test_corpus_lists);
    BENCH_TEST("/handlers/corpus mime", test_corpus_mime);
    g_test_add_func("/handlers/table", test_table);
    return g_test_run();
}
