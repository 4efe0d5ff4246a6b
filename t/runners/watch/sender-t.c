/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test the mail that the runner watch sends through the mail server: it has its row, and one is under way at a time. */
#include "runners/watch/sender.h"

#include "base/clock.h"
#include "store/hosts/canary.h"
#include "store/store_internal.h"
#include "t/config_text.h"
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
    site->config = config_from_text("[site]\nuser = nobody\nhostname = " HOST "\n[watch]\ncanary = example.com\n");
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

/* Make the lists, which is a turn without a mail. */
static void make_lists(Site *site)
{
    GError *error = NULL;
    int64_t wait;
    assert_ok(sender_turn(&site->sender, &wait, &error), error);
    g_assert_cmpuint(mails(site), ==, 0);
}

/* The second mail goes when the first is back, or missing for longer than patience. */
static void test_one_at_a_time(Site *site, const void *data)
{
    (void)data;
    GError *error = NULL;
    Store *store = site->world.store;
    make_lists(site);
    assert_ok(take_turn(site, &error) && take_turn(site, &error), error);
    g_assert_cmpuint(mails(site), ==, 1);
    assert_ok(canary_back(store, HOST, clock_now(), &error), error);
    assert_ok(take_turn(site, &error) && take_turn(site, &error), error);
    g_assert_cmpuint(mails(site), ==, 2);
    g_auto(Canary) canary = {0};
    assert_ok(canary_read(store, HOST, &canary, &error), error);
    assert_ok(canary_sent(store, HOST, canary.mail, clock_now() - INT64_C(3600) * CLOCK_SECOND, &error), error);
    assert_ok(take_turn(site, &error) && take_turn(site, &error), error);
    g_assert_cmpuint(mails(site), ==, 3);
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
                        "CREATE TRIGGER refuse BEFORE INSERT ON canary BEGIN SELECT RAISE(ABORT, 'refused'); END",
                        NULL, 0),
              error);
    g_assert_false(take_turn(site, &error));
    assert_failed(FAIL_LATER, error);
    g_assert_cmpuint(mails(site), ==, 0);
    assert_ok(query_all(store, &error, NULL, "DROP TRIGGER refuse", NULL, 0), error);
    assert_ok(take_turn(site, &error), error);
    g_assert_cmpuint(mails(site), ==, 1);
    g_auto(Canary) canary = {0};
    assert_ok(canary_read(store, HOST, &canary, &error), error);
    g_assert_nonnull(canary.mail);
}

SUITE("watch/sender")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/sender/one mail is under way at a time", Site, NULL, set_up, test_one_at_a_time, tear_down);
    g_test_add("/sender/no mail without its row", Site, NULL, set_up, test_row_first, tear_down);
    return g_test_run();
}
