/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The rule dmarc-mitigation and the handler dmarc, with a DNS of the test's own. */
#include "base/clock.h"
#include "mail/address.h"
#include "mail/header.h"
#include "posting/authenticity.h"
#include "posting/chain.h"
#include "posting/pipeline.h"
#include "store/lists/list_setting.h"
#include "t/posting/fixture.h"
#include "t/suite.h"

#define REJECT "v=DMARC1; p=reject"
#define BODY "To: test@example.com\r\nSubject: x\r\nMessage-ID: <1@example.org>\r\n\r\nbody\r\n"
#define ANNE "From: Anne Person <anne@example.org>\r\n"

/* These are the records that _dmarc.example.org, and a domain in IDNA, publish; NULL: nothing. */
static const char *published, *second;
static NamesAnswer answer;

static NamesAnswer text(void *data, const char *name, const char *const **texts)
{
    static const char *both[3];
    both[0] = published;
    both[1] = second;
    *texts = both;
    if (answer != NAMES_FOUND)
        return answer;
    bool has_record = strcmp(name, "_dmarc.example.org") == 0 || strcmp(name, "_dmarc.xn--x-eha.example") == 0;
    return published && has_record ? NAMES_FOUND : NAMES_NONE;
}

static NamesAnswer exists(void *data, const char *name)
{
    return NAMES_FOUND;
}

static const Names names = {text, exists, NULL};

static void set_up(Bench *bench, gconstpointer data)
{
    bench_set_up(bench, data);
    published = REJECT;
    second = NULL;
    answer = NAMES_FOUND;
    bench->list->settings->default_nonmember_action = ACTION_DEFER;
    bench->list->settings->dmarc_mitigate_action = MITIGATION_MUNGE_FROM;
}

static Post *make_post(Bench *bench, const char *octets)
{
    Post *post = bench_post(bench, octets);
    post->names = &names;
    post->arrival = post->now;
    return post;
}

static Verdict verdict_of(Bench *bench, const char *octets, bool moderated)
{
    g_autoptr(GError) error = NULL;
    Verdict verdict;
    Post *post = make_post(bench, octets);
    post->moderated = moderated;
    g_assert_true(chain_run(&chain_posting, post, &verdict, &error));
    return verdict;
}

/* The copies of the post. */
static Message *copies_of(Bench *bench, const char *octets)
{
    g_autoptr(GError) error = NULL;
    Post *post = make_post(bench, octets);
    g_assert_true(pipeline_run(&pipeline_posting, post, &error));
    g_assert_no_error(error);
    PostSend *send = post_send_find(post, POST_OUT);
    g_assert_nonnull(send);
    return send->message ? send->message : post->message;
}

static void assert_field(const Message *message, const char *name, const char *expected)
{
    g_autofree char *value = message_value(message, name);
    g_assert_cmpstr(value, ==, expected);
}

static void test_refused(Bench *bench, gconstpointer data)
{
    bench->list->settings->dmarc_mitigate_action = MITIGATION_REJECT;
    g_assert_cmpint(verdict_of(bench, ANNE BODY, false), ==, VERDICT_REJECT);
    g_assert_nonnull(strstr(bench->post.reasons->pdata[0], "DMARC"));
    g_free(bench->list->settings->dmarc_moderation_notice);
    bench->list->settings->dmarc_moderation_notice = g_strdup("Write from home.");
    verdict_of(bench, ANNE BODY, false);
    g_assert_cmpstr(bench->post.reasons->pdata[0], ==, "Write from home.");
    g_assert_cmpint(verdict_of(bench, ANNE BODY, true), ==, VERDICT_ACCEPT); /* a moderator let it pass */
    bench->list->settings->dmarc_mitigate_action = MITIGATION_DISCARD;
    g_assert_cmpint(verdict_of(bench, ANNE BODY, false), ==, VERDICT_DISCARD);
    bench->list->settings->dmarc_mitigate_unconditionally = true; /* that is for what does not refuse */
    published = "v=DMARC1; p=none";
    g_assert_cmpint(verdict_of(bench, ANNE BODY, false), ==, VERDICT_ACCEPT);
    bench->list->settings->dmarc_mitigate_action = MITIGATION_NONE;
    published = REJECT;
    g_assert_cmpint(verdict_of(bench, ANNE BODY, false), ==, VERDICT_ACCEPT);
}

static void test_when(Bench *bench, gconstpointer data)
{
    static char *words[] = {(char *)"^.*@example\\.net", NULL};
    static const struct {
        const char *text;
        Mitigation mitigation;
    } cases[] = {{REJECT, MITIGATION_MUNGE_FROM}, {"v=DMARC1; p=quarantine", MITIGATION_MUNGE_FROM},
                 {"v=DMARC1; p=none", MITIGATION_NONE}, {"v=spf1 -all", MITIGATION_NONE}, {NULL, MITIGATION_NONE}};
    Mitigation mitigation;
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        published = cases[at].text;
        mitigation_find(make_post(bench, ANNE BODY), &mitigation);
        g_assert_cmpint(mitigation, ==, cases[at].mitigation);
    }
    published = "v=DMARC1; p=none"; /* of two none counts */
    second = REJECT;
    mitigation_find(make_post(bench, ANNE BODY), &mitigation);
    g_assert_cmpint(mitigation, ==, MITIGATION_NONE);
    mitigation_find(make_post(bench, "From: cris@example.net\r\n" BODY), &mitigation);
    g_assert_cmpint(mitigation, ==, MITIGATION_NONE);
    char **own = bench->list->settings->dmarc_addresses;
    bench->list->settings->dmarc_addresses = words;
    mitigation_find(make_post(bench, "From: cris@example.net\r\n" BODY), &mitigation);
    g_assert_cmpint(mitigation, ==, MITIGATION_MUNGE_FROM);
    bench->list->settings->dmarc_addresses = own;
    bench->list->settings->dmarc_mitigate_unconditionally = true;
    mitigation_find(make_post(bench, "From: cris@example.net\r\n" BODY), &mitigation);
    g_assert_cmpint(mitigation, ==, MITIGATION_MUNGE_FROM);
    mitigation_find(make_post(bench, "From: test@example.com\r\n" BODY), &mitigation);
    g_assert_cmpint(mitigation, ==, MITIGATION_NONE);
    bench->list->settings->anonymous_list = true;
    mitigation_find(make_post(bench, ANNE BODY), &mitigation);
    g_assert_cmpint(mitigation, ==, MITIGATION_NONE);
}

/* Whatever stands in From: where a reader may find ceo@example.org in it, or nobody, that policy counts. */
static void test_no_way_round(Bench *bench, gconstpointer data)
{
    static const char *const hidden[] = {
        "From: ceo@example.org.\r\n",
        "From: me@example.net, ceo@example.org\r\n",
        "From: ceo@example.org, me@example.net\r\n",
        "From: me@example.net\r\nFrom: ceo@example.org\r\n",
        "From: ceo@example.org\r\nFrom: me@example.net\r\n",
        "From: me@example.net\r\nfrom : me@example.net\r\n",
        "From: Board: ceo@example.org;\r\n",
        "From: Board:;\r\n",
        "From: <me@example.net> <ceo@example.org>\r\n",
        "From: ceo@example.org <me@example.net>\r\n",
        "From: ceo@example.org b\r\n",
        "From: ceo@example.org (the (chief)\r\n",
        "From: ceo@example.org (the (chief))\r\n",
        "From: (the \\) chief) ceo @ (at) Example.ORG\r\n",
        "From: \"ceo@example.org\"@example.net\r\n",
        "From: \"ceo\"@example.org\r\n",
        "From: \"a \\\" <b@example.net>\" <ceo@example.org>\r\n",
        "From: \"me <ceo@example.org>\r\n",
        "From: =?utf-8?q?ceo=40example.org?=\r\n",
        "From: me@\xe2\x80\xa8.example\r\n", /* no name of the DNS */
        "From: me@\xe2\x99\xa5.example\r\n", /* nor is this */
        "From: ceo@x\xc3\xbc.example\r\n",
        "From: ceo@xn--x-eha.example\r\n",
        "From: ceo@example\xe3\x80\x82org\r\n", /* U+3002 is a dot */
        "From: a@1.example, a@2.example, a@3.example, a@4.example, a@5.example, a@6.example, a@7.example, a@8.example,"
        " a@9.example\r\n",
        "From:\r\n",
        "",
    };
    static const char *const free_ones[] = {
        "From: me@example.net\r\n", "From: Me <me@example.net>, you@example.com\r\n",
        "From: \"<ceo@example.org>\" <me@example.net>\r\n", "From: me@example.net (at work)\r\n",
        "From: me@[192.0.2.1]\r\n",
    };
    Mitigation mitigation;
    for (int pass = 0; pass < 3; pass++) {
        static const int actions[] = {MITIGATION_MUNGE_FROM, MITIGATION_REJECT, MITIGATION_DISCARD};
        bench->list->settings->dmarc_mitigate_action = actions[pass];
        for (size_t at = 0; at < G_N_ELEMENTS(hidden); at++) {
            g_autofree char *octets = g_strconcat(hidden[at], BODY, NULL);
            g_test_message("%s", hidden[at]);
            g_assert_cmpint(mitigation_find(make_post(bench, octets), &mitigation), ==, NAMES_FOUND);
            g_assert_cmpint(mitigation, ==, actions[pass]);
            if (pass > 0)
                g_assert_cmpint(verdict_of(bench, octets, false), ==, pass == 1 ? VERDICT_REJECT : VERDICT_DISCARD);
        }
        for (size_t at = 0; at < G_N_ELEMENTS(free_ones); at++) {
            g_autofree char *octets = g_strconcat(free_ones[at], BODY, NULL);
            g_test_message("%s", free_ones[at]);
            mitigation_find(make_post(bench, octets), &mitigation);
            g_assert_cmpint(mitigation, ==, MITIGATION_NONE);
            if (pass > 0)
                g_assert_cmpint(verdict_of(bench, octets, false), ==, VERDICT_ACCEPT);
        }
    }
    bench->list->settings->dmarc_mitigate_action = MITIGATION_MUNGE_FROM;
    for (size_t at = 0; at < G_N_ELEMENTS(hidden); at++) {
        g_autofree char *octets = g_strconcat(hidden[at], BODY, NULL);
        const Message *message = copies_of(bench, octets);
        g_autoptr(GPtrArray) found = address_list_new();
        size_t index = 0;
        const Field *from = message_find(message, "From", &index);
        g_test_message("%s", hidden[at]);
        g_assert_true(address_parse(from->text + from->value_offset, from->length - from->value_offset, found));
        g_assert_cmpuint(found->len, ==, 1);
        g_assert_cmpstr(((Address *)found->pdata[0])->mailbox, ==, "test@example.com");
        index++;
        g_assert_null(message_find(message, "From", &index));
    }
}

/* A domain that tests its policy wants its names changed, but no mail refused for a policy that is not applied. */
static void test_testing(Bench *bench, gconstpointer data)
{
    static const struct {
        const char *text;
        Mitigation munged, refused;
    } cases[] = {{"v=DMARC1; p=quarantine; t=y", MITIGATION_MUNGE_FROM, MITIGATION_NONE},
                 {"v=DMARC1; p=reject; t=y", MITIGATION_MUNGE_FROM, MITIGATION_REJECT},
                 {"v=DMARC1; p=none; t=y", MITIGATION_NONE, MITIGATION_NONE}};
    Mitigation mitigation;
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        published = cases[at].text;
        bench->list->settings->dmarc_mitigate_action = MITIGATION_MUNGE_FROM;
        mitigation_find(make_post(bench, ANNE BODY), &mitigation);
        g_assert_cmpint(mitigation, ==, cases[at].munged);
        bench->list->settings->dmarc_mitigate_action = MITIGATION_REJECT;
        mitigation_find(make_post(bench, ANNE BODY), &mitigation);
        g_assert_cmpint(mitigation, ==, cases[at].refused);
    }
}

/* DNS that gives no answer loses nothing. */
static void test_without_answer(Bench *bench, gconstpointer data)
{
    Mitigation mitigation;
    answer = NAMES_PENDING;
    Post *post = make_post(bench, ANNE BODY);
    g_assert_cmpint(mitigation_find(post, &mitigation), ==, NAMES_PENDING);
    answer = NAMES_TROUBLE;
    g_assert_cmpint(mitigation_find(post, &mitigation), ==, NAMES_TROUBLE);
    g_assert_cmpint(mitigation, ==, MITIGATION_MUNGE_FROM);
    g_assert_false(mitigation_waits(post));
    bench->list->settings->dmarc_without_answer = DMARC_WITHOUT_PASS;
    mitigation_find(make_post(bench, ANNE BODY), &mitigation);
    g_assert_cmpint(mitigation, ==, MITIGATION_NONE);
    bench->list->settings->dmarc_without_answer = DMARC_WITHOUT_WAIT;
    post = make_post(bench, ANNE BODY);
    g_assert_cmpint(mitigation_find(post, &mitigation), ==, NAMES_TROUBLE);
    g_assert_true(mitigation_waits(post));
    post->now = post->arrival + 25 * 3600 * CLOCK_SECOND;
    g_assert_false(mitigation_waits(post));
    bench->list->settings->dmarc_without_answer = DMARC_WITHOUT_MITIGATE;
    bench->list->settings->dmarc_mitigate_action = MITIGATION_DISCARD;
    g_assert_cmpint(verdict_of(bench, ANNE BODY, false), ==, VERDICT_ACCEPT);
}

static void test_munge_from(Bench *bench, gconstpointer data)
{
    static const struct {
        const char *from, *munged, *reply_to;
    } cases[] = {
        {"Anne Person <anne@example.org>", "Anne Person via Test <test@example.com>", "Anne Person <anne@example.org>"},
        {"\"Person, Anne\" <a2@example.org>", "\"Person, Anne via Test\" <test@example.com>",
         "\"Person, Anne\" <a2@example.org>"},
        {"anne@example.org", "Anne via Test <test@example.com>", "anne@example.org"}, /* as the list knows her */
        {"cris@example.org", "cris via Test <test@example.com>", "cris@example.org"},
        {"\"cris@example.org\" <cris@example.org>", "cris via Test <test@example.com>",
         "\"cris@example.org\" <cris@example.org>"},
        {"\"Dora @ home.example in Ulm\" <d@example.org>", "\"Dora @ home.example in Ulm via Test\" <test@example.com>",
         "\"Dora @ home.example in Ulm\" <d@example.org>"},
        {"\"Bob Smith <bob@example.org>\" <bob@example.org>", "Bob Smith via Test <test@example.com>",
         "\"Bob Smith <bob@example.org>\" <bob@example.org>"},
        {"\"Bob Smith (bob@example.org)\" <bob@example.org>", "Bob Smith via Test <test@example.com>",
         "\"Bob Smith (bob@example.org)\" <bob@example.org>"},
        {"\"<bob@example.org>\" <bob@example.org>", "bob via Test <test@example.com>",
         "\"<bob@example.org>\" <bob@example.org>"},
        {"Bob Smith, Jr. <bob@example.org>", "\"Bob Smith, Jr. via Test\" <test@example.com>",
         "\"Bob Smith, Jr.\" <bob@example.org>"},
        {"=?iso-8859-1?q?J=FCrgen?= <j@example.org>", "J\303\274rgen via Test <test@example.com>",
         "J\303\274rgen <j@example.org>"},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *octets = g_strconcat("From: ", cases[at].from, "\r\n" BODY, NULL);
        const Message *message = copies_of(bench, octets);
        g_autofree char *from = message_value(message, "From"), *reply = message_value(message, "Reply-To");
        g_autofree char *shown = header_decode(from), *shown_reply = header_decode(reply);
        g_assert_cmpstr(shown, ==, cases[at].munged);
        g_assert_cmpstr(shown_reply, ==, cases[at].reply_to);
        g_assert_false(message_has(message, "Cc"));
        /* The copy for the archive keeps its author. */
        g_autofree char *kept = message_value(bench->message, "From");
        g_assert_cmpstr(kept, ==, cases[at].from);
    }
}

static void test_author_stays_reachable(Bench *bench, gconstpointer data)
{
    const Message *message = copies_of(bench, ANNE "Reply-To: b@example.net\r\n" BODY);
    assert_field(message, "Reply-To", "b@example.net, Anne Person <anne@example.org>");
    message = copies_of(bench, ANNE "Reply-To: ANNE@example.org\r\n" BODY);
    assert_field(message, "Reply-To", "ANNE@example.org");
    message = copies_of(bench, ANNE "Reply-To: b@example.net,\r\n" BODY);
    assert_field(message, "Reply-To", "b@example.net, Anne Person <anne@example.org>");
    message = copies_of(bench, ANNE "Reply-To: b@example.net (at work\r\n" BODY);
    assert_field(message, "Reply-To", "Anne Person <anne@example.org>, b@example.net (at work");
    bench->list->settings->reply_goes_to_list = REPLY_POINT_TO_LIST;
    message = copies_of(bench, ANNE "Cc: c@example.net\r\n" BODY);
    assert_field(message, "Reply-To", "test@example.com");
    assert_field(message, "Cc", "c@example.net, Anne Person <anne@example.org>");
}

static void test_wrap_message(Bench *bench, gconstpointer data)
{
    bench->list->settings->dmarc_mitigate_action = MITIGATION_WRAP_MESSAGE;
    const Message *message = copies_of(bench, ANNE "DKIM-Signature: v=1\r\nX-Own: 1\r\n" BODY);
    assert_field(message, "From", "Anne Person via Test <test@example.com>");
    assert_field(message, "Content-Type", "message/rfc822");
    g_assert_false(message_has(message, "DKIM-Signature"));
    g_assert_false(message_has(message, "X-Own"));
    g_assert_true(message_has(message, "List-Id"));
    g_autofree char *id = message_id(message);
    g_assert_cmpstr(id, !=, "1@example.org");
    g_autoptr(GBytes) body = message_body(message);
    g_autoptr(Message) inside = message_new(body);
    assert_field(inside, "From", "Anne Person <anne@example.org>");
    assert_field(inside, "DKIM-Signature", "v=1");
    assert_field(inside, "Message-ID", "<1@example.org>");
    g_autoptr(GBytes) text_inside = message_body(inside);
    g_assert_cmpmem(g_bytes_get_data(text_inside, NULL), g_bytes_get_size(text_inside), "body\r\n", 6);
    g_free(bench->list->settings->dmarc_wrapped_message_text);
    bench->list->settings->dmarc_wrapped_message_text = g_strdup("The post is inside.\n");
    message = copies_of(bench, ANNE BODY);
    g_autofree char *type = message_value(message, "Content-Type");
    g_assert_true(g_str_has_prefix(type, "multipart/mixed; boundary="));
    g_autoptr(GBytes) parts = message_body(message);
    size_t length;
    const char *octets = g_bytes_get_data(parts, &length);
    g_assert_nonnull(memmem(octets, length, "The post is inside.\r\n", 21));
    g_assert_nonnull(memmem(octets, length, "\r\n\r\nFrom: Anne Person <anne@example.org>\r\n", 42));
}

#define TEST(path, function) g_test_add(path, Bench, NULL, set_up, function, bench_tear_down)

/* A name that cannot be decoded without a loss stays as it came, unless it has bytes that are not ASCII; one in a
 * charset with a second name is decoded. */
static void test_undecodable_name(Bench *bench, gconstpointer data)
{
    static const struct {
        const char *given, *list, *from, *author;
    } cases[] = {
        {"=?x-foo?Q?=F9?= X", "Test", "=?x-foo?Q?=F9?= X via Test <test@example.com>",
         "=?x-foo?Q?=F9?= X <anne@example.org>"},
        {"=?x-foo?Q?=F9?=", "\xc3\x96l", "=?x-foo?Q?=F9?= =?utf-8?b?IHZpYSDDlmw=?= <test@example.com>",
         "=?x-foo?Q?=F9?= <anne@example.org>"},
        {"\"J\xf6rg, X\"", "Test", "=?utf-8?b?Su+/vXJnLCBYIHZpYSBUZXN0?= <test@example.com>",
         "=?utf-8?b?Su+/vXJnLCBY?= <anne@example.org>"},
        {"=?ks_c_5601-1987?B?jGM=?=", "Test", "=?utf-8?b?65igIHZpYSBUZXN0?= <test@example.com>",
         "=?utf-8?b?65ig?= <anne@example.org>"},
        {"=?x-foo?Q?pay=40bank=2Eexample=FF?=", "Test", "pay via Test <test@example.com>",
         "=?x-foo?Q?pay=40bank=2Eexample=FF?= <anne@example.org>"},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_free(bench->list->settings->display_name);
        bench->list->settings->display_name = g_strdup(cases[at].list);
        g_autofree char *text = g_strdup_printf("From: %s <anne@example.org>\r\n" BODY, cases[at].given);
        const Message *copies = copies_of(bench, text);
        assert_field(copies, "From", cases[at].from);
        assert_field(copies, "Reply-To", cases[at].author);
    }
}

/* Check that an author without a name is called as this list's membership has it, never as another list's does. */
static void test_name_of_member(Bench *bench, gconstpointer data)
{
    static const struct {
        const char *author, *from;
    } cases[] = {{"cora@example.org", "Cora Own via Test <test@example.com>"},
                 {"dora@example.org", "dora via Test <test@example.com>"}};
    GError *error = NULL;
    bench->list->settings->dmarc_mitigate_unconditionally = true;
    list_free(list_create(bench->store, "other@example.com", &error));
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        const char *author = cases[at].author, *own = at == 0 ? "Cora Own" : NULL;
        g_autofree char *text = g_strdup_printf("From: %s\r\n%s", author, BODY);
        g_assert_true(
            member_add(bench->store, "other.example.com", ROLE_MEMBER, mailbox_of(author), "Other", NULL, &error));
        g_assert_true(member_add(bench->store, "test.example.com", ROLE_MEMBER, mailbox_of(author), own, NULL, &error));
        assert_field(copies_of(bench, text), "From", cases[at].from);
    }
}

/* All authors are named, and stay reachable; without any the list stands in From. */
static void test_several_authors(Bench *bench, gconstpointer data)
{
    static const struct {
        const char *given, *from, *kept;
    } cases[] = {{"From: Anne <anne@example.org>, Bart Person <bart@example.org>\r\n",
                  "\"Anne, Bart Person via Test\" <test@example.com>",
                  "Anne <anne@example.org>, Bart Person <bart@example.org>"},
                 {"From: cora@example.org, =?utf-8?q?J=C3=B6rg?= <j@example.org>, cora@example.org\r\n",
                  "=?utf-8?b?Y29yYSwgSsO2cmcsIGNvcmEgdmlhIFRlc3Q=?= <test@example.com>",
                  "cora@example.org, =?utf-8?b?SsO2cmc=?= <j@example.org>"},
                 {"From: Anne <anne@example.org>, =?x-foo?q?=F9?= <b@example.org>\r\nReply-To: bart@example.org\r\n",
                  NULL, "bart@example.org, Anne <anne@example.org>, =?x-foo?q?=F9?= <b@example.org>"},
                 {"", "Test <test@example.com>", NULL},
                 {"From: \r\n", "Test <test@example.com>", NULL},
                 {"From: nobody\r\n", "Test <test@example.com>", NULL}};
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *text = g_strconcat(cases[at].given, BODY, NULL);
        bench->list->settings->dmarc_mitigate_unconditionally = true;
        const Message *copies = copies_of(bench, text);
        if (cases[at].from)
            assert_field(copies, "From", cases[at].from);
        assert_field(copies, "Reply-To", cases[at].kept);
    }
    bench->list->settings->reply_goes_to_list = REPLY_POINT_TO_LIST;
    g_autofree char *text = g_strconcat(cases[0].given, BODY, NULL);
    assert_field(copies_of(bench, text), "Cc", cases[0].kept);
}

SUITE("dmarc")
{
    g_test_init(&argc, &argv, NULL);
    TEST("/dmarc/refused", test_refused);
    TEST("/dmarc/when", test_when);
    TEST("/dmarc/several authors", test_several_authors);
    TEST("/dmarc/name that cannot be decoded", test_undecodable_name);
    TEST("/dmarc/name of a member", test_name_of_member);
    TEST("/dmarc/no way round", test_no_way_round);
    TEST("/dmarc/testing", test_testing);
    TEST("/dmarc/without answer", test_without_answer);
    TEST("/dmarc/munge from", test_munge_from);
    TEST("/dmarc/the author stays reachable", test_author_stays_reachable);
    TEST("/dmarc/wrap message", test_wrap_message);
    return g_test_run();
}
