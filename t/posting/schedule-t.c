/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */

#include "posting/authenticity.h"
#include "posting/chain.h"
#include "t/posting/fixture.h"
#include "t/suite.h"

#define TOMORROW "1970-01-02 00:00 Z" /* the fixture's now is its first second */
#define DUE (INT64_C(86400) * 1000000)

/* The verdict that follows from the chain's, with the author and whether there is a reason. */
static Verdict judge(Post *post, Verdict verdict, const char *time, const char *author, int64_t due)
{
    g_autoptr(GError) error = NULL;
    g_auto(Schedule) schedule = {0};
    g_assert_true(schedule_judge(post, time, &verdict, &schedule, &error));
    g_assert_no_error(error);
    g_assert_cmpstr(schedule.author, ==, author);
    g_assert_cmpint(schedule.due, ==, due);
    return verdict;
}

static void assert_reason(const Post *post, const char *expected)
{
    g_autofree char *reasons = post_reasons(post, " ");
    g_assert_nonnull(strstr(reasons, expected));
}

static void test_who(Bench *bench, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_assert_true(member_add(bench->store, "test.example.com", ROLE_MODERATOR, mailbox_of("mark@example.org"), NULL,
                             NULL, &error));
    Post *post = bench_post(bench, "From: Olga <OLGA@example.org>\r\n\r\n");
    g_assert_cmpint(judge(post, VERDICT_ACCEPT, TOMORROW, "olga@example.org", DUE), ==, VERDICT_ACCEPT);
    post = bench_post(bench, "From: mark@example.org\r\n\r\n");
    g_assert_cmpint(judge(post, VERDICT_ACCEPT, TOMORROW, "mark@example.org", DUE), ==, VERDICT_ACCEPT);
    g_assert_cmpint(judge(post, VERDICT_HOLD, TOMORROW, "mark@example.org", DUE), ==, VERDICT_HOLD);
    static const char *const others[] = {
        "From: anne@example.org\r\n\r\n",                             /* a member */
        "From: anne@example.org\r\nSender: olga@example.org\r\n\r\n", /* only From counts */
        "From: anne@example.org\r\nReply-To: olga@example.org\r\n\r\n",
        "From: olga@example.org, anne@example.org\r\n\r\n",
        "From: olga@example.org\r\nFrom: anne@example.org\r\n\r\n",
        "From: anne@example.org (olga@example.org)\r\n\r\n",
        "Subject: x\r\n\r\n",
    };
    for (size_t at = 0; at < G_N_ELEMENTS(others); at++) {
        post = bench_post(bench, others[at]);
        post->sender = "olga@example.org";
        post_add_reason(post, "Something that was let pass.");
        g_assert_cmpint(judge(post, VERDICT_ACCEPT, TOMORROW, NULL, DUE), ==, VERDICT_HOLD);
        g_autofree char *reasons = post_reasons(post, " ");
        g_assert_cmpstr(reasons, ==,
                        "The post is to be sent at 1970-01-02T00:00:00Z, for which only owners and moderators of the "
                        "list may ask.");
    }
}

static void test_password(Bench *bench, gconstpointer data)
{
    Post *post = bench_post(bench, "From: anne@example.org\r\n\r\n");
    g_ptr_array_add(post->hits, (gpointer)rule_approved.name);
    g_assert_cmpint(judge(post, VERDICT_ACCEPT, TOMORROW, NULL, DUE), ==, VERDICT_ACCEPT);
}

static void test_forged(Bench *bench, gconstpointer data)
{
    static const struct {
        const char *results;
        Verdict verdict;
    } found[] = {
        {"lists.example.com; dkim=pass header.d=example.org; dmarc=pass header.from=example.org", VERDICT_ACCEPT},
        {"lists.example.com; dkim=none; dmarc=fail header.from=example.org", VERDICT_HOLD}};
    for (size_t at = 0; at < G_N_ELEMENTS(found); at++) {
        Post *post = bench_post(bench, "From: olga@example.org\r\n\r\n");
        post->authenticity = g_new0(Authenticity, 1);
        post->authenticity->results = g_strdup(found[at].results);
        const char *author = found[at].verdict == VERDICT_ACCEPT ? "olga@example.org" : NULL;
        g_assert_cmpint(judge(post, VERDICT_ACCEPT, TOMORROW, author, DUE), ==, found[at].verdict);
    }
}

static void test_times(Bench *bench, gconstpointer data)
{
    Post *post = bench_post(bench, "From: anne@example.org\r\n\r\n");
    g_assert_cmpint(judge(post, VERDICT_ACCEPT, "now", NULL, 0), ==, VERDICT_ACCEPT);
    g_assert_cmpint(judge(post, VERDICT_HOLD, "1969-12-31 00:00 Z", NULL, 0), ==, VERDICT_HOLD);
    g_assert_cmpint(judge(post, VERDICT_HOLD, "soon", NULL, 0), ==, VERDICT_REJECT);
    assert_reason(post, "\"soon\" is no time");
    g_assert_cmpint(judge(post, VERDICT_ACCEPT, "1971-01-03 00:00 Z", NULL, 0), ==, VERDICT_REJECT);
    assert_reason(post, "more than a year ahead");
    g_assert_cmpint(judge(post, VERDICT_DISCARD, "soon", NULL, 0), ==, VERDICT_DISCARD);
    g_assert_cmpint(judge(post, VERDICT_REJECT, TOMORROW, NULL, 0), ==, VERDICT_REJECT);
}

SUITE("schedule")
{
    g_test_init(&argc, &argv, NULL);
    BENCH_TEST("/schedule/who", test_who);
    BENCH_TEST("/schedule/password", test_password);
    BENCH_TEST("/schedule/forged", test_forged);
    BENCH_TEST("/schedule/times", test_times);
    return g_test_run();
}
