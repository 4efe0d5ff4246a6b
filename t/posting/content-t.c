/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Handlers that judge and mark what a post holds: mime-delete, tagger, cleanse-dkim, acknowledge. */
#include "mail/header.h"
#include "posting/pipeline.h"
#include "store/lists/list_setting.h"
#include "t/posting/fixture.h"
#include "t/suite.h"

#define BASE "From: anne@example.org\r\nTo: test@example.com\r\nMIME-Version: 1.0\r\n"
#define IMAGE BASE "Subject: x\r\nContent-Type: image/png\r\n\r\nPNG\r\n"
#define MIXED \
    BASE "Subject: x\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\n" \
         "hello\r\n--x\r\nContent-Type: image/png; name=cat.png\r\n\r\nPNG\r\n--x--\r\n"
#define HTML BASE "Subject: x\r\nContent-Type: text/html\r\n\r\n<b>bold</b>\r\n"

static char *images[] = {(char *)"image", NULL};

static Post *run(Bench *bench, const char *octets)
{
    g_autoptr(GError) error = NULL;
    Post *post = bench_post(bench, octets);
    g_assert_true(pipeline_run(&pipeline_posting, post, &error));
    g_assert_no_error(error);
    return post;
}

static char *body_of(const Post *post)
{
    g_autoptr(GBytes) body = message_body(post->message);
    return g_strndup(g_bytes_get_data(body, NULL), g_bytes_get_size(body));
}

static void set_up(Bench *bench, gconstpointer data)
{
    bench_set_up(bench, data);
    bench->list->settings->filter_content = true;
    g_strfreev(bench->list->settings->filter_types);
    bench->list->settings->filter_types = g_strdupv(images);
}

static void test_filter(Bench *bench, gconstpointer data)
{
    Post *post = run(bench, MIXED);
    g_autofree char *left = body_of(post);
    g_assert_cmpstr(left, ==, "hello\r\n");
    g_assert_true(message_has(post->message, "X-Content-Filtered-By"));
    bench->list->settings->filter_report = true;
    g_autofree char *reported = body_of(run(bench, MIXED));
    g_assert_nonnull(strstr(reported, "hello\r\n"));
    g_assert_nonnull(strstr(reported, "  image/png, cat.png\r\n"));
    bench->list->settings->filter_content = false;
    post = run(bench, MIXED);
    g_assert_false(message_has(post->message, "X-Content-Filtered-By"));
    g_autofree char *whole = body_of(post);
    g_assert_nonnull(strstr(whole, "PNG"));
}

static void test_filter_action(Bench *bench, gconstpointer data)
{
    static const struct {
        FilterAction action;
        const char *queue;
    } cases[] = {{FILTER_DISCARD, NULL}, {FILTER_REJECT, "virgin"}, {FILTER_FORWARD, "out"},
                 {FILTER_PRESERVE, "shunt"}};
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        bench->list->settings->filter_action = cases[at].action;
        Post *post = run(bench, IMAGE);
        g_assert_cmpuint(post->sends->len, ==, cases[at].queue != NULL);
        g_assert_nonnull(strstr(post->reasons->pdata[0], "image/png"));
        if (!cases[at].queue)
            continue;
        const PostSend *send = post->sends->pdata[0];
        g_assert_cmpstr(send->queue, ==, cases[at].queue);
        if (cases[at].action == FILTER_REJECT)
            g_assert_cmpstr(send->to, ==, "anne@example.org");
        if (cases[at].action == FILTER_FORWARD)
            g_assert_cmpstr(post->given[0], ==, "olga@example.org");
    }
}

/* A program that is refused is not answered. */
static void test_filter_answers(Bench *bench, gconstpointer data)
{
    bench->list->settings->filter_action = FILTER_REJECT;
    const Post *post = run(bench, "Auto-Submitted: auto-generated\r\n" IMAGE);
    g_assert_cmpint(post->end, ==, POST_REJECTED);
    g_assert_cmpuint(post->sends->len, ==, 0);
}

/* Check that HTML with line ends of its own kinds becomes text that needs no decoding of CRs and blanks. */
static void test_html_text(Bench *bench, gconstpointer data)
{
    bench->list->settings->convert_html_to_plaintext = true;
    Post *post = run(bench, "From: anne@example.org\r\nMIME-Version: 1.0\r\n"
                            "Content-Type: text/html; charset=iso-8859-1\r\n"
                            "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
                            "<p>Dear people, many warm Gr=FC&szlig;e=0D=20=\r\n=0D=0A<br>=20=\r\n"
                            "am Abend&uuml;bung</p>\r\n");
    g_autofree char *text = body_of(post);
    g_assert_cmpstr(text, ==, "Dear people, many warm Gr=FC=DFe\r\nam Abend=FCbung\r\n");
    g_autofree char *encoding = message_value(post->message, "Content-Transfer-Encoding");
    g_assert_cmpstr(encoding, ==, "quoted-printable");
}

static void test_html_command(Bench *bench, gconstpointer data)
{
    static char *upper[] = {(char *)"tr", (char *)"a-z", (char *)"A-Z", NULL}, *broken[] = {(char *)"false", NULL},
                *missing[] = {(char *)"/no/such/program", NULL};
    g_autoptr(GError) error = NULL;
    PostSite site = {.html_to_text = upper};
    bench->list->settings->convert_html_to_plaintext = true;
    Post *post = bench_post(bench, HTML);
    post->site = &site;
    g_assert_true(handler_mime_delete.process(post, &error));
    g_autofree char *text = body_of(post);
    g_assert_nonnull(strstr(text, "<B>BOLD</B>"));
    char **const failing[] = {broken, missing};
    for (size_t at = 0; at < G_N_ELEMENTS(failing); at++) {
        site.html_to_text = failing[at];
        post = bench_post(bench, HTML);
        post->site = &site;
        g_assert_true(handler_mime_delete.process(post, &error)); /* the post is not lost */
        g_autofree char *plain = body_of(post);
        g_assert_nonnull(strstr(plain, "bold"));
        g_assert_null(strstr(plain, "<b>"));
    }
}

static void test_topics(Bench *bench, gconstpointer data)
{
    char *topics[] = {(char *)"cats: \\bcats?\\b", (char *)"M\303\274sli: m\303\274sli|food", (char *)"broken", NULL};
    static const struct {
        const char *fields, *topics;
    } cases[] = {
        {"Subject: my Cat\r\n\r\n", "cats"},
        {"Subject: catalogue\r\n\r\n", NULL},
        {"Subject: x\r\nKeywords: food, cats\r\n\r\n", "cats, M\303\274sli"},
        {"Subject: x\r\n\r\n\r\nKeywords: cats\r\n", "cats"},
        {"Subject: x\r\n\r\nHello\r\nKeywords: cats\r\n", NULL},
        {"Subject: x\r\nX-Topics: forged\r\n\r\n", NULL},
    };
    char **own = bench->list->settings->topics;
    bench->list->settings->topics = topics;
    for (int enabled = 1; enabled >= 0; enabled--) {
        bench->list->settings->topics_enabled = enabled;
        for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
            g_autoptr(GError) error = NULL;
            g_autofree char *text = g_strconcat(BASE, cases[at].fields, NULL);
            Post *post = bench_post(bench, text);
            g_assert_true(handler_tagger.process(post, &error));
            g_autofree char *raw = message_value(post->message, "X-Topics");
            g_autofree char *shown = raw ? header_decode(raw) : NULL;
            if (enabled)
                g_assert_cmpstr(shown, ==, cases[at].topics);
        }
    }
    bench->list->settings->topics = own;
}

static void test_cleanse_dkim(Bench *bench, gconstpointer data)
{
    static const PostSite keep = {.remove_dkim = false}, drop = {.remove_dkim = true};
    const PostSite *const sites[] = {&keep, &drop};
    for (size_t at = 0; at < G_N_ELEMENTS(sites); at++) {
        g_autoptr(GError) error = NULL;
        Post *post = bench_post(bench, BASE "DKIM-Signature: v=1\r\nAuthentication-Results: x\r\nX-A: b\r\n\r\n");
        post->site = sites[at];
        g_assert_true(handler_cleanse_dkim.process(post, &error));
        g_assert_true(message_has(post->message, "DKIM-Signature") == (at == 0));
        g_assert_true(message_has(post->message, "Authentication-Results") == (at == 0));
        g_assert_true(message_has(post->message, "X-A"));
    }
}

static void test_acknowledge(Bench *bench, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    Preferences wish = preferences_unset;
    for (wish.acknowledge_posts = 0; wish.acknowledge_posts <= 1; wish.acknowledge_posts++) {
        g_assert_true(member_set_preferences(bench->store, "test.example.com", ROLE_MEMBER,
                                             mailbox_of("anne@example.org"), &wish, &error));
        Post *post = bench_post(bench, BASE "Subject: x\r\n\r\n");
        g_assert_true(pipeline_run(&pipeline_posting, post, &error)); /* others before it make the mail a list's */
        const PostSend *send = post_send_find(post, "virgin");
        g_assert_true((send != NULL) == (wish.acknowledge_posts == 1));
        if (send)
            g_assert_cmpstr(send->letter, ==, "post_acknowledged");
    }
    Post *post = bench_post(bench, BASE "Subject: x\r\nAuto-Submitted: auto-generated\r\n\r\n");
    g_assert_true(pipeline_run(&pipeline_posting, post, &error));
    g_assert_null(post_send_find(post, "virgin")); /* no answer to a program */
}

SUITE("content")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/content/filter", Bench, NULL, set_up, test_filter, bench_tear_down);
    g_test_add("/content/filter answers", Bench, NULL, set_up, test_filter_answers, bench_tear_down);
    g_test_add("/content/filter action", Bench, NULL, set_up, test_filter_action, bench_tear_down);
    g_test_add("/content/html command", Bench, NULL, set_up, test_html_command, bench_tear_down);
    g_test_add("/content/html to text", Bench, NULL, set_up, test_html_text, bench_tear_down);
    BENCH_TEST("/content/topics", test_topics);
    BENCH_TEST("/content/cleanse dkim", test_cleanse_dkim);
    BENCH_TEST("/content/acknowledge", test_acknowledge);
    return g_test_run();
}
