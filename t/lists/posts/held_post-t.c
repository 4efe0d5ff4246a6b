/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Held posts of two lists: which of them expire, and what becomes of one that is accepted. */
#include "lists/posts/held_post.h"

#include "lists/keys.h"
#include "store/lists/list_log.h"
#include "store/posts/held.h"
#include "store/store_internal.h"
#include "t/lists/fixture.h"
#include "t/suite.h"

#define OTHER "other.example.com"
#define DAY (86400 * CLOCK_SECOND)

static void make_other(World *world)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(List) other = list_create(world->store, "other@example.com", &error);
    g_assert_no_error(error);
}

/* Held so long ago; asked_until 0: it waits for a moderator. */
static int64_t hold(World *world, const char *list, int64_t age, int64_t asked_until)
{
    GError *error = NULL;
    static const char text[] = "From: a@example.org\r\nSubject: hello\r\n\r\nHi\r\n";
    g_autoptr(GBytes) message = g_bytes_new_static(text, sizeof text - 1);
    Held held = {.list_id = (char *)list,
                 .sender = (char *)"a@example.org",
                 .subject = (char *)"hello",
                 .reason = (char *)"because",
                 .meta = (char *)"{\"arrival\":1000000,\"sender\":\"a@example.org\"}",
                 .held_at = clock_now() - age,
                 .message = message};
    assert_ok(held_add(world->store, &held, &error), error);
    g_autofree char *token = g_strdup_printf("token%026" G_GINT64_FORMAT, held.number);
    if (asked_until != 0)
        assert_ok(held_ask(world->store, held.number, token, asked_until, &error), error);
    return held.number;
}

static bool is_held(World *world, int64_t number)
{
    g_autoptr(Held) held = held_find(world->store, number, NULL);
    return held != NULL;
}

static int64_t expire(World *world)
{
    GError *error = NULL;
    int64_t discarded;
    g_autoptr(Work) work = world_work(world);
    assert_ok(held_post_expire(work, world->list, &discarded, &error), error);
    return discarded;
}

static void test_expire(World *world, const void *data)
{
    (void)data;
    make_other(world);
    int64_t now = clock_now();
    int64_t asked = hold(world, LIST, DAY, now + DAY), late = hold(world, LIST, DAY, now - 1);
    int64_t fresh = hold(world, LIST, 3 * DAY, 0), old = hold(world, LIST, 5 * DAY, 0);
    int64_t foreign_late = hold(world, OTHER, DAY, now - 1), foreign_old = hold(world, OTHER, 5 * DAY, 0);
    g_assert_cmpint(expire(world), ==, 1);
    g_assert_true(is_held(world, asked) && is_held(world, fresh) && is_held(world, old));
    g_assert_false(is_held(world, late));
    world_set(world, "max_days_to_hold", "4");
    g_assert_cmpint(expire(world), ==, 1);
    g_assert_true(is_held(world, asked) && is_held(world, fresh));
    g_assert_false(is_held(world, old));
    g_assert_true(is_held(world, foreign_late) && is_held(world, foreign_old));
    g_assert_cmpint(expire(world), ==, 0);
}

/* The list's log has no row for a post that expires: strangers could fill it. */
static void test_expiry_is_no_row(World *world, const void *data)
{
    (void)data;
    GError *error = NULL;
    world->actor.door = DOOR_TIMER;
    hold(world, LIST, DAY, clock_now() - 1);
    g_assert_cmpint(expire(world), ==, 1);
    g_autoptr(GPtrArray) rows = list_log_page(world->store, LIST, NULL, 0, 1, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(rows->len, ==, 0);
}

/* It may have been held for longer than mail lives: its time begins when it is accepted. */
static void test_accepted(World *world, const void *data)
{
    (void)data;
    GError *error = NULL;
    make_other(world);
    int64_t number = hold(world, LIST, 5 * DAY, 0), foreign = hold(world, OTHER, 5 * DAY, 0);
    bool told;
    g_autoptr(Work) work = world_work(world);
    assert_ok(held_post_decide(work, number, HELD_ACCEPT, NULL, &told, &error), error);
    assert_ok(work_keep(work, "test", &error), error);
    g_assert_false(is_held(world, number));
    g_assert_true(is_held(world, foreign));
    g_autoptr(GPtrArray) rows = kept_of(world->store, world->site.kept_key, "test", &error);
    unsigned posts = 0;
    for (unsigned at = 0; at < rows->len; at++) {
        const KeptRow *row = rows->pdata[at];
        if (strcmp(row->queue, "pipeline") != 0)
            continue;
        g_autoptr(json_t) meta = meta_parse(row->meta, strlen(row->meta), &error);
        g_assert_cmpint(meta_integer(meta, META_ARRIVAL, 0), !=, 1000000);
        g_assert_cmpstr(meta_string(meta, META_LIST, ""), ==, LIST);
        g_assert_cmpstr(meta_string(meta, KEY_SENDER, ""), ==, "a@example.org");
        g_assert_true(meta_bool(meta, KEY_MODERATED));
        posts++;
    }
    g_assert_cmpuint(posts, ==, 1);
}

/* A program of the time before metadata were kept held it without any. */
static void test_without_metadata(World *world, const void *data)
{
    (void)data;
    GError *error = NULL;
    bool told;
    const HeldVerdict verdicts[] = {HELD_ACCEPT, HELD_REJECT};
    for (size_t at = 0; at < G_N_ELEMENTS(verdicts); at++) {
        int64_t number = hold(world, LIST, DAY, 0);
        assert_ok(query_run(world->store, &error, NULL, "UPDATE held SET meta = NULL WHERE number = $1",
                            INTEGER(number)), error);
        g_autoptr(Work) work = world_work(world);
        assert_ok(held_post_decide(work, number, verdicts[at], "no", &told, &error), error);
        assert_ok(work_keep(work, at == 0 ? "accept" : "reject", &error), error);
        g_assert_false(is_held(world, number));
    }
}

/* The letter about a rejection goes to people alone: a program would answer it. */
static void test_rejected(World *world, const void *data)
{
    (void)data;
    GError *error = NULL;
    static const struct {
        const char *text;
        bool told;
    } posts[] = {{"From: a@example.org\r\nSubject: hello\r\n\r\nHi\r\n", true},
                 {"From: a@example.org\r\nAuto-Submitted: auto-replied\r\n\r\nI am away\r\n", false},
                 {"From: a@example.org\r\nPrecedence: list\r\n\r\nHi\r\n", false}};
    for (size_t at = 0; at < G_N_ELEMENTS(posts); at++) {
        bool told;
        g_autoptr(GBytes) message = g_bytes_new_static(posts[at].text, strlen(posts[at].text));
        Held held = {.list_id = (char *)LIST,
                     .sender = (char *)"a@example.org",
                     .reason = (char *)"because",
                     .meta = (char *)"{}",
                     .held_at = clock_now(),
                     .message = message};
        assert_ok(held_add(world->store, &held, &error), error);
        g_autoptr(Work) work = world_work(world);
        assert_ok(held_post_decide(work, held.number, HELD_REJECT, "no", &told, &error), error);
        g_autofree char *letters = world_letters(world, work);
        g_assert_true(told == posts[at].told);
        g_assert_true((strstr(letters, "<a@example.org>") != NULL) == posts[at].told);
        g_assert_false(is_held(world, held.number));
    }
}

static void take_draft(void *data, Draft *draft)
{
    g_ptr_array_add(data, draft);
}

/* A post that was read once is forwarded to several, whole each time, and goes on waiting. */
static void test_forward(World *world, const void *data)
{
    (void)data;
    GError *error = NULL;
    int64_t number = hold(world, LIST, DAY, 0);
    g_autoptr(Held) held = held_find(world->store, number, &error);
    g_autoptr(Work) work = world_work(world);
    g_assert_true(store_begin(world->store, NULL));
    assert_ok(held_post_forward(work, held, "anne@example.net", &error), error);
    assert_ok(held_post_forward(work, held, "bob@example.net", &error), error);
    g_assert_false(held_post_forward(work, held, "nobody", &error));
    assert_failed(FAIL_NEVER, error);
    g_autoptr(GPtrArray) drafts = g_ptr_array_new_with_free_func((GDestroyNotify)draft_free);
    work_into(work, take_draft, drafts);
    g_assert_true(store_commit(world->store, NULL));
    g_assert_cmpuint(drafts->len, ==, 2);
    for (guint at = 0; at < drafts->len; at++) {
        g_autoptr(GBytes) octets = draft_message(drafts->pdata[at]);
        g_autofree char *text = g_strndup(g_bytes_get_data(octets, NULL), g_bytes_get_size(octets));
        g_assert_nonnull(strstr(text, at == 0 ? "anne@example.net" : "bob@example.net"));
        g_assert_nonnull(strstr(text, "From: a@example.org\r\nSubject: hello\r\n\r\nHi\r\n"));
    }
    g_assert_true(is_held(world, number));
}

SUITE("held_post")
{
    g_test_init(&argc, &argv, NULL);
    WORLD_TEST("/held_post/expire", test_expire);
    WORLD_TEST("/held_post/expiry is no row", test_expiry_is_no_row);
    WORLD_TEST("/held_post/accepted", test_accepted);
    WORLD_TEST("/held_post/rejected", test_rejected);
    WORLD_TEST("/held_post/without metadata", test_without_metadata);
    WORLD_TEST("/held_post/forward", test_forward);
    return g_test_run();
}
