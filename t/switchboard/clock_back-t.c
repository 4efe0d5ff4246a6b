/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The clock is set back: what nobody put off goes on, in its order; what was put off waits. */
#include <glib/gstdio.h>
#include <string.h>

#include "base/clock.h"
#include "t/suite.h"
#include "t/switchboard/fixture.h"

#define HOUR (3600 * CLOCK_SECOND)

static void set_clock(const char *seconds)
{
    g_assert_true(g_file_set_contents(g_getenv("LISTRUNNER_CLOCK_FILE"), seconds, -1, NULL));
}

/* Claims what is due; returns the messages in the order of the claims. */
static char *claim(Inbox *inbox)
{
    g_autoptr(GString) texts = g_string_new(NULL);
    g_autoptr(GPtrArray) entries = fixture_claim(inbox);
    for (guint i = 0; i < entries->len; i++) {
        g_autoptr(GBytes) message = entry_message(entries->pdata[i]);
        g_string_append_len(texts, g_bytes_get_data(message, NULL), (gssize)g_bytes_get_size(message));
        entry_free(entries->pdata[i]);
    }
    return g_string_free(g_steal_pointer(&texts), FALSE);
}

static void expect(Inbox *inbox, const char *texts)
{
    g_assert_true(inbox_refresh(inbox, NULL));
    int64_t oldest = 0;
    g_assert_cmpuint(inbox_backlog(inbox, clock_now(), &oldest), ==, strlen(texts));
    g_assert_true((oldest > 0) == (*texts != '\0'));
    g_autofree char *claimed = claim(inbox);
    g_assert_cmpstr(claimed, ==, texts);
}

/* Puts the one entry that is due off by an hour. */
static void put_off(Fixture *fixture, const char *message)
{
    g_free(fixture_store(fixture, "in", message));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_assert_true(inbox_release(inbox, fixture_claim_one(inbox), clock_now() + HOUR, NULL));
}

/* Known before the clock was set, found by an event after it, and found by a start; each with one that was put off. */
static void run(Fixture *fixture, Wakeup wakeup)
{
    put_off(fixture, "x");
    g_autoptr(Inbox) living = inbox_open(fixture->spool, "in", (Slice){0, 1}, wakeup, NULL);
    g_free(fixture_store(fixture, "in", "1"));
    g_free(fixture_store(fixture, "in", "2"));
    g_assert_true(inbox_refresh(living, NULL));
    g_free(fixture_store(fixture, "in", "3"));
    set_clock("-7200");
    g_free(fixture_store(fixture, "in", "4"));
    expect(living, "1234");
    int64_t wait = inbox_wait(living, clock_now());
    g_assert_cmpint(wait, >, wakeup.polls ? -1 : 2 * HOUR);
    g_assert_cmpint(wait, <=, 3 * HOUR);
    g_free(fixture_store(fixture, "in", "5"));
    g_free(fixture_store(fixture, "in", "6"));
    g_autoptr(Inbox) started = inbox_open(fixture->spool, "in", (Slice){0, 1}, wakeup, NULL);
    expect(started, "123456"); /* the start put back what the other had claimed */
    set_clock("3601");
    g_autoptr(Inbox) last = inbox_open(fixture->spool, "in", (Slice){0, 1}, wakeup, NULL);
    expect(last, "123456x");
}

/* An entry that was put off while the clock was ahead for a moment does not wait until then, where the queue has a
 * longest wait. */
static void run_ahead(Fixture *fixture, Wakeup wakeup)
{
    g_autoptr(Inbox) living = inbox_open(fixture->spool, "virgin", (Slice){0, 1}, wakeup, NULL);
    inbox_bound_wait(living, 2 * HOUR);
    for (const char *const *ahead = (const char *const[]){"90000", "34560000", NULL}; *ahead; ahead++) {
        set_clock(*ahead);
        g_free(fixture_store(fixture, "virgin", *ahead));
        g_assert_true(inbox_refresh(living, NULL));
        g_autoptr(GPtrArray) entries = fixture_claim(living);
        g_assert_cmpuint(entries->len, >, 0);
        for (guint at = 0; at < entries->len; at++)
            g_assert_true(inbox_release(living, entries->pdata[at], clock_now() + HOUR, NULL));
    }
    set_clock("0");
    g_autoptr(Inbox) believes = inbox_open(fixture->spool, "virgin", (Slice){0, 1}, wakeup, NULL);
    if (!wakeup.polls)
        g_assert_cmpint(inbox_wait(believes, clock_now()), >, 24 * HOUR);
    g_assert_true(inbox_refresh(living, NULL));
    g_autofree char *claimed = claim(living);
    g_assert_nonnull(strstr(claimed, "90000"));
    g_assert_nonnull(strstr(claimed, "34560000"));
}

/* The child of an entry from before, and one that is tried again for a second: neither is taken at once for ever. */
static void run_hop(Fixture *fixture)
{
    set_clock("0");
    g_free(fixture_store(fixture, "bounces", "p"));
    set_clock("-7200");
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "bounces");
    g_autoptr(GPtrArray) entries = fixture_claim(inbox);
    g_autoptr(Outcome) outcome = outcome_new(entries->pdata[0]);
    outcome_add(outcome, fixture_draft("digest", "t", "c"));
    g_autoptr(Hop) hop = hop_new(fixture->spool);
    g_assert_true(hop_commit(hop, &outcome, 1, NULL));
    g_autoptr(Inbox) next = fixture_inbox(fixture, "digest");
    g_assert_true(inbox_release(next, fixture_claim_one(next), clock_now() + HOUR, NULL));
    expect(next, "");
    Entry *entry = inbox_claim_hash(next, draft_name(outcome->drafts->pdata[0])->hash, 0, NULL);
    g_assert_nonnull(entry);
    entry_free(entry);
}

static void test(Fixture *fixture, gconstpointer data)
{
    if (g_test_subprocess()) {
        run(fixture, (Wakeup){.polls = data != NULL, .poll_us = 1});
        run_hop(fixture);
        set_clock("0");
        run_ahead(fixture, (Wakeup){.polls = data != NULL, .poll_us = 1});
        run_ahead(fixture, (Wakeup){.polls = data != NULL, .poll_us = 1, .put_off = true});
        return;
    }
    g_autofree char *file = g_strconcat(fixture->path, ".offset", NULL);
    g_setenv("LISTRUNNER_CLOCK_FILE", file, TRUE);
    set_clock("0");
    g_test_trap_subprocess(NULL, 0, 0);
    g_unsetenv("LISTRUNNER_CLOCK_FILE");
    g_unlink(file);
    g_test_trap_assert_passed();
}

SUITE("clock_back")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/clock back/told by events", Fixture, NULL, fixture_set_up, test, fixture_tear_down);
    g_test_add("/clock back/polls", Fixture, "polls", fixture_set_up, test, fixture_tear_down);
    return g_test_run();
}
