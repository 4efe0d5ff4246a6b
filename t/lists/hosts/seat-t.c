/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test that a process has its seat at the database, comes back to it or ends, and gets no other one's. */
#include "lists/hosts/seat.h"

#include "base/clock.h"
#include "store/outbox.h"
#include "store/secret.h"
#include "t/config_text.h"
#include "t/lists/fixture.h"
#include "t/lists/places.h"
#include "t/suite.h"

#define HOSTNAME "a.example.com"

typedef struct Table {
    Fixture fixture;
    Place place;
    Config *config;
    Seat seat; /* of a door, not opened yet */
} Table;

/* Make the configuration and the seat anew, with this database and these further lines. */
static void lay(Table *table, const char *where, const char *more)
{
    bool sqlite = g_str_equal(fixture_driver(), "sqlite");
    g_autofree char *text = g_strdup_printf("[store]\ndriver = %s\n%s = %s\n[site]\nuser = nobody\nhostname = " HOSTNAME
                                            "\n%s", fixture_driver(), sqlite ? "path" : "url", where, more);
    seat_leave(&table->seat);
    g_clear_pointer(&table->config, config_free);
    table->config = config_from_text(text);
    table->seat = (Seat){.config = table->config, .spool = table->place.spool, .deadline = STORE_DEADLINE_DOOR};
}

static void set_up(Table *table, const void *data)
{
    fixture_open(&table->fixture, data);
    place_with_id(&table->place);
    lay(table, table->fixture.path, "");
}

static void tear_down(Table *table, const void *data)
{
    seat_leave(&table->seat);
    config_free(table->config);
    place_close(&table->place);
    fixture_close(&table->fixture, data);
}

static void assert_kept(Table *table)
{
    GError *error = NULL;
    assert_ok(seat_keep(&table->seat, &error), error);
    g_assert_nonnull(table->seat.store);
}

static void assert_refused(Table *table, FailCode code)
{
    GError *error = NULL;
    g_assert_false(seat_keep(&table->seat, &error));
    g_assert_error(error, FAIL, (int)code);
    g_assert_null(table->seat.store);
    g_clear_error(&error);
}

static void rename_to(const char *from, const char *to)
{
    g_assert_cmpint(g_rename(from, to), ==, 0);
}

/* A door has no store while the database is away, and one again when it is back. A store that is there is kept. */
static void test_comes_back(Table *table, const void *data)
{
    (void)data;
    if (!fixture_is_sqlite())
        return;
    const char *path = table->fixture.path;
    g_autofree char *away = g_strconcat(path, "-away", NULL);
    assert_kept(table);
    Store *store = table->seat.store;
    assert_kept(table);
    g_assert_true(table->seat.store == store);
    g_assert_false(seat_is_away(&table->seat));
    rename_to(path, away);
    assert_refused(table, FAIL_MISSING);
    g_assert_false(seat_is_away(&table->seat));
    rename_to(away, path);
    assert_kept(table);
    seat_leave(&table->seat);
    g_assert_null(table->seat.store);
    assert_kept(table);
}

/* One that stays ends with its database, and does not go on with another one. */
static void test_stays(Table *table, const void *data)
{
    (void)data;
    if (!fixture_is_sqlite())
        return;
    if (!g_test_subprocess()) {
        g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
        g_test_trap_assert_failed();
        g_test_trap_assert_stderr("*was replaced by another file*");
        return;
    }
    g_autofree char *away = g_strconcat(table->fixture.path, "-away", NULL);
    table->seat.stays = true;
    assert_kept(table);
    g_assert_cmpint(table->seat.log, >=, 0);
    rename_to(table->fixture.path, away);
    fixture_fill(table->fixture.path);
    seat_keep(&table->seat, NULL);
    exit(0);
}

/* A spool that was used with one site's database gets no other one's. */
static void test_other_site(Table *table, const void *data)
{
    GError *error = NULL;
    Fixture other;
    assert_kept(table);
    fixture_open(&other, data);
    lay(table, other.path, "");
    assert_refused(table, FAIL_CONFIG);
    g_assert_true(table->seat.refused);
    table->seat.stays = true;
    assert_refused(table, FAIL_CONFIG);
    lay(table, table->fixture.path, "");
    assert_kept(table);
    g_assert_false(table->seat.refused);
    fixture_close(&other, data);
    g_assert_no_error(error);
}

/* Beside another machine of the same name this host may do nothing. */
static void test_other_host(Table *table, const void *data)
{
    (void)data;
    lay(table, table->fixture.path, "[runner.host]\nstart = yes\n");
    Host *other = fixture_host(table->fixture.store, HOSTNAME, "active", 3600 * CLOCK_SECOND);
    GError *error = NULL;
    g_assert_false(seat_keep(&table->seat, &error));
    g_assert_true(error && table->seat.refused && !table->seat.store);
    g_clear_error(&error);
    assert_ok(host_end(table->fixture.store, other, &error) && host_remove(table->fixture.store, HOSTNAME, &error),
              error);
    host_free(other);
    assert_kept(table);
}

static void test_server_away(Table *table, const void *data)
{
    (void)data;
    g_autoptr(Config) config = config_from_text("[store]\ndriver = postgresql\nurl = postgresql://127.0.0.1:1/none\n");
    table->seat.config = config;
    assert_refused(table, FAIL_LATER);
    table->seat.config = table->config;
    assert_kept(table);
}

/* A door that pauses does not ask again at once. */
static void test_pauses(Table *table, const void *data)
{
    (void)data;
    if (!fixture_is_sqlite())
        return;
    g_autofree char *away = g_strconcat(table->fixture.path, "-away", NULL);
    table->seat.pauses = true;
    rename_to(table->fixture.path, away);
    assert_refused(table, FAIL_MISSING);
    rename_to(away, table->fixture.path);
    assert_refused(table, FAIL_LATER);
    table->seat.open_at = 0;
    assert_kept(table);
    seat_leave(&table->seat);
    assert_refused(table, FAIL_LATER);
}

static unsigned units_of(Table *table)
{
    g_autoptr(GPtrArray) all = outbox_units(table->fixture.store, NULL, NULL);
    return all->len;
}

static void leave_unit(Table *table)
{
    GError *error = NULL;
    assert_ok(store_begin(table->fixture.store, &error), error);
    assert_ok(outbox_unit_add(table->fixture.store, spool_id(table->place.spool, NULL),
                              "0123456789abcdef0123456789abcdef", "virgin", 1, &error), error);
    assert_ok(store_commit(table->fixture.store, &error), error);
}

/* A unit that was cut short is settled when a store was opened, and not each time that it is kept. */
static void test_settles(Table *table, const void *data)
{
    (void)data;
    leave_unit(table);
    assert_kept(table);
    g_assert_cmpuint(units_of(table), ==, 1);
    seat_leave(&table->seat);
    table->seat.settles = true;
    assert_kept(table);
    g_assert_cmpuint(units_of(table), ==, 0);
    leave_unit(table);
    assert_kept(table);
    g_assert_cmpuint(units_of(table), ==, 1);
}

/* The keys are those of the database: read once, and again when there is a new one. */
static void test_keys(Table *table, const void *data)
{
    (void)data;
    GError *error = NULL;
    Seat *seat = &table->seat;
    assert_kept(table);
    assert_ok(seat_keys(seat, &error), error);
    g_assert_true(seat->keys && seat->loop_keys);
    g_assert_cmpuint(seat->secrets->len, ==, 1);
    unsigned edition = seat->edition;
    assert_ok(seat_keys_now(seat, &error) && seat_keys_now(seat, &error), error);
    unsigned looked = seat->edition;
    assert_ok(seat_keys_now(seat, &error) && seat_keys(seat, &error), error);
    g_assert_cmpuint(seat->edition, ==, looked);
    assert_ok(secret_rotate(table->fixture.store, 30 * 86400 * CLOCK_SECOND, &error), error);
    assert_kept(table);
    assert_ok(seat_keys(seat, &error), error);
    g_assert_cmpuint(seat->secrets->len, ==, 1); /* as old as a minute */
    assert_ok(seat_keys_now(seat, &error), error);
    g_assert_cmpuint(seat->secrets->len, ==, 2);
    g_assert_cmpuint(seat->edition, >, looked);
    g_assert_cmpuint(looked, >=, edition);

    /* One that stays does not ask each time; its keys count as read for a minute. */
    assert_ok(secret_rotate(table->fixture.store, 30 * 86400 * CLOCK_SECOND, &error), error);
    seat->stays = true;
    assert_kept(table);
    assert_ok(seat_keys(seat, &error), error);
    g_assert_cmpuint(seat->secrets->len, ==, 2);
    seat->keys_until = clock_monotonic();
    assert_kept(table);
    assert_ok(seat_keys(seat, &error), error);
    g_assert_cmpuint(seat->secrets->len, ==, 3);

    /* A database that is closed takes them along. */
    seat_leave(seat);
    g_assert_null(seat->keys);
    assert_kept(table);
    assert_ok(seat_keys_now(seat, &error), error);
    g_assert_cmpuint(seat->secrets->len, ==, 3);
}

#define SEAT_TEST(path, function) g_test_add(path, Table, NULL, set_up, function, tear_down)

SUITE("seat")
{
    g_test_init(&argc, &argv, NULL);
    SEAT_TEST("/seat/comes back", test_comes_back);
    SEAT_TEST("/seat/stays", test_stays);
    SEAT_TEST("/seat/other site", test_other_site);
    SEAT_TEST("/seat/other host", test_other_host);
    SEAT_TEST("/seat/server away", test_server_away);
    SEAT_TEST("/seat/pauses", test_pauses);
    SEAT_TEST("/seat/settles", test_settles);
    SEAT_TEST("/seat/keys", test_keys);
    return g_test_run();
}
