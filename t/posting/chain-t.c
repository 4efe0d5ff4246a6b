/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/post.h"
#include "posting/setup.h"

#include "store/lists/header_match.h"
#include "store/lists/list_post.h"
#include "store/lists/list_setting.h"
#include "store/people/ban.h"
#include "t/posting/fixture.h"
#include "t/suite.h"

#define HEADER "From: anne@example.org\r\nTo: test@example.com\r\nSubject: x\r\n"

static void assert_verdict(Post *post, const Chain *chain, Verdict expected)
{
    g_autoptr(GError) error = NULL;
    Verdict verdict;
    g_assert_true(chain_run(chain, post, &verdict, &error));
    g_assert_no_error(error);
    g_assert_cmpstr(verdict_text(verdict), ==, verdict_text(expected));
}

static void test_member(Bench *bench, gconstpointer data)
{
    Post *post = bench_post(bench, HEADER "\r\nbody");
    assert_verdict(post, &chain_posting, VERDICT_ACCEPT);
    g_assert_cmpstr(post->member, ==, "Anne@example.org");
    g_assert_cmpuint(post->hits->len, ==, 0);
    g_assert_cmpuint(post->misses->len, >, 8);
}

/* In an emergency a person sees what would be posted, and not what is thrown away anyway; header matches come first. */
static void test_order(Bench *bench, gconstpointer data)
{
    static const char looped[] = HEADER "List-Id: <test.example.com>\r\n\r\n", cheap[] = HEADER "X-Kind: cheap\r\n\r\n";
    g_autoptr(GError) error = NULL;
    g_autoptr(HeaderMatch) match = g_new0(HeaderMatch, 1);
    *match = (HeaderMatch){.list_id = g_strdup("test.example.com"), .position = -1, .header = g_strdup("X-Kind"),
                           .pattern = g_strdup("cheap"), .target = g_strdup("reject")};
    g_assert_true(header_match_add(bench->store, match, &error));
    assert_verdict(bench_post(bench, looped), &chain_posting, VERDICT_DISCARD);
    bench->list->settings->emergency = true;
    bench->list->settings->default_member_action = ACTION_REJECT;
    assert_verdict(bench_post(bench, looped), &chain_posting, VERDICT_DISCARD);
    assert_verdict(bench_post(bench, cheap), &chain_posting, VERDICT_REJECT);
    assert_verdict(bench_post(bench, HEADER "\r\n"), &chain_posting, VERDICT_HOLD);
    Post *post = bench_post(bench, HEADER "\r\n");
    post->moderated = true;
    assert_verdict(post, &chain_posting, VERDICT_ACCEPT);
    g_assert_true(ban_add(bench->store, "test.example.com", "anne@example.org", &error));
    assert_verdict(bench_post(bench, HEADER "\r\n"), &chain_posting, VERDICT_DISCARD);
}

static void test_nonmember_actions(Bench *bench, gconstpointer data)
{
    static const struct {
        Action action;
        Verdict verdict;
    } cases[] = {{ACTION_ACCEPT, VERDICT_ACCEPT}, {ACTION_HOLD, VERDICT_HOLD}, {ACTION_REJECT, VERDICT_REJECT},
                 {ACTION_DISCARD, VERDICT_DISCARD}, {ACTION_DEFER, VERDICT_ACCEPT}};
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        bench->list->settings->default_nonmember_action = (int)cases[at].action;
        Post *post = bench_post(bench, "From: eve@example.net\r\nTo: test@example.com\r\nSubject: x\r\n\r\n");
        post->sender = "eve@example.net";
        assert_verdict(post, &chain_posting, cases[at].verdict);
    }
}

static void test_deferred_hits_add_up(Bench *bench, gconstpointer data)
{
    bench->list->settings->max_message_size = 1;
    g_autofree char *body = g_strnfill(2000, 'x');
    g_autofree char *text = g_strconcat("From: anne@example.org\r\nTo: else@example.com\r\n\r\n", body, NULL);
    Post *post = bench_post(bench, text);
    assert_verdict(post, &chain_posting, VERDICT_HOLD);
    g_assert_cmpuint(post->deferred, ==, 3); /* implicit-dest, max-size, no-subject */
    g_assert_cmpuint(post->reasons->len, ==, 3);
}

static void test_duplicate(Bench *bench, gconstpointer data)
{
    static const char text[] = HEADER "Message-ID: <1@example.org>\r\n\r\n";
    Post *post = bench_post(bench, text);
    assert_verdict(post, &chain_posting, VERDICT_ACCEPT);
    bool known = true;
    g_assert_true(list_record_message_id(bench->store, "test.example.com",
                                         &(SeenMail){post->message_key, post->trace, "spool", 1, NULL}, &known, NULL));
    assert_verdict(bench_post(bench, text), &chain_posting, VERDICT_ACCEPT); /* the same entry again */
    post = bench_post(bench, text);
    post->trace = "1111111111111111111111111111111111111111";
    assert_verdict(post, &chain_posting, VERDICT_DISCARD);
}

static void test_rejected_may_come_again(Bench *bench, gconstpointer data)
{
    static const char text[] =
        "From: eve@example.net\r\nTo: test@example.com\r\nSubject: x\r\nMessage-ID: <2@x>\r\n\r\n";
    bench->list->settings->default_nonmember_action = ACTION_REJECT;
    Post *post = bench_post(bench, text);
    post->sender = "eve@example.net";
    assert_verdict(post, &chain_posting, VERDICT_REJECT);
    bench->list->settings->default_nonmember_action = ACTION_ACCEPT;
    post = bench_post(bench, text);
    post->sender = "eve@example.net";
    post->trace = "2222222222222222222222222222222222222222";
    assert_verdict(post, &chain_posting, VERDICT_ACCEPT);
}

static void test_banned_is_discarded(Bench *bench, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_assert_true(ban_add(bench->store, "test.example.com", "anne@example.org", &error));
    assert_verdict(bench_post(bench, HEADER "\r\n"), &chain_posting, VERDICT_DISCARD);
}

static void test_header_match_decides(Bench *bench, gconstpointer data)
{
    static const struct {
        const char *target;
        Verdict verdict;
    } cases[] = {{NULL, VERDICT_HOLD}, {"hold", VERDICT_HOLD}, {"reject", VERDICT_REJECT},
                 {"discard", VERDICT_DISCARD}, {"accept", VERDICT_ACCEPT}, {"defer", VERDICT_DISCARD}};
    bench->list->settings->default_nonmember_action = ACTION_DISCARD;
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(HeaderMatch) match = g_new0(HeaderMatch, 1);
        *match = (HeaderMatch){.list_id = g_strdup("test.example.com"), .position = -1, .header = g_strdup("Subject"),
                               .pattern = g_strdup("cheap"), .target = g_strdup(cases[at].target)};
        g_assert_true(header_match_add(bench->store, match, &error));
        Post *post = bench_post(bench, "From: eve@example.net\r\nTo: test@example.com\r\nSubject: cheap x\r\n\r\n");
        post->sender = "eve@example.net";
        assert_verdict(post, &chain_posting, cases[at].verdict);
        g_assert_true(header_match_clear(bench->store, "test.example.com", NULL, NULL, &error));
    }
}

static Config *config_of(const Bench *bench, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(bench->folder, "listrunner.conf", NULL);
    g_assert_true(g_file_set_contents(path, text, -1, &error));
    Config *config = config_load(path, true, &error);
    g_assert_no_error(error);
    g_remove(path);
    return config;
}

/* The verdict of a chain of the site's own, and which rules it tried. */
static void test_own_chains(Bench *bench, gconstpointer data)
{
    static const char text[] = "[external.no]\ncommand = /bin/sh -c 'echo no; exit 11'\n"
                               "[external.yes]\ncommand = /bin/true\n"
                               "[chain.open]\nrules = loop:discard\notherwise = accept\n"
                               "[chain.noted]\nrules = no-subject max-size any:reject\notherwise = accept\n"
                               "[chain.aside]\nrules = external.yes\notherwise = back\n"
                               "[chain.there]\nrules = truth:aside external.no truth:accept\n"
                               "[chain.members]\nrules = member-moderation nonmember-moderation\notherwise = accept\n"
                               "[chain.end]\nrules = loop:discard\n"
                               "[chain.a]\nrules = truth:b\n[chain.b]\nrules = truth:a\n";
    static const struct {
        const char *chain, *fields;
        Verdict verdict;
    } cases[] = {
        {"open", "Subject: x\r\n", VERDICT_ACCEPT},      {"open", "List-Id: <test.example.com>\r\n", VERDICT_DISCARD},
        {"noted", "Subject: x\r\n", VERDICT_ACCEPT},     {"noted", "", VERDICT_REJECT},
        {"there", "", VERDICT_REJECT},                   {"members", "", VERDICT_DISCARD},
        {"end", "", VERDICT_HOLD},                       {"a", "", VERDICT_HOLD},
        {"default-posting-chain", "", VERDICT_DISCARD},  {"accept", "", VERDICT_ACCEPT},
    };
    g_autoptr(Config) config = config_of(bench, text);
    Orders *orders = orders_new(config);
    const PostSite site = {.header_match_target = "hold", .orders = orders};
    bench->list->settings->default_nonmember_action = ACTION_DISCARD;
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *mail = g_strconcat("From: eve@example.net\r\nTo: test@example.com\r\n", cases[at].fields,
                                            "\r\n", NULL);
        Post *post = bench_post(bench, mail);
        post->sender = "eve@example.net";
        post->site = &site;
        g_test_message("chain %s", cases[at].chain);
        assert_verdict(post, order_chain(orders, cases[at].chain), cases[at].verdict);
    }
    g_assert_null(order_chain(orders, "nothing"));
    g_auto(GStrv) names = order_chain_names(config);
    g_assert_true(g_strv_contains((const char *const *)names, "open"));
    g_assert_true(g_strv_contains((const char *const *)names, "default-posting-chain"));
    orders_free(orders);
}

/* The chain that a header match leads to may lead back: then the rules behind it decide as if it had not been. */
static void test_back_from_header_match(Bench *bench, gconstpointer data)
{
    static const char text[] = "[chain.look]\nrules = loop:discard\notherwise = back\n"
                               "[chain.own]\nrules = header-match:look nonmember-moderation\n";
    g_autoptr(GError) error = NULL;
    g_autoptr(Config) config = config_of(bench, text);
    g_autoptr(HeaderMatch) match = g_new0(HeaderMatch, 1);
    *match = (HeaderMatch){.position = -1, .header = g_strdup("Subject"), .pattern = g_strdup("x"),
                           .target = g_strdup("accept")};
    g_assert_true(header_match_add(bench->store, match, &error));
    Orders *orders = orders_new(config);
    const PostSite site = {.header_match_target = "hold", .orders = orders};
    bench->list->settings->default_nonmember_action = ACTION_REJECT;
    Post *post = bench_post(bench, "From: eve@example.net\r\nTo: test@example.com\r\nSubject: x\r\n\r\n");
    post->sender = "eve@example.net";
    post->site = &site;
    assert_verdict(post, order_chain(orders, "own"), VERDICT_REJECT);
    orders_free(orders);
}

/* nonmember-moderation leaves strangers to sender-confirmation, which a chain of the site's own may not name. */
static void test_own_chain_without_confirmation(Bench *bench, gconstpointer data)
{
    static const char text[] = "[chain.open]\nrules = nonmember-moderation\notherwise = accept\n"
                               "[chain.true]\nrules = nonmember-moderation truth:accept\n"
                               "[chain.strict]\nrules = nonmember-moderation sender-confirmation:reject\n"
                               "[chain.trusts]\nrules = nonmember-moderation sender-confirmation:accept\n";
    static const struct {
        const char *chain;
        Verdict verdict;
    } cases[] = {{"open", VERDICT_HOLD}, {"true", VERDICT_HOLD}, {"strict", VERDICT_REJECT},
                 {"trusts", VERDICT_ACCEPT}};
    g_autoptr(Config) config = config_of(bench, text);
    Orders *orders = orders_new(config);
    const PostSite site = {.header_match_target = "hold", .orders = orders};
    bench->list->settings->default_nonmember_action = ACTION_HOLD;
    bench->list->settings->sender_confirmation = true;
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        Post *post = bench_post(bench, "From: eve@example.net\r\nTo: test@example.com\r\n\r\n");
        post->sender = "eve@example.net";
        post->site = &site;
        g_test_message("chain %s", cases[at].chain);
        assert_verdict(post, order_chain(orders, cases[at].chain), cases[at].verdict);
        g_assert_true(g_ptr_array_find_with_equal_func(post->hits, "sender-confirmation", g_str_equal, NULL));
        g_autofree char *reasons = post_reasons(post, " ");
        g_assert_nonnull(strstr(reasons, "eve@example.net"));
    }
    orders_free(orders);
}

static void test_owner(Bench *bench, gconstpointer data)
{
    Post *post = bench_post(bench, "From: eve@example.net\r\n\r\n");
    assert_verdict(post, &chain_owner, VERDICT_ACCEPT);
}

static void test_table(void)
{
    for (const Rule *const *rule = rules; *rule; rule++) {
        g_assert_true(rule_find((*rule)->name) == *rule);
        g_assert_true(!rule[1] || strcmp(rule[0]->name, rule[1]->name) < 0);
    }
    g_assert_null(rule_find("nothing"));
}

/* A post that has been where its mark says, in the site's own chain, which knows no rule. */
static void assert_looped(Bench *bench, const LoopKeys *keys, LoopMark *mark, bool for_owners, Verdict expected)
{
    static const Link links_none[] = {{0}};
    static const Chain open = {.name = "open", .links = links_none, .verdict = VERDICT_ACCEPT};
    Post *post = bench_post(bench, HEADER "\r\nbody");
    post->for_owners = for_owners;
    loop_set(post, keys, mark);
    assert_verdict(post, &open, expected);
}

static void add_places(const LoopKeys *keys, LoopMark *mark, LoopPlace place, const char *id, unsigned count)
{
    for (; count > 0; count--) {
        g_autoptr(GBytes) octets = g_bytes_new_static("Subject: x\r\n\r\n", 14);
        g_autoptr(Message) message = message_new(octets);
        g_autofree char *value = loop_mark_make(keys, mark, place, id, NULL, NULL);
        loop_mark_clear(mark);
        loop_mark_put(message, value);
        loop_mark_read(keys, message, mark);
    }
}

static void test_mark_stops(Bench *bench, gconstpointer data)
{
    g_autoptr(GPtrArray) secrets = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(secrets, g_bytes_new_static("secret", 6));
    g_autoptr(LoopKeys) keys = loop_keys_new(secrets);
    static const struct {
        LoopPlace place;
        bool other, for_owners;
        unsigned count;
        Verdict expected;
    } cases[] = {
        {LOOP_POSTING, false, false, 1, VERDICT_DISCARD}, {LOOP_POSTING, true, false, 1, VERDICT_ACCEPT},
        {LOOP_POSTING, false, true, 1, VERDICT_ACCEPT},   {LOOP_OWNER, false, true, 1, VERDICT_DISCARD},
        {LOOP_OWNER, false, false, 1, VERDICT_ACCEPT},    {LOOP_LETTER, false, false, 1, VERDICT_DISCARD},
        {LOOP_LETTER, false, true, 1, VERDICT_ACCEPT},    {LOOP_LETTER, true, false, 1, VERDICT_ACCEPT},
        {LOOP_POSTING, true, false, 9, VERDICT_ACCEPT},   {LOOP_POSTING, true, false, 10, VERDICT_DISCARD},
        {LOOP_OWNER, true, true, 10, VERDICT_DISCARD},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_auto(LoopMark) mark = {0};
        const char *id = cases[at].other ? "00000000000000010000000000000000" : bench->list->id;
        add_places(keys, &mark, cases[at].place, id, cases[at].count);
        assert_looped(bench, keys, &mark, cases[at].for_owners, cases[at].expected);
    }
}

/* The same mail to the list and to its owners is taken by both, and by neither a second time. */
static void test_owners_get_it_once(Bench *bench, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    for (int owners = 0; owners < 2; owners++)
        for (int time = 0; time < 2; time++) {
            Post *post = bench_post(bench, HEADER "Message-ID: <one@example.org>\r\n\r\nbody");
            post->for_owners = owners;
            post->trace = time == 0 ? "first" : "second";
            assert_verdict(post, owners ? &chain_owner : &chain_posting, time == 0 ? VERDICT_ACCEPT : VERDICT_DISCARD);
            bool known;
            g_assert_true(list_record_message_id(bench->store, "test.example.com",
                                                 &(SeenMail){post->message_key, post->trace, "spool", 1, NULL}, &known,
                                                 &error));
        }
}

SUITE("chain")
{
    g_test_init(&argc, &argv, NULL);
    BENCH_TEST("/chain/member", test_member);
    BENCH_TEST("/chain/order", test_order);
    BENCH_TEST("/chain/nonmember actions", test_nonmember_actions);
    BENCH_TEST("/chain/deferred hits add up", test_deferred_hits_add_up);
    BENCH_TEST("/chain/duplicate", test_duplicate);
    BENCH_TEST("/chain/mark stops", test_mark_stops);
    BENCH_TEST("/chain/owners get it once", test_owners_get_it_once);
    BENCH_TEST("/chain/rejected may come again", test_rejected_may_come_again);
    BENCH_TEST("/chain/a banned sender is discarded", test_banned_is_discarded);
    BENCH_TEST("/chain/header match decides", test_header_match_decides);
    BENCH_TEST("/chain/chains of the site", test_own_chains);
    BENCH_TEST("/chain/back from a header match", test_back_from_header_match);
    BENCH_TEST("/chain/own chain without sender-confirmation", test_own_chain_without_confirmation);
    BENCH_TEST("/chain/owner", test_owner);
    g_test_add_func("/chain/table", test_table);
    return g_test_run();
}
