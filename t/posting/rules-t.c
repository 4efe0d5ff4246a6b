/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/chain.h"

#include <glib/gstdio.h>
#include <time.h>
#include <unistd.h>

#include "store/lists/header_match.h"
#include "store/lists/list_setting.h"
#include "store/people/ban.h"
#include "store/posts/pace.h"
#include "t/doubling.h"
#include "t/posting/fixture.h"
#include "t/suite.h"

#define BASE "From: anne@example.org\r\nTo: test@example.com\r\nSubject: x\r\n"

static bool hits(const Rule *rule, Post *post)
{
    bool hit = false;
    g_autoptr(GError) error = NULL;
    g_assert_true(rule->check(post, &hit, &error));
    g_assert_no_error(error);
    return hit;
}

static void assert_hits(const Rule *rule, Post *post)
{
    g_assert_true(hits(rule, post));
    if (!rule->silent && rule != &rule_approved) {
        g_autofree char *reasons = post_reasons(post, " ");
        g_assert_cmpstr(reasons, !=, "");
    }
}

#define POST(fields) BASE fields "\r\n"
#define QUOTING(fields) BASE fields "\r\nAuto-Submitted: auto-replied\r\n" /* in its text */

/* clang-format off */
/* Texts that a rule hits, and others like them that it lets pass, on a list with the settings of a new one. */
static const struct {
    const Rule *rule;
    const char *text;
    bool hit;
} texts[] = {
    {&rule_loop, POST("List-Post: <mailto:test@example.com>\r\n"), true},
    {&rule_loop, POST("list-post: <mailto:Test@Example.COM?subject=x>\r\n"), true},
    {&rule_loop, POST("List-Post: <https://x/>, <mailto:test@example.com>\r\n"), true},
    {&rule_loop, POST("X-BeenThere: test@example.com\r\n"), true},
    {&rule_loop, POST("List-Id: The <best> list\r\n <test.example.com>\r\n"), true},
    {&rule_loop, POST("List-ID: test.example.com\r\n"), true},
    {&rule_loop, POST(""), false},
    {&rule_loop, POST("List-Post: NO\r\n"), false},
    {&rule_loop, POST("List-Post: <mailto:atest@example.com>\r\n"), false},
    {&rule_loop, POST("List-Post: <mailto:test@example.com.org>\r\n"), false},
    {&rule_loop, POST("List-Id: <other.example.com>\r\n"), false},
    {&rule_loop, POST("List-Id: test.example.com <x>\r\n"), false},
    {&rule_loop, POST("X-BeenThere: test@example.org\r\n"), false},
    {&rule_loop, POST("X-List: <mailto:test@example.com>\r\n"), false},
    {&rule_autoreply, POST("Auto-Submitted: auto-replied\r\n"), true},
    {&rule_autoreply, POST("auto-submitted:\r\n\tAuto-Replied\r\n"), true},
    {&rule_autoreply, POST("Auto-Submitted: auto-replied (vacation)\r\n"), true},
    {&rule_autoreply, POST("Auto-Submitted: auto-replied; owner-email=\"a@example.org\"\r\n"), true},
    {&rule_autoreply, POST("Auto-Submitted: auto-replied ; x=y\r\n"), true},
    {&rule_autoreply, QUOTING(""), false},
    {&rule_autoreply, QUOTING("Auto-Submitted: no\r\n"), false},
    {&rule_autoreply, QUOTING("Auto-Submitted:\r\n"), false},
    {&rule_autoreply, QUOTING("Auto-Submitted: auto-generated\r\n"), false},
    {&rule_autoreply, QUOTING("Auto-Submitted: auto-generated; x=auto-replied\r\n"), false},
    {&rule_autoreply, QUOTING("Auto-Submitted: auto-notified; owner-email=\"a@example.org\"\r\n"), false},
    {&rule_autoreply, QUOTING("Auto-Submitted: auto-replied-not\r\n"), false},
    {&rule_autoreply, QUOTING("Precedence: bulk\r\n"), false},
    {&rule_autoreply, QUOTING("X-Auto-Submitted: auto-replied\r\n"), false},
    {&rule_administrivia, "Subject: unsubscribe\r\n\r\n", true},
    {&rule_administrivia, "Subject: Subscribe me now please\r\n\r\n", true},
    {&rule_administrivia, "Subject: x\r\n\r\n\r\nunsubscribe\r\n", true},
    {&rule_administrivia, "Subject: x\r\n\r\n  HELP  \r\n", true},
    {&rule_administrivia, "Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\npreamble\r\n--b\r\n"
     "Content-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\n\r\nunsubscribe\r\n--c--\r\n--b--\r\n", true},
    {&rule_administrivia, "Subject: how do I unsubscribe\r\n\r\n", false},
    {&rule_administrivia, "Subject: help me please\r\n\r\n", false},
    {&rule_administrivia, "Subject: set x\r\n\r\n", false},
    {&rule_administrivia, "Subject: x\r\n\r\n1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\n10\r\nunsubscribe\r\n",
     false},
    {&rule_administrivia, "Subject: x\r\nContent-Type: text/html\r\n\r\nunsubscribe\r\n", false},
    {&rule_administrivia, "Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
     "unsubscribe\r\n--b\r\n\r\ntext\r\n--b\r\n\r\nhelp\r\n", false},
    {&rule_administrivia, "", false},
    {&rule_administrivia, "\r\n", false},
    {&rule_no_subject, "From: a@b\r\n\r\n", true},
    {&rule_no_subject, "Subject: \r\n \r\n\r\n", true},
    {&rule_no_subject, "Subject: =?utf-8?q?_?=\r\n\r\n", true},
    {&rule_no_subject, BASE "\r\n", false},
    {&rule_implicit_dest, "To: else@example.com\r\n\r\n", true},
    {&rule_implicit_dest, BASE "\r\n", false},
    {&rule_implicit_dest, "Cc: x@y, Test <TEST@example.com>\r\n\r\n", false},
    {&rule_implicit_dest, "Resent-To: test@example.com\r\n\r\n", false},
};
/* clang-format on */

static void test_texts(Bench *bench, gconstpointer data)
{
    for (size_t at = 0; at < G_N_ELEMENTS(texts); at++) {
        g_test_message("%s: %s", texts[at].rule->name, texts[at].text);
        Post *post = bench_post(bench, texts[at].text);
        if (texts[at].hit)
            assert_hits(texts[at].rule, post);
        else
            g_assert_false(hits(texts[at].rule, post));
    }
}

static void test_no_senders(Bench *bench, gconstpointer data)
{
    Post *post = bench_post(bench, "From: nobody\r\n\r\n");
    post->sender = "";
    assert_hits(&rule_no_senders, post);
    g_assert_false(hits(&rule_no_senders, bench_post(bench, "From: nobody\r\n\r\n")));
    post = bench_post(bench, "From: x\r\nReply-To: A <a@example.org>\r\n\r\n");
    post->sender = "";
    g_assert_false(hits(&rule_no_senders, post));
}

static void test_banned_address(Bench *bench, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_assert_false(hits(&rule_banned_address, bench_post(bench, BASE "\r\n")));
    g_assert_true(ban_add(bench->store, "test.example.com", "ANNE@example.org", &error));
    assert_hits(&rule_banned_address, bench_post(bench, BASE "\r\n"));
    assert_hits(&rule_banned_address, bench_post(bench, "From: x@example.org\r\nReply-To: anne@example.org\r\n\r\n"));
    g_assert_true(ban_remove(bench->store, "test.example.com", "anne@example.org", &error));
    g_assert_true(ban_add(bench->store, NULL, "^[ab]nne@", &error));
    assert_hits(&rule_banned_address, bench_post(bench, BASE "\r\n"));
}

static void add_match(Bench *bench, bool site, const char *header, const char *pattern, const char *target)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(HeaderMatch) match = g_new0(HeaderMatch, 1);
    *match = (HeaderMatch){.list_id = site ? NULL : g_strdup("test.example.com"), .position = -1,
                           .header = g_strdup(header), .pattern = g_strdup(pattern), .target = g_strdup(target)};
    g_assert_true(header_match_add(bench->store, match, &error));
}

/* The chain that a post with these fields is sent to; NULL: none. */
static const char *target_of(Bench *bench, const char *fields)
{
    g_autofree char *text = g_strconcat(BASE, fields, "\r\n", NULL);
    Post *post = bench_post(bench, text);
    return hits(&rule_header_match, post) ? post->target : NULL;
}

static void test_header_match(Bench *bench, gconstpointer data)
{
    g_assert_cmpstr(target_of(bench, "X-Spam: yes\r\n"), ==, NULL);
    add_match(bench, false, "X-Spam", "^yes", "discard");
    add_match(bench, false, "X-Spam", "maybe", NULL);
    add_match(bench, false, "Subject", "gr\303\274n", "reject");
    add_match(bench, false, "X-Broken", "(a+)+$", "discard");
    bench_clear_post(bench);
    g_assert_cmpstr(target_of(bench, "X-Spam: no, yes\r\n"), ==, NULL);
    g_assert_cmpstr(target_of(bench, "X-Spam: YES, sure\r\n"), ==, "discard");
    g_assert_cmpstr(target_of(bench, "x-spam: no\r\nX-SPAM:\r\n yes\r\n"), ==, "discard");
    g_assert_cmpstr(target_of(bench, "X-Spam: perhaps, maybe\r\n"), ==, "hold");
    g_assert_cmpstr(target_of(bench, "Subject: =?iso-8859-1?q?GR=DCN?=\r\n"), ==, "reject");
    g_assert_cmpstr(target_of(bench, "X-Broken: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\r\n"), ==, "hold");
    g_assert_cmpstr(target_of(bench, "X-Broken: aaa\r\n"), ==, "discard");
    /* The site's rows come first, and "defer" ends the search. */
    add_match(bench, true, "X-Spam", "sure", "hold");
    add_match(bench, true, "X-Ours", ".", "defer");
    g_assert_cmpstr(target_of(bench, "X-Spam: YES, sure\r\n"), ==, "hold");
    g_assert_cmpstr(target_of(bench, "X-Spam: YES\r\nX-Ours: 1\r\n"), ==, NULL);
}

static void set_patterns(char ***place, const char *patterns)
{
    g_strfreev(*place);
    *place = g_strsplit(patterns, " ", -1);
}

#define SLOW "^(x+x+)+[yz]" /* gives up on a row of x */

/* Nobody knows whether a pattern fits that gave up: a person decides, whatever the rule does with others. */
static void test_slow_patterns(Bench *bench, gconstpointer data)
{
    g_autofree char *row = g_strnfill(60, 'x');
    g_autofree char *slow = g_strdup_printf("From: %s@example.org\r\n\r\n", row);
    g_autofree char *field = g_strdup_printf("From: anne@example.org\r\nX-Mailer: %s\r\n\r\n", row);
    static const char quick[] = "From: anne@example.org\r\n\r\n";
    g_autoptr(GError) error = NULL;
    bench->list->settings->default_nonmember_action = ACTION_DEFER;
    set_patterns(&bench->list->settings->discard_these_nonmembers, SLOW);
    Post *post = bench_post(bench, slow);
    assert_hits(&rule_nonmember_moderation, post);
    g_assert_cmpint(post->action, ==, ACTION_HOLD);
    g_assert_false(hits(&rule_nonmember_moderation, bench_post(bench, quick)));
    set_patterns(&bench->list->settings->discard_these_nonmembers, "");
    g_free(bench->list->settings->bounce_matching_headers);
    bench->list->settings->bounce_matching_headers = g_strdup("X-Mailer: " SLOW);
    assert_hits(&rule_suspicious_header, bench_post(bench, field));
    g_assert_false(hits(&rule_suspicious_header, bench_post(bench, quick)));
    /* of a ban, which throws away, the rule after it knows */
    g_assert_true(ban_add(bench->store, "test.example.com", SLOW, &error));
    post = bench_post(bench, slow);
    g_assert_false(hits(&rule_banned_address, post));
    assert_hits(&rule_header_match, post);
    g_assert_cmpstr(post->target, ==, "hold");
    post = bench_post(bench, quick);
    g_assert_false(hits(&rule_banned_address, post) || hits(&rule_header_match, post));
}

static void test_suspicious_header(Bench *bench, gconstpointer data)
{
    static const char *const lines[] = {
        "# a comment\nto: friend@public\n X-Mailer :  ^Bulk\nno line\n:x\nFrom:\n", ""};
    static const char *const bad[] = {"X-Mailer: bulkinator 3\r\n", "To: a@b, friend@public.com\r\n"};
    for (size_t at = 0; at < G_N_ELEMENTS(bad); at++)
        for (size_t set = 0; set < G_N_ELEMENTS(lines); set++) {
            g_autofree char *text = g_strconcat(BASE, bad[at], "\r\n", NULL);
            g_free(bench->list->settings->bounce_matching_headers);
            bench->list->settings->bounce_matching_headers = g_strdup(lines[set]);
            g_assert_true(hits(&rule_suspicious_header, bench_post(bench, text)) == (set == 0));
        }
    bench->list->settings->bounce_matching_headers[0] = '\0';
    g_assert_false(hits(&rule_suspicious_header, bench_post(bench, BASE "\r\n")));
}

static void test_news_moderation(Bench *bench, gconstpointer data)
{
    bench->list->settings->newsgroup_moderation = NEWSGROUP_OPEN;
    g_assert_false(hits(&rule_news_moderation, bench_post(bench, BASE "\r\n")));
    bench->list->settings->newsgroup_moderation = NEWSGROUP_MODERATED;
    assert_hits(&rule_news_moderation, bench_post(bench, BASE "\r\n"));
}

static void test_digests(Bench *bench, gconstpointer data)
{
    static const PostSite site = {.hold_digest = true};
    static const char dashes[] = "> ----------------------------------------------------------------------\r\n"
                                 "> text\r\n> ------------------------------\r\n";
    static const struct {
        const char *subject, *body;
        bool hit;
    } cases[] = {
        {"Re: Test Digest, Vol 3, Issue 17", "x", true}, {"re: TEST digest, volume 3 issue 17", "x", true},
        {"Re: Test Digest, Vol 3, Issue 17: cats", "x", false}, {"digest of vol 3", "x", false},
        {"cats", dashes, true}, {"cats", "-- \r\nAnne\r\n------------------------------\r\n", false},
        {"cats", "", false},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *text = g_strconcat("From: anne@example.org\r\nSubject: ", cases[at].subject, "\r\n\r\n",
                                            cases[at].body, NULL);
        Post *post = bench_post(bench, text);
        g_assert_false(hits(&rule_digests, post));
        post->site = &site;
        g_assert_true(hits(&rule_digests, post) == cases[at].hit);
    }
}

static void test_emergency(Bench *bench, gconstpointer data)
{
    g_assert_false(hits(&rule_emergency, bench_post(bench, BASE "\r\n")));
    bench->list->settings->emergency = true;
    assert_hits(&rule_emergency, bench_post(bench, BASE "\r\n"));
    Post *post = bench_post(bench, BASE "\r\n");
    post->moderated = true; /* a moderator let it through: it is not held again */
    g_assert_false(hits(&rule_emergency, post));
}

/* Reports and holiday mail without that mark, by the sender of the envelope and by each field. */
static void test_automatic(Bench *bench, gconstpointer data)
{
    static const struct {
        const char *sender, *fields;
        bool hit;
    } cases[] = {
        {"", "", true},
        {"#@[]", "", true},
        {"anne@example.org", "Content-Type: multipart/report; report-type=delivery-status; boundary=x\r\n", true},
        {"anne@example.org", "Precedence: junk\r\n", true},
        {"anne@example.org", "Auto-Submitted: auto-generated\r\nIn-Reply-To: <1@example.com>\r\n"
                             "Subject: Abwesenheitsnotiz: x\r\n", true},
        /* A bug tracker, which refers to the first message about the bug. */
        {"anne@example.org", "Auto-Submitted: auto-generated\r\nIn-Reply-To: <1@example.com>\r\n"
                             "References: <1@example.com>\r\nSubject: [Bug 12] It is cold\r\n", false},
        {"anne@example.org", "Auto-Submitted: auto-generated (x)\r\nSubject: Automatic reply: x\r\n", true},
        {"anne@example.org", "", false},
        {"anne@example.org", "Precedence: bulk\r\nIn-Reply-To: <1@example.com>\r\n", false},
        {"anne@example.org", "Auto-Submitted: auto-generated\r\nSubject: [commit] reply\r\n", false},
        {"anne@example.org", "Auto-Submitted: no\r\nReferences: <1@example.com>\r\n", false},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *text =
            g_strconcat("From: anne@example.org\r\n", cases[at].fields, "\r\nPrecedence: junk\r\n", NULL);
        Post *post = bench_post(bench, text);
        post->sender = cases[at].sender;
        if (cases[at].hit)
            assert_hits(&rule_automatic, post);
        else
            g_assert_false(hits(&rule_automatic, post));
    }
}

static void test_broken_header(Bench *bench, gconstpointer data)
{
    static const char *const broken[] = {
        BASE "no field\r\nReceived: from anne\r\n\r\nbody",
        BASE "no field\r\n\r\nbody",
        "To: test@example.com\r\n\r\nno field\r\nFrom: anne@example.org\r\n\r\nbody",
        BASE "\r\nno field\r\nmessage-id: <1@anne.example.org>\r\n\r\nbody",
        BASE "\r\nX-Originating-IP: 192.0.2.1",
    };
    static const char *const sound[] = {
        BASE "\r\nbody\r\n",
        BASE,
        BASE "\r\nFrom: Bart\r\nI agree.\r\n",
        BASE "\r\nReceived with thanks.\r\n\r\nMessage-ID: is quoted below the first lines\r\n",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(broken); i++)
        g_assert_false(hits(&rule_broken_header, bench_post(bench, broken[i])));
    bench->list->settings->anonymous_list = true;
    for (size_t i = 0; i < G_N_ELEMENTS(broken); i++)
        assert_hits(&rule_broken_header, bench_post(bench, broken[i]));
    for (size_t i = 0; i < G_N_ELEMENTS(sound); i++)
        g_assert_false(hits(&rule_broken_header, bench_post(bench, sound[i])));
}

/* Nobody gets round a ban by the form of From. */
static void test_unreadable_author(Bench *bench, gconstpointer data)
{
    static const char *const unreadable[] = {
        "From: anne@example.org.\r\n\r\n", "From: b@example.org\r\nFrom: anne@example.org\r\n\r\n",
        "From: <b@example.org> <anne@example.org\r\n\r\n", "From: G: anne@example.org;\r\n\r\n", "Subject: x\r\n\r\n",
    };
    static const char *const bans[] = {"test.example.com", NULL};
    g_autoptr(GError) error = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(unreadable); i++)
        g_assert_false(hits(&rule_broken_header, bench_post(bench, unreadable[i])));
    for (size_t ban = 0; ban < G_N_ELEMENTS(bans); ban++) {
        g_assert_true(ban_add(bench->store, bans[ban], "anne@example.org", &error));
        for (size_t i = 0; i < G_N_ELEMENTS(unreadable); i++)
            assert_hits(&rule_broken_header, bench_post(bench, unreadable[i]));
        g_assert_false(hits(&rule_broken_header, bench_post(bench, BASE "\r\n")));
        g_assert_false(hits(&rule_broken_header, bench_post(bench, "From: B <b@example.org>, c@example.org\r\n\r\n")));
        g_assert_true(ban_remove(bench->store, bans[ban], "anne@example.org", &error));
    }
}

static Verdict settled(Post *post)
{
    Verdict verdict = VERDICT_ACCEPT;
    g_assert_true(rules_settle(post, &verdict, NULL));
    return verdict;
}

static void test_duplicate(Bench *bench, gconstpointer data)
{
    Post *post = bench_post(bench, BASE "Message-ID: <1@x>\r\n\r\n");
    g_assert_false(hits(&rule_duplicate, post));
    post->trace = "another";
    g_assert_false(hits(&rule_duplicate, post)); /* nothing was accepted yet */
    post->trace = "first";
    g_assert_cmpint(settled(post), ==, VERDICT_ACCEPT);
    g_assert_false(hits(&rule_duplicate, post)); /* it comes again after a crash */
    g_assert_cmpint(settled(post), ==, VERDICT_ACCEPT);
    post = bench_post(bench, BASE "Message-ID: <1@x>\r\n\r\n");
    post->trace = "another";
    assert_hits(&rule_duplicate, post);
    g_assert_cmpint(settled(post), ==, VERDICT_DISCARD);
    post = bench_post(bench, BASE "Message-ID: <2@x>\r\n\r\n");
    post->trace = "another";
    g_assert_false(hits(&rule_duplicate, post));
    post = bench_post(bench, BASE "\r\n");
    post->message_id = "made-up@example.com";
    g_assert_false(hits(&rule_duplicate, post));
    g_assert_null(post->message_key);
    /* One that is no text is kept as one. */
    post = bench_post(bench, BASE "Message-ID: <\xff@x>\r\n\r\n");
    g_assert_false(hits(&rule_duplicate, post));
    g_autofree char *key = g_compute_checksum_for_string(G_CHECKSUM_SHA1, "\xff@x", -1);
    g_assert_cmpstr(post->message_key, ==, key);
}

static void test_member_moderation(Bench *bench, gconstpointer data)
{
    Post *post = bench_post(bench, "From: eve@example.net\r\nReply-To: ANNE@example.org\r\n\r\n");
    post->sender = "eve@example.net";
    g_assert_false(hits(&rule_member_moderation, post));
    g_assert_cmpstr(post->member, ==, "Anne@example.org");
    bench->list->settings->default_member_action = ACTION_HOLD;
    post = bench_post(bench, BASE "\r\n");
    assert_hits(&rule_member_moderation, post);
    g_assert_cmpint(post->action, ==, ACTION_HOLD);
    g_assert_cmpuint(post->reasons->len, ==, 1);
    g_assert_true(member_set_moderation(bench->store, "test.example.com", ROLE_MEMBER, mailbox_of("anne@example.org"),
                                        ACTION_ACCEPT, NULL));
    post = bench_post(bench, BASE "\r\n");
    g_assert_true(hits(&rule_member_moderation, post));
    g_assert_cmpint(post->action, ==, ACTION_ACCEPT);
    g_assert_cmpuint(post->reasons->len, ==, 0);
    g_assert_true(member_set_moderation(bench->store, "test.example.com", ROLE_MEMBER, mailbox_of("anne@example.org"),
                                        ACTION_DISCARD, NULL));
    post = bench_post(bench, BASE "\r\n");
    assert_hits(&rule_member_moderation, post);
    g_assert_cmpint(post->action, ==, ACTION_DISCARD);
    g_assert_true(member_set_moderation(bench->store, "test.example.com", ROLE_MEMBER, mailbox_of("anne@example.org"),
                                        ACTION_DEFER, NULL));
    g_assert_false(hits(&rule_member_moderation, bench_post(bench, BASE "\r\n")));
    post = bench_post(bench, "From: \xff\xfe@example.org\r\n\r\n");
    post->sender = "";
    g_assert_false(hits(&rule_member_moderation, post));
}

/* Servers and mail programs put quotes around local parts with odd dots. */
static void test_quoted_member(Bench *bench, gconstpointer data)
{
    const char *carrier = "foo..bar@docomo.example";
    g_assert_true(member_add(bench->store, "test.example.com", ROLE_MEMBER, mailbox_of(carrier), NULL, NULL, NULL));
    Post *post = bench_post(bench, "From: eve@example.net\r\n\r\n");
    post->sender = "\"foo..bar\"@docomo.example";
    g_assert_false(hits(&rule_member_moderation, post));
    g_assert_cmpstr(post->member, ==, carrier);
    post = bench_post(bench, "From: Foo <\"foo..bar\"@Docomo.example>\r\n\r\n");
    post->sender = "";
    g_assert_false(hits(&rule_member_moderation, post));
    g_assert_cmpstr(post->member, ==, carrier);
}

static Action nonmember(Bench *bench, const char *from)
{
    g_autofree char *text = g_strdup_printf("From: %s\r\n\r\n", from);
    Post *post = bench_post(bench, text);
    post->sender = strchr(from, '\n') ? NULL : from;
    return hits(&rule_nonmember_moderation, post) ? post->action : ACTION_DEFER;
}

/* Each sender, and what becomes of the post. */
typedef struct NonmemberCase {
    const char *from;
    Action action;
} NonmemberCase;

static void assert_nonmembers(Bench *bench, const NonmemberCase *cases, size_t count)
{
    for (size_t at = 0; at < count; at++) {
        g_test_message("%s", cases[at].from);
        g_assert_cmpint(nonmember(bench, cases[at].from), ==, cases[at].action);
    }
}

static void test_nonmember_moderation(Bench *bench, gconstpointer data)
{
    static const NonmemberCase cases[] = {
        {"eve@example.net", ACTION_HOLD},
        {"Friend@Example.net", ACTION_DEFER},
        {"x@good.example", ACTION_DEFER},
        {"x@good.example.org", ACTION_HOLD},
        {"spammer@example.net", ACTION_REJECT},
        {"nospam@example.net", ACTION_HOLD},
        {"worst@example.net", ACTION_DISCARD},
        /* Of several senders one of whom the list says something counts, before what it does with strangers. */
        {"eve@example.net\r\nReply-To: friend@example.net", ACTION_DEFER},
        {"eve@example.net\r\nSender: worst@example.net", ACTION_DISCARD},
        {"friend@example.net\r\nSender: worst@example.net", ACTION_DEFER},
    };
    List *list = bench->list;
    list->settings->default_nonmember_action = ACTION_HOLD;
    set_patterns(&list->settings->accept_these_nonmembers, "friend@example.net ^.*@good\\.example$");
    set_patterns(&list->settings->reject_these_nonmembers, "^Spam");
    set_patterns(&list->settings->discard_these_nonmembers, "^(unclosed ^(a+)+$ worst@example.net");
    assert_nonmembers(bench, cases, G_N_ELEMENTS(cases));
    list->settings->default_nonmember_action = ACTION_DEFER;
    g_assert_cmpint(nonmember(bench, "eve@example.net"), ==, ACTION_DEFER);
    Post *post = bench_post(bench, BASE "\r\n");
    list->settings->default_nonmember_action = ACTION_HOLD;
    post->member = g_strdup("anne@example.org");
    g_assert_false(hits(&rule_nonmember_moderation, post));
}

/* Members of another list are meant by its address or List-Id; a stranger, a member of a third list, the owner of the
 * named one, and a list that is not there are not. */
static void test_members_of_another_list(Bench *bench, gconstpointer data)
{
    static const char *const others[] = {"staff@example.com", "guests@example.com"};
    GError *error = NULL;
    List *list = bench->list;
    for (size_t at = 0; at < G_N_ELEMENTS(others); at++) {
        g_autoptr(List) other = list_create(bench->store, others[at], &error);
        g_assert_no_error(error);
        g_autofree char *member = g_strdup_printf("%c@example.net", *others[at]);
        g_assert_true(member_add(bench->store, other->list_id, ROLE_MEMBER, mailbox_of(member), NULL, NULL, &error));
        g_assert_true(
            member_add(bench->store, other->list_id, ROLE_OWNER, mailbox_of("olga@example.net"), NULL, NULL, &error));
    }
    list->settings->default_nonmember_action = ACTION_HOLD;
    set_patterns(&list->settings->accept_these_nonmembers, "@nowhere.example.com @staff.example.com");
    g_assert_cmpint(nonmember(bench, "S@example.net"), ==, ACTION_DEFER);
    g_assert_cmpint(nonmember(bench, "g@example.net"), ==, ACTION_HOLD);
    g_assert_cmpint(nonmember(bench, "eve@example.net"), ==, ACTION_HOLD);
    g_assert_cmpint(nonmember(bench, "olga@example.net"), ==, ACTION_HOLD);
    set_patterns(&list->settings->reject_these_nonmembers, "x@example.net @guests@example.com");
    set_patterns(&list->settings->discard_these_nonmembers, "@staff@example.com");
    g_assert_cmpint(nonmember(bench, "g@example.net"), ==, ACTION_REJECT);
    g_assert_cmpint(nonmember(bench, "s@example.net"), ==, ACTION_DEFER);
    set_patterns(&list->settings->accept_these_nonmembers, "");
    g_assert_cmpint(nonmember(bench, "s@example.net"), ==, ACTION_DISCARD);
    set_patterns(&list->settings->hold_these_nonmembers, "@staff.example.com");
    g_assert_cmpint(nonmember(bench, "s@example.net"), ==, ACTION_HOLD);
}

/* A pattern that would take for ever gives up soon, and matches nothing. */
static void test_evil_pattern(Bench *bench, gconstpointer data)
{
    bench->list->settings->default_nonmember_action = ACTION_HOLD;
    set_patterns(&bench->list->settings->discard_these_nonmembers, "^(a+)+(b+)*x$");
    clock_t start = clock();
    g_autofree char *many = g_strnfill(100, 'a');
    g_autofree char *from = g_strconcat(many, "@example.net", NULL);
    g_assert_cmpint(nonmember(bench, from), ==, ACTION_HOLD);
    g_assert_cmpint(clock() - start, <, 2 * CLOCKS_PER_SEC);
}

static void check_destinations(const char *text, size_t length, void *data)
{
    g_autoptr(GBytes) octets = g_bytes_new(text, length);
    assert_hits(&rule_implicit_dest, bench_post_bytes(data, octets));
}

/* Lines on standard error while the rule looks at the post. */
static unsigned complaints(const Rule *rule, Post *post)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = NULL, *text = NULL;
    int file = g_file_open_tmp("complaints-XXXXXX", &path, &error), saved = dup(STDERR_FILENO);
    g_assert_no_error(error);
    dup2(file, STDERR_FILENO);
    assert_hits(rule, post);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(file);
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_remove(path);
    unsigned lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    return lines;
}

/* However many addresses a post names, a pattern that gives up does so once, and the log names it once. */
static void test_evil_alias(Bench *bench, gconstpointer data)
{
    static const char unit[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@example.net, ";
    set_patterns(&bench->list->settings->acceptable_aliases, "^(a|aa|aaa)+z@x ^(a|aa|aa)+z@x");
    g_autoptr(GString) text = g_string_new("Cc: ");
    for (int i = 0; i < 20000; i++)
        g_string_append(text, unit);
    clock_t start = clock();
    g_assert_cmpuint(complaints(&rule_implicit_dest, bench_post(bench, text->str)), ==, 2);
    g_assert_cmpint(clock() - start, <, 2 * CLOCKS_PER_SEC);
    g_assert_cmpuint(complaints(&rule_implicit_dest, bench_post(bench, text->str)), ==, 0); /* the next post */
    /* One that works hard and does not give up. */
    set_patterns(&bench->list->settings->acceptable_aliases, "^.*a.*a.*z@x");
    g_autoptr(GString) hard = g_string_new("Cc: ");
    for (int i = 0; i < 20000; i++)
        g_string_append(hard, unit);
    start = clock();
    g_assert_cmpuint(complaints(&rule_implicit_dest, bench_post(bench, hard->str)), ==, 0);
    g_assert_cmpint(clock() - start, <, 2 * CLOCKS_PER_SEC);
    doubling_check(&(Doubling){.before = "Cc: ", .unit = unit}, check_destinations, bench);
    /* The list's own address is found behind any number of others; an alias by its pattern among the first ones. */
    set_patterns(&bench->list->settings->acceptable_aliases, "^zz@alias");
    g_autofree char *listed = g_strconcat(hard->str, "\r\nTo: test@example.com\r\n\r\n", NULL);
    g_assert_false(hits(&rule_implicit_dest, bench_post(bench, listed)));
    g_assert_false(hits(&rule_implicit_dest, bench_post(bench, "To: a@x, b@x, zz@alias\r\n\r\n")));
}

static void test_implicit_dest(Bench *bench, gconstpointer data)
{
    Post *post = bench_post(bench, "To: test@alias.example\r\n\r\n");
    post->recipient = "test@alias.example";
    g_assert_false(hits(&rule_implicit_dest, post));
    set_patterns(&bench->list->settings->acceptable_aliases, "^old.*@example\\.com short other@example.net");
    g_assert_false(hits(&rule_implicit_dest, bench_post(bench, "To: oldname@example.com\r\n\r\n")));
    g_assert_false(hits(&rule_implicit_dest, bench_post(bench, "To: Short@anywhere.example\r\n\r\n")));
    g_assert_false(hits(&rule_implicit_dest, bench_post(bench, "To: Other@example.net\r\n\r\n")));
    bench->list->settings->require_explicit_destination = false;
    g_assert_false(hits(&rule_implicit_dest, bench_post(bench, "To: else@example.com\r\n\r\n")));
}

static void test_limits(Bench *bench, gconstpointer data)
{
    static const char three[] = "To: a@x, b@x\r\nCc: G: c@x;\r\n\r\n";
    bench->list->settings->max_num_recipients = 4;
    g_assert_false(hits(&rule_max_recipients, bench_post(bench, three)));
    bench->list->settings->max_num_recipients = 3;
    assert_hits(&rule_max_recipients, bench_post(bench, three));
    bench->list->settings->max_num_recipients = 0;
    g_assert_false(hits(&rule_max_recipients, bench_post(bench, three)));
    bench->list->settings->max_message_size = 1;
    Post *post = bench_post(bench, three);
    post->size = 1024;
    g_assert_false(hits(&rule_max_size, post));
    post->size = 1025;
    assert_hits(&rule_max_size, post);
    bench->list->settings->max_message_size = INT64_MAX;
    g_assert_false(hits(&rule_max_size, post));
    bench->list->settings->max_message_size = 0;
    g_assert_false(hits(&rule_max_size, post));
}

static void test_administrivia_is_off(Bench *bench, gconstpointer data)
{
    bench->list->settings->administrivia = false;
    g_assert_false(hits(&rule_administrivia, bench_post(bench, "Subject: unsubscribe\r\n\r\n")));
}

static void test_may_answer(Bench *bench, gconstpointer data)
{
    static const char *const robots[] = {"Auto-Submitted: auto-replied\r\n", "Precedence: bulk\r\n",
                                         "Precedence: list\r\n", "List-Id: <x>\r\n",
                                         "Content-Type: multipart/report; x=y\r\n"};
    static const char *const senders[] = {"",
                                          "MAILER-DAEMON@x.org",
                                          "x-bounces@x.org",
                                          "x-bounces+y=z@x.org",
                                          "x-request@x.org",
                                          "no-reply@x.org",
                                          "test@example.com",
                                          "bad address"};
    g_assert_true(post_may_answer(bench_post(bench, BASE "\r\n")));
    g_assert_true(post_may_answer(bench_post(bench, BASE "Auto-Submitted: no\r\nPrecedence: first-class\r\n\r\n")));
    for (size_t at = 0; at < G_N_ELEMENTS(robots); at++) {
        g_autofree char *text = g_strconcat(BASE, robots[at], "\r\n", NULL);
        g_assert_false(post_may_answer(bench_post(bench, text)));
    }
    for (size_t at = 0; at < G_N_ELEMENTS(senders); at++) {
        Post *post = bench_post(bench, BASE "\r\n");
        post->sender = senders[at];
        g_assert_false(post_may_answer(post));
    }
}

static void test_sender_confirmation(Bench *bench, gconstpointer data)
{
    static const char eve[] = "From: eve@example.net\r\nTo: test@example.com\r\n\r\n";
    static const struct {
        Action action;
        bool hit, asked;
    } cases[] = {{ACTION_HOLD, false, true},   {ACTION_ACCEPT, false, true},  {ACTION_DEFER, false, true},
                 {ACTION_REJECT, true, false}, {ACTION_DISCARD, true, false}};
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        bench->list->settings->sender_confirmation = true;
        bench->list->settings->default_nonmember_action = (int)cases[at].action;
        Post *post = bench_post(bench, eve);
        g_assert_cmpint(hits(&rule_nonmember_moderation, post), ==, cases[at].hit);
        g_assert_cmpint(hits(&rule_sender_confirmation, post), ==, cases[at].asked);
        bench->list->settings->sender_confirmation = false;
        post = bench_post(bench, eve);
        g_assert_cmpint(hits(&rule_nonmember_moderation, post), ==, cases[at].action != ACTION_DEFER);
        g_assert_false(hits(&rule_sender_confirmation, post));
    }
    /* Not who is known, nor who is only named in Reply-To, nor what a person let pass. */
    bench->list->settings->sender_confirmation = true;
    bench->list->settings->default_nonmember_action = ACTION_HOLD;
    g_strfreev(bench->list->settings->accept_these_nonmembers);
    bench->list->settings->accept_these_nonmembers = g_strsplit("eve@example.net", ",", -1);
    Post *post = bench_post(bench, "From: eve@example.net\r\nReply-To: other@example.net\r\n\r\n");
    g_assert_false(hits(&rule_nonmember_moderation, post));
    g_assert_false(hits(&rule_sender_confirmation, post));
    post = bench_post(bench, "From: new@example.net\r\n\r\n");
    g_assert_false(hits(&rule_nonmember_moderation, post));
    post->moderated = true;
    g_assert_false(hits(&rule_sender_confirmation, post));
    post->moderated = false;
    assert_hits(&rule_sender_confirmation, post);
}

static void assert_burst(Bench *bench, const char *fields, bool hit)
{
    g_autofree char *text = g_strconcat(fields, "To: test@example.com\r\n\r\n", NULL);
    Post *post = bench_post(bench, text);
    post->now = clock_now();
    g_assert_cmpint(hits(&rule_burst, post), ==, hit);
    g_assert_cmpuint(post->reasons->len, ==, hit);
}

static void count_posts(Bench *bench, const char *address, int64_t now, int count)
{
    for (int at = 0; at < count; at++)
        g_assert_true(pace_count(bench->store, "test.example.com", address, now, NULL));
}

static void test_burst(Bench *bench, gconstpointer data)
{
    static const char anne[] = "From: Anne@example.org\r\n", eve[] = "From: eve@example.net\r\n";
    const int64_t now = clock_now(), day = 86400 * CLOCK_SECOND;
    count_posts(bench, "anne@example.org", now, 10);
    assert_burst(bench, anne, false); /* it is off */
    bench->list->settings->burst_factor = 3;
    assert_burst(bench, anne, true);
    assert_burst(bench, eve, false);
    bench->list->settings->burst_least = 11;
    assert_burst(bench, anne, false);
    /* A sender of 20 in an hour a month ago may post 30. */
    count_posts(bench, "bart@example.org", now - 30 * day, 20);
    count_posts(bench, "bart@example.org", now, 29);
    assert_burst(bench, "From: bart@example.org\r\n", false);
    count_posts(bench, "bart@example.org", now, 1);
    assert_burst(bench, "From: bart@example.org\r\n", true);
    /* The list, when it was watched long enough. */
    count_posts(bench, NULL, now - 6 * day, 1);
    count_posts(bench, NULL, now, 11);
    assert_burst(bench, eve, false);
    bench_clear_post(bench);
    Post *post = bench_post(bench, "From: eve@example.net\r\n\r\n");
    post->now = now + 2 * day;
    g_assert_false(hits(&rule_burst, post));
    count_posts(bench, NULL, post->now, 33);
    assert_hits(&rule_burst, post);
}

SUITE("rules")
{
    g_test_init(&argc, &argv, NULL);
    BENCH_TEST("/rules/texts", test_texts);
    BENCH_TEST("/rules/no-senders", test_no_senders);
    BENCH_TEST("/rules/banned address", test_banned_address);
    BENCH_TEST("/rules/header match", test_header_match);
    BENCH_TEST("/rules/slow patterns", test_slow_patterns);
    BENCH_TEST("/rules/suspicious header", test_suspicious_header);
    BENCH_TEST("/rules/news moderation", test_news_moderation);
    BENCH_TEST("/rules/digests", test_digests);
    BENCH_TEST("/rules/emergency", test_emergency);
    BENCH_TEST("/rules/automatic", test_automatic);
    BENCH_TEST("/rules/broken header", test_broken_header);
    BENCH_TEST("/rules/unreadable author", test_unreadable_author);
    BENCH_TEST("/rules/duplicate", test_duplicate);
    BENCH_TEST("/rules/member-moderation", test_member_moderation);
    BENCH_TEST("/rules/quoted member", test_quoted_member);
    BENCH_TEST("/rules/nonmember-moderation", test_nonmember_moderation);
    BENCH_TEST("/rules/members of another list", test_members_of_another_list);
    BENCH_TEST("/rules/evil pattern", test_evil_pattern);
    BENCH_TEST("/rules/evil alias", test_evil_alias);
    BENCH_TEST("/rules/implicit-dest", test_implicit_dest);
    BENCH_TEST("/rules/limits", test_limits);
    BENCH_TEST("/rules/administrivia is off", test_administrivia_is_off);
    BENCH_TEST("/rules/may answer", test_may_answer);
    BENCH_TEST("/rules/sender-confirmation", test_sender_confirmation);
    BENCH_TEST("/rules/burst", test_burst);
    return g_test_run();
}
