/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Mails through the MTA are missing until one comes back, each host and slice for itself. */
#include "store/canary.h"

#include "t/store/fixture.h"

static void send(Fixture *fixture, const char *host, int64_t slice, const char *mail, int64_t now)
{
    GError *error = NULL;
    assert_ok(canary_sent(fixture->store, host, slice, mail, now, &error), error);
}

static void expect(Fixture *fixture, const char *host, const char *wanted)
{
    GError *error = NULL;
    g_autoptr(GString) found = g_string_new(NULL);
    g_autoptr(GPtrArray) all = canary_all(fixture->store, host, &error);
    assert_ok(all != NULL, error);
    for (guint at = 0; at < all->len; at++) {
        const Canary *one = all->pdata[at];
        g_string_append_printf(found, "%d:%s sent %d back %d missing %d; ", (int)one->slice, one->mail,
                               (int)one->sent_at, (int)one->back_at, (int)one->missing_since);
    }
    g_assert_cmpstr(found->str, ==, wanted);
}

static void test_back(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    send(fixture, "a", 0, "m1", 10);
    send(fixture, "a", 1, "m2", 20);
    send(fixture, "b", 1, "m3", 30);
    assert_ok(canary_back(fixture->store, "a", 1, 25, &error), error);
    expect(fixture, "a", "0:m1 sent 10 back 0 missing 10; 1:m2 sent 20 back 25 missing 0; ");
    /* The first that is missing counts, and not the last. */
    send(fixture, "a", 0, "m4", 40);
    send(fixture, "a", 1, "m5", 50);
    expect(fixture, "a", "0:m4 sent 40 back 0 missing 10; 1:m5 sent 50 back 25 missing 50; ");
    assert_ok(canary_back(fixture->store, "a", 0, 60, &error), error);
    expect(fixture, "a", "0:m4 sent 40 back 60 missing 0; 1:m5 sent 50 back 25 missing 50; ");
    assert_ok(canary_forget(fixture->store, "a", 1, &error), error);
    expect(fixture, "a", "0:m4 sent 40 back 60 missing 0; ");
    expect(fixture, "b", "1:m3 sent 30 back 0 missing 30; ");
    assert_ok(canary_forget(fixture->store, "b", 0, &error), error);
    expect(fixture, "b", "");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/canary/back", Fixture, NULL, fixture_open, test_back, fixture_close);
    return g_test_run();
}
