/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test that held posts come once: by an import that was cut short and is done again, into two lists. */
#include "lists/moving/moving.h"

#include "store/posts/held.h"
#include "t/lists/fixture.h"
#include "t/suite.h"
#include "t/text.h"

#define OTHER "other.example.com"
#define THEN (INT64_C(1700000000) * CLOCK_SECOND)

static void open_both(World *world, const void *data)
{
    GError *error = NULL;
    world_open(world, data);
    list_free(list_create(world->store, "other@example.com", &error));
    g_assert_no_error(error);
}

static void take_line(MovingNote note, const char *place, const char *key, const char *text, void *data)
{
    (void)data;
    g_error("note %d: %s %s: %s", note, place, key, text);
}

static void take_progress(uint64_t rows, void *data)
{
    (void)rows;
    (void)data;
}

/* Begin the import of the part; it is not whole. */
static Moving *begin(World *world)
{
    GError *error = NULL;
    bool whole;
    const MovingSite site = {.store = world->store,
                             .there = world->store,
                             .site = &world->site,
                             .tell = take_line,
                             .progress = take_progress};
    Moving *moving = moving_new(&site, "test source");
    assert_ok(moving_begin(moving, "held posts", LIST, MOVING_IN_PORTIONS, &whole, &error), error);
    g_assert_false(whole);
    return moving;
}

/* Bring in a post that was held at a time; id NULL: it has no Message-ID. */
static int64_t bring(Moving *moving, const char *list, const char *id, int64_t held_at)
{
    GError *error = NULL;
    g_autoptr(GBytes) message = octets_of("From: anne@example.org\r\n\r\nHi\r\n");
    Held held = {.list_id = (char *)list,
                 .message_id = (char *)id,
                 .sender = (char *)"anne@example.org",
                 .subject = (char *)"hello",
                 .reason = (char *)"because",
                 .meta = (char *)"{}",
                 .held_at = held_at,
                 .message = message};
    assert_ok(moving_held(moving, &held, &error), error);
    g_assert_cmpint(held.number, >, 0);
    return held.number;
}

static void assert_counts(const Moving *moving, uint64_t in, uint64_t there)
{
    const MovingCount *count = &moving_counts(moving)[MOVING_HELD];
    g_assert_cmpuint(count->in, ==, in);
    g_assert_cmpuint(count->there, ==, there);
}

static void test_once(World *world, const void *data)
{
    (void)data;
    GError *error = NULL;
    Moving *cut_short = begin(world);
    int64_t one = bring(cut_short, LIST, "one@x", THEN), two = bring(cut_short, LIST, "two@x", THEN);
    int64_t nameless = bring(cut_short, LIST, NULL, THEN + 1), foreign = bring(cut_short, OTHER, "three@x", THEN);
    assert_ok(moving_finish(cut_short, &error), error);
    assert_counts(cut_short, 4, 0);
    moving_free(cut_short);
    g_autoptr(Moving) again = begin(world);
    g_assert_cmpint(bring(again, LIST, "two@x", THEN), ==, two);
    g_assert_cmpint(bring(again, LIST, "one@x", THEN), ==, one);
    g_assert_cmpint(bring(again, LIST, NULL, THEN + 1), ==, nameless);
    g_assert_cmpint(bring(again, OTHER, "three@x", THEN), ==, foreign);
    assert_counts(again, 0, 4);
    /* Each of these differs from one that is there. */
    bring(again, LIST, "three@x", THEN);
    bring(again, LIST, "one@x", THEN + 2);
    bring(again, OTHER, "one@x", THEN);
    bring(again, LIST, NULL, THEN);
    assert_counts(again, 4, 4);
    assert_ok(moving_end(again, &error) && moving_finish(again, &error), error);
    int64_t count, oldest;
    assert_ok(held_count(world->store, &count, &oldest, &error), error);
    g_assert_cmpint(count, ==, 8);
}

/* Posts of strangers have less room than those of members. */
static void test_strangers(World *world, const void *data)
{
    (void)data;
    GError *error = NULL;
    HeldRoom before, after;
    g_autoptr(Moving) moving = begin(world);
    bring(moving, LIST, "one@x", THEN);
    assert_ok(held_room(world->store, LIST, &before, &error), error);
    g_assert_cmpint(before.strangers, >, 0);
    g_assert_cmpint(before.all, ==, before.strangers);
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), NULL, NULL, &error), error);
    bring(moving, LIST, "two@x", THEN);
    assert_ok(held_room(world->store, LIST, &after, &error), error);
    g_assert_cmpint(after.strangers, ==, before.strangers);
    g_assert_cmpint(after.all, >, before.all);
}

SUITE("moving/waiting")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/moving/waiting/held posts come once", World, NULL, open_both, test_once, world_close);
    g_test_add("/moving/waiting/room of strangers", World, NULL, open_both, test_strangers, world_close);
    return g_test_run();
}
