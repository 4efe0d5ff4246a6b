/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A whole post through all rules and all handlers, with every setting on that makes them look at more of it: the work
 * grows with its length only. */
#include "posting/chain.h"
#include "posting/pipeline.h"
#include "store/lists/list_setting.h"
#include "t/doubling.h"
#include "t/posting/fixture.h"
#include "t/suite.h"

static void set(Bench *bench, const char *name, const char *value)
{
    g_autoptr(GError) error = NULL;
    list_set(bench->store, "test.example.com", name, value, &error);
    g_assert_no_error(error);
}

static void process(const char *text, size_t length, void *data)
{
    Bench *bench = data;
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) octets = g_bytes_new_static(text, length);
    Post *post = bench_post_bytes(bench, octets);
    for (const Rule *const *rule = rules; *rule; rule++) {
        bool hit;
        (*rule)->check(post, &hit, &error);
        g_assert_no_error(error);
    }
    post->now = post->post_id = 1;
    pipeline_run(&pipeline_posting, post, &error);
    g_assert_no_error(error);
}

static void test_posts(Bench *bench, gconstpointer data)
{
    static const Doubling inputs[] = {
        {.unit = "To: a@example.net\r\n"},
        {.unit = "From: a@example.net\r\n"},
        {.before = "From: ", .unit = "a@example.net, "},
        {.before = "To: ", .unit = "\"a\"@example.net, "},
        {.unit = "x", .next = "\r\nTo: a@example.net"},
        {.before = "Cc: ", .unit = "x", .next = "@:"},
        {.before = "Cc: ", .unit = "test@example.com, "},
        {.before = "Reply-To: ", .unit = "test@example.com, "},
        {.unit = "Reply-To: test@example.com, b@example.net\r\n"},
        {.unit = "Reply-To: b@example.net\r\n"},
        {.unit = "Subject: Re: [Test]\r\n"},
        {.before = "Subject: ", .unit = "Re: "},
        {.before = "Subject: ", .unit = "[Test 1] "},
        {.before = "Subject: [Test ", .unit = "1"},
        {.before = "Subject: ", .unit = "=?utf-8?q?Re:?= "},
        {.before = "Subject: ", .unit = "subscribe "},
        {.before = "Subject:", .unit = "\r\n "},
        {.before = "List-Post: ", .unit = "test@example.co"},
        {.unit = "List-Post: <mailto:test@example.co>\r\n"},
        {.before = "List-Id: ", .unit = "<"},
        {.unit = "List-Id: <test.example.co>\r\n"},
        {.unit = "Message-ID: <1@example.net>\r\n"},
        {.before = "References: ", .unit = "<"},
        {.before = "References: ", .unit = "<1@example.com>"},
        {.before = "Message-ID: <", .unit = "1"},
        {.unit = "X-No-Archive: no\r\n"},
        {.unit = "Received: x\r\n"},
        {.before = "A: b\r\n\r\n", .unit = "\r\n"},
        {.before = "A: b\r\n\r\n", .unit = "set "},
        {.before = "A: b\r\n\r\n", .unit = "who\r\n"},
        {.before = "Content-Type: multipart/mixed; boundary=b\r\n\r\n", .unit = "--b\r\n"},
        {.before = "Content-Type: multipart/x\r\n\r\n", .unit = "--b\r\nContent-Type: multipart/x\r\n\r\n"},
        {.before = "A: b\r\nno field\r\n", .unit = "A: b\r\n"},
        {.before = "A: b\r\n\r\n", .unit = "A: b\r\n"},
    };
    set(bench, "subject_prefix", "[Test %d]");
    set(bench, "administrivia", "yes");
    set(bench, "reply_goes_to_list", "point_to_list");
    set(bench, "personalize", "full");
    set(bench, "msg_header", "Read by $user_name");
    set(bench, "msg_footer", "Sent to $user_address");
    set(bench, "acceptable_aliases", "^(a|aa|aaa)+z@x other@example.com test");
    set(bench, "discard_these_nonmembers", "^(a|aa|aaa)+z@x other@example.com");
    list_free(bench->list);
    bench->list = list_by_id(bench->store, "test.example.com", NULL);
    doubling_check_all(inputs, G_N_ELEMENTS(inputs), process, bench);
    bench->list->settings->anonymous_list = true;
    doubling_check_all(inputs, G_N_ELEMENTS(inputs), process, bench);
}

SUITE("hostile")
{
    g_test_init(&argc, &argv, NULL);
    BENCH_TEST("/posting/hostile", test_posts);
    return g_test_run();
}
