/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test the mails that the runner watch sends through the mail server: each has its row, and each pair of slices its
 * turn. */
#include "runners/watch/sender.h"

#include "base/clock.h"
#include "store/hosts/canary.h"
#include "store/store_internal.h"
#include "t/lists/fixture.h"
#include "t/lists/places.h"
#include "t/suite.h"

#define HOST "a.example.com"

typedef struct Site {
    World world;
    Place place;
    Config *config;
    Sender sender;
} Site;

static void set_up(Site *site, const void *data)
{
    world_open(&site->world, data);
    place_open(&site->place);
    site->config = place_config("[site]\nuser = nobody\nhostname = " HOST "\n[watch]\ncanary = example.com\n"
                                "both_families = no\n[runner.in]\ninstances = 2\n[runner.out]\ninstances = 2\n");
    sender_init(&site->sender, site->config, site->world.store, site->place.spool);
}

static void tear_down(Site *site, const void *data)
{
    sender_clear(&site->sender);
    config_free(site->config);
    place_close(&site->place);
    world_close(&site->world, data);
}

static bool take_turn(Site *site, GError **error)
{
    int64_t wait;
    site->sender.due = 0;
    return sender_turn(&site->sender, &wait, error);
}

static unsigned mails(const Site *site)
{
    unsigned count = 0;
    g_autofree char *path = g_build_filename(site->place.folder, "out", NULL);
    g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
    for (const char *name; directory && (name = g_dir_read_name(directory));)
        count += g_str_has_suffix(name, ".msg");
    return count;
}

/* Return the rows of mails that are under way (of Canary); freed with the array. */
static GPtrArray *rows(const Site *site)
{
    GError *error = NULL;
    GPtrArray *all = canary_all(site->world.store, HOST, &error);
    g_assert_no_error(error);
    for (guint at = all->len; at > 0; at--)
        if (!canary_is_mail(all->pdata[at - 1]))
            g_ptr_array_remove_index(all, at - 1);
    return all;
}

/* Make the lists, which is a turn without a mail. */
static void make_lists(Site *site)
{
    GError *error = NULL;
    int64_t wait;
    assert_ok(sender_turn(&site->sender, &wait, &error), error);
    g_assert_cmpuint(mails(site), ==, 0);
}

/* In as many turns as there are pairs of slices, each pair has one. */
static void test_slices(Site *site, const void *data)
{
    (void)data;
    GError *error = NULL;
    make_lists(site);
    bool seen[2][2] = {{false}};
    for (int i = 0; i < 4; i++)
        assert_ok(take_turn(site, &error), error);
    g_autoptr(GPtrArray) all = rows(site);
    for (guint at = 0; at < all->len; at++) {
        const Canary *one = all->pdata[at];
        g_assert_true(one->out < 2 && one->in < 2);
        seen[one->out][one->in] = true;
    }
    g_assert_true(seen[0][0] && seen[0][1] && seen[1][0] && seen[1][1]);
    g_assert_cmpuint(mails(site), ==, 4);
}

/* No mail is sent whose row cannot be written: nobody would look for it. The next turn sends one. */
static void test_row_first(Site *site, const void *data)
{
    (void)data;
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    Store *store = site->world.store;
    make_lists(site);
    assert_ok(query_all(store, &error, NULL,
                        "CREATE TRIGGER refuse BEFORE INSERT ON canary_way BEGIN SELECT RAISE(ABORT, 'refused'); END",
                        NULL, 0),
              error);
    g_assert_false(take_turn(site, &error));
    assert_failed(FAIL_LATER, error);
    g_assert_cmpuint(mails(site), ==, 0);
    assert_ok(query_all(store, &error, NULL, "DROP TRIGGER refuse", NULL, 0), error);
    assert_ok(take_turn(site, &error), error);
    g_assert_cmpuint(mails(site), ==, 1);
    g_autoptr(GPtrArray) all = rows(site);
    g_assert_cmpuint(all->len, ==, 1);
}

SUITE("watch/sender")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/sender/each pair of slices has its turn", Site, NULL, set_up, test_slices, tear_down);
    g_test_add("/sender/no mail without its row", Site, NULL, set_up, test_row_first, tear_down);
    return g_test_run();
}
