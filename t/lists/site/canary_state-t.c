/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Which part of the way is to blame for mails that do not come back. */
#include "lists/site/canary_state.h"

#include <string.h>

#include "runners/watch/turn.h"
#include "store/hosts/canary.h"
#include "t/suite.h"

#define INTERVAL 300
#define TRAVEL 5 /* until a mail is back */

/* Slices of out and in, and families, of which some are broken for a time. */
typedef struct World {
    Turn turn;
    GPtrArray *rows; /* of Canary */
    int64_t now;
    int out, in, family; /* broken ones; -1: none */
    bool all;            /* everything is broken */
} World;

static const char *const names[] = {"ipv4", "ipv6"};

static void world_init(World *world, unsigned outs, unsigned ins, unsigned families)
{
    *world = (World){.turn = {outs, ins, families, 0}, .now = 1000, .out = -1, .in = -1, .family = -1};
    world->rows = g_ptr_array_new_with_free_func((GDestroyNotify)canary_free);
}

static void world_clear(World *world)
{
    g_ptr_array_unref(world->rows);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(World, world_clear)

static Canary *row_of(World *world, TurnWay way)
{
    const char *family = world->turn.families > 1 ? names[way.family] : "";
    for (guint at = 0; at < world->rows->len; at++) {
        Canary *row = world->rows->pdata[at];
        if (strcmp(row->family, family) == 0 && row->out == way.out && row->in == way.in)
            return row;
    }
    Canary *row = g_new0(Canary, 1);
    row->family = g_strdup(family);
    row->out = way.out;
    row->in = way.in;
    g_ptr_array_add(world->rows, row);
    return row;
}

/* One mail goes, comes back if it can, and the next one is due. */
static void step(World *world)
{
    const TurnWay way = turn_way(&world->turn);
    Canary *row = row_of(world, way);
    row->sent_at = world->now;
    row->missing_since = row->missing_since ? row->missing_since : world->now;
    bool lost = world->all || (int)way.out == world->out || (int)way.in == world->in ||
                (world->turn.families > 1 && (int)way.family == world->family);
    if (!lost) {
        row->back_at = world->now + TRAVEL;
        row->missing_since = 0;
    }
    world->turn.count++;
    world->now += INTERVAL;
}

static void steps(World *world, unsigned count)
{
    for (; count > 0; count--)
        step(world);
}

/* Return what is to blame for longer than this many intervals: "in 2, ". */
static char *blamed(const World *world, int64_t intervals)
{
    GString *text = g_string_new(NULL);
    g_autoptr(GArray) all = canary_state_of(world->rows);
    for (guint at = 0; at < all->len; at++) {
        const CanaryState *one = &g_array_index(all, CanaryState, at);
        if (one->missing_since && world->now - one->missing_since > intervals * INTERVAL)
            g_string_append_printf(text, one->slice < 0 ? "%s, " : "%s %d, ", one->name, (int)one->slice);
    }
    return g_string_free(text, FALSE);
}

static void expect(const World *world, const char *wanted)
{
    g_autofree char *found = blamed(world, 2);
    g_assert_cmpstr(found, ==, wanted);
}

/* All combinations come in time, and each slice and family in the first round. */
static void test_turns(void)
{
    for (unsigned outs = 1; outs <= 8; outs *= 2)
        for (unsigned ins = 1; ins <= 8; ins *= 2)
            for (unsigned families = 1; families <= 2; families++) {
                g_auto(World) world = {0};
                world_init(&world, outs, ins, families);
                steps(&world, MAX(MAX(outs, ins), families));
                g_autoptr(GArray) first = canary_state_of(world.rows);
                unsigned parts = (outs > 1 ? outs : 0) + (ins > 1 ? ins : 0) + (families > 1 ? families : 0);
                g_assert_cmpuint(first->len, ==, 1 + parts);
                steps(&world, 2 * outs * ins * families);
                g_assert_cmpuint(world.rows->len, ==, outs * ins * families);
                expect(&world, "");
            }
}

/* While one part is broken it alone is blamed, without a pause, and then no more. */
static void judge(World *world, int *broken, int which, const char *wanted)
{
    unsigned all = world->turn.outs * world->turn.ins * world->turn.families;
    steps(world, all + 1);
    expect(world, "");
    *broken = which;
    unsigned until = 0;
    for (; until <= 2 * all + 6; until++) {
        step(world);
        g_autofree char *found = blamed(world, 2);
        if (g_str_equal(found, wanted))
            break;
        g_assert_cmpstr(found, ==, "");
    }
    for (unsigned at = 0; at < 3 * all; at++) {
        step(world);
        expect(world, wanted);
    }
    *broken = -1;
    steps(world, 2 * MAX(world->turn.outs, world->turn.ins) + 4);
    expect(world, "");
}

static void test_one_is_blamed(void)
{
    static const unsigned shapes[][3] = {{2, 4, 2}, {4, 4, 1}, {1, 2, 1}, {8, 2, 2}, {2, 2, 2}, {1, 1, 2}, {1, 4, 2}};
    for (size_t at = 0; at < G_N_ELEMENTS(shapes); at++) {
        g_auto(World) world = {0};
        world_init(&world, shapes[at][0], shapes[at][1], shapes[at][2]);
        if (shapes[at][1] > 1)
            judge(&world, &world.in, 1, "in 1, ");
        if (shapes[at][0] > 1)
            judge(&world, &world.out, 1, "out 1, ");
        if (shapes[at][2] > 1)
            judge(&world, &world.family, 1, "ipv6, ");
    }
}

/* Two that are broken are both found. */
static void test_two_are_blamed(void)
{
    g_auto(World) world = {0};
    world_init(&world, 4, 4, 1);
    steps(&world, 16);
    world.out = 2;
    world.in = 3;
    steps(&world, 32);
    expect(&world, "out 2, in 3, ");
    world.out = -1;
    steps(&world, 8);
    expect(&world, "in 3, ");
}

/* When nothing comes back the way is blamed, and no part of it. */
static void test_whole(void)
{
    g_auto(World) world = {0};
    world_init(&world, 2, 4, 2);
    steps(&world, 20);
    world.all = true;
    for (unsigned at = 0; at < 40; at++) {
        step(&world);
        expect(&world, at < 2 ? "" : "way, ");
    }
    g_auto(World) plain = {0};
    world_init(&plain, 1, 1, 1);
    plain.all = true;
    steps(&plain, 4);
    expect(&plain, "way, ");
    plain.all = false;
    step(&plain);
    expect(&plain, "");
    g_auto(World) none = {0};
    world_init(&none, 1, 1, 1);
    g_autoptr(GArray) nothing = canary_state_of(none.rows);
    g_assert_cmpuint(nothing->len, ==, 0);
}

static void add_entry(World *world, const char *family, int64_t slice, int64_t missing_since)
{
    Canary *row = g_new0(Canary, 1);
    row->family = g_strdup(family);
    row->out = slice;
    row->sent_at = world->now;
    row->back_at = missing_since ? 1 : world->now;
    row->missing_since = missing_since;
    g_ptr_array_add(world->rows, row);
}

/* Entries in other queues are told apart from mails, and say nothing of their way. */
static void test_other_queues(void)
{
    g_auto(World) world = {0};
    world_init(&world, 2, 2, 1);
    steps(&world, 20);
    add_entry(&world, "queue pipeline", 0, 0);
    add_entry(&world, "queue pipeline", 1, 1000);
    add_entry(&world, "queue archive", 1, 0);
    expect(&world, "pipeline 1, ");
    world.all = true;
    steps(&world, 20);
    expect(&world, "way, pipeline 1, ");
    g_ptr_array_set_size(world.rows, 0);
    add_entry(&world, "queue archive", 0, 1000);
    expect(&world, "archive 0, ");
    g_autoptr(GArray) all = canary_state_of(world.rows);
    g_assert_cmpuint(all->len, ==, 1);
}

/* Kinds of address over which mails come in are shown where there are two, and say nothing of the way. */
static void test_doors(void)
{
    g_auto(World) world = {0};
    world_init(&world, 2, 2, 2);
    steps(&world, 20);
    g_autoptr(GArray) before = canary_state_of(world.rows);
    add_entry(&world, "lmtp ipv6", 0, 1000);
    g_autoptr(GArray) with_one = canary_state_of(world.rows);
    g_assert_cmpuint(with_one->len, ==, before->len);
    expect(&world, "");
    add_entry(&world, "lmtp ipv4", 0, 0);
    g_autoptr(GArray) with_both = canary_state_of(world.rows);
    g_assert_cmpuint(with_both->len, ==, before->len + 2);
    expect(&world, "lmtp ipv6, ");
    world.family = 0;
    steps(&world, 20);
    expect(&world, "ipv4, lmtp ipv6, ");
    world.family = -1;
    steps(&world, 20);
    world.all = true;
    steps(&world, 20);
    add_entry(&world, "queue archive", 0, 1000);
    expect(&world, "way, lmtp ipv6, archive 0, ");
}

SUITE("canary_state")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/canary-state/turns", test_turns);
    g_test_add_func("/canary-state/one is blamed", test_one_is_blamed);
    g_test_add_func("/canary-state/two are blamed", test_two_are_blamed);
    g_test_add_func("/canary-state/whole", test_whole);
    g_test_add_func("/canary-state/doors", test_doors);
    g_test_add_func("/canary-state/other queues", test_other_queues);
    return g_test_run();
}
