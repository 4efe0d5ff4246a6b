/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test what becomes of an event that a web hook did not take. The hook is the test's. */
#include <sqlite3.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/event.h"
#include "lists/keys.h"
#include "runners/hooks/hook.h"
#include "store/event_row.h"
#include "store/store.h"
#include "switchboard/operate.h"
#include "t/runners/runnerframe.h"
#include "t/switchboard/fixture.h"

#define HOUR (3600 * CLOCK_SECOND)

int hooks_main(int argc, char **argv);

static HookResult answer;
static bool stops; /* while the hook is asked */
static unsigned long takes; /* us, to answer */
static int asked;
static Hook *hook;

GPtrArray *hooks_read(const Config *config, GError **error)
{
    GPtrArray *hooks = g_ptr_array_new_with_free_func(g_free);
    hook = g_new0(Hook, 1);
    hook->name = "h";
    g_ptr_array_add(hooks, hook);
    return hooks;
}

bool hook_wants(const Hook *one, const char *type, const char *list_id)
{
    return true;
}

HookResult hook_send(const Hook *one, const HookDelivery *delivery, GError **error)
{
    runner_frame.stopping = stops;
    g_usleep(takes);
    asked++;
    if (answer != HOOK_TAKEN)
        fail(error, FAIL_LATER, "not taken");
    return answer;
}

static void set_up(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    fixture_set_up(fixture, NULL);
    g_autofree char *path = g_build_filename(fixture->path, "conf", NULL);
    g_autofree char *database = g_build_filename(fixture->path, "db", NULL);
    g_autofree char *text = g_strdup_printf("[store]\npath = %s\n[hooks]\ngive_up = 1h\n", database);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    g_autoptr(Store) made = store_open("sqlite", database, true, &error);
    g_assert_no_error(error);
    hooks_main(0, NULL);
    runner_frame = (Runner){
        .spec = runner_frame.spec, .config = config_load(path, true, &error), .spool = fixture->spool};
    g_assert_no_error(error);
    g_assert_true(runner_frame.spec->start(&runner_frame, &error));
    answer = HOOK_FAILED;
    stops = false;
    takes = 0;
    asked = 0;
}

static void tear_down(Fixture *fixture, gconstpointer data)
{
    runner_frame.spec->stop(&runner_frame);
    config_free(runner_frame.config);
    fixture_tear_down(fixture, NULL);
}

/* The draft is consumed. */
static Entry *stored(Fixture *fixture, Draft *draft)
{
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, draft_queue(draft));
    fixture_put(fixture, draft);
    return fixture_claim_one(inbox);
}

/* A delivery that was made two hours ago, first tried then if said; longer than give_up. Each is alone in its queue. */
static Entry *old_event(Fixture *fixture, bool tried)
{
    static int made;
    g_autofree char *queue = g_strdup_printf(EVENT_QUEUE "%d", made++);
    Draft *draft = fixture_draft(queue, "test.example.com", "{}");
    int64_t then = clock_now() - 2 * HOUR;
    meta_set_integer(draft_meta(draft), META_ARRIVAL, then);
    meta_set_string(draft_meta(draft), KEY_HOOK, "h");
    if (tried) {
        meta_set_integer(draft_meta(draft), KEY_ATTEMPTS, 3);
        meta_set_integer(draft_meta(draft), KEY_TRIED_SINCE, then);
    }
    return stored(fixture, draft);
}

/* Lets the runner deliver it; entry is consumed. */
static Outcome *tried(Entry *entry)
{
    Outcome *outcome = outcome_new(entry);
    g_assert_true(runner_frame.spec->handle(&runner_frame, entry, outcome, NULL));
    return outcome;
}

static Draft *only_draft(const Outcome *outcome, const char *queue)
{
    g_assert_cmpuint(outcome->drafts->len, ==, 1);
    Draft *draft = outcome->drafts->pdata[0];
    g_assert_cmpstr(draft_queue(draft), ==, queue);
    return draft;
}

static void test_given_up(Fixture *fixture, gconstpointer data)
{
    g_autoptr(Outcome) outcome = tried(old_event(fixture, true));
    Draft *draft = only_draft(outcome, "shunt");
    g_assert_false(json_object_get(draft_meta(draft), KEY_ATTEMPTS));
}

/* The delivery may have been cut off by the stop. */
static void test_stopped(Fixture *fixture, gconstpointer data)
{
    stops = true;
    g_autoptr(Outcome) outcome = tried(old_event(fixture, true));
    Draft *draft = only_draft(outcome, EVENT_QUEUE);
    g_assert_cmpint(meta_integer(draft_meta(draft), KEY_ATTEMPTS, 0), ==, 3);
    g_assert_cmpint(hook->failures, ==, 0);
    g_assert_cmpint(hook->rests_until, ==, 0);
}

static void test_refused_when_stopping(Fixture *fixture, gconstpointer data)
{
    stops = true;
    answer = HOOK_REFUSED;
    g_autoptr(Outcome) outcome = tried(old_event(fixture, true));
    only_draft(outcome, "shunt");
}

/* shunt retry gives an old event its whole time again, and no more than that. */
static void test_brought_back(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Outcome) given_up = tried(old_event(fixture, true));
    g_autoptr(Outcome) back = outcome_new(stored(fixture, g_ptr_array_steal_index(given_up->drafts, 0)));
    Draft *retried = operate_draft_retry(back->parent, "again", &error); /* a queue where nothing else is */
    g_assert_no_error(error);
    hook->rests_until = 0;
    int64_t before = clock_now();
    g_autoptr(Outcome) again = tried(stored(fixture, retried));
    Draft *draft = only_draft(again, EVENT_QUEUE);
    g_assert_cmpint(meta_integer(draft_meta(draft), KEY_ATTEMPTS, 0), ==, 1);
    g_assert_cmpint(meta_integer(draft_meta(draft), KEY_TRIED_SINCE, 0), >=, before);
}

/* While the hook rests, the time goes on from when the event was first looked at. */
static void test_resting(Fixture *fixture, gconstpointer data)
{
    hook->rests_until = clock_now() + HOUR;
    g_autoptr(Outcome) outcome = tried(old_event(fixture, true));
    Draft *draft = only_draft(outcome, EVENT_QUEUE);
    g_assert_cmpint(meta_integer(draft_meta(draft), KEY_ATTEMPTS, 0), ==, 3);
    g_assert_cmpint(meta_integer(draft_meta(draft), KEY_TRIED_SINCE, 0), <, clock_now() - HOUR);
}

/* Of what waits behind a hook that fails, one event is tried each time; the others do not wait for ever. */
static void test_given_up_untried(Fixture *fixture, gconstpointer data)
{
    hook->rests_until = clock_now() + HOUR;
    hook->failures = 1;
    g_autoptr(Outcome) old = tried(old_event(fixture, true)), young = tried(old_event(fixture, false));
    only_draft(old, "shunt");
    only_draft(young, EVENT_QUEUE);
    g_assert_cmpint(asked, ==, 0);
}

/* A hook that takes long has its turn, and then others have theirs, also in the next batch. */
static void test_turns(Fixture *fixture, gconstpointer data)
{
    answer = HOOK_TAKEN;
    hook->spent = CLOCK_SECOND - 1;
    takes = CLOCK_SECOND / 10;
    g_autoptr(Outcome) last = tried(old_event(fixture, false));
    g_assert_cmpuint(last->drafts->len, ==, 0);
    g_autoptr(Outcome) next = tried(old_event(fixture, false));
    g_assert_cmpint(draft_name(only_draft(next, EVENT_QUEUE))->due, >, clock_now());
    g_assert_cmpint(asked, ==, 1);
}

/* A thousand quick answers are no reason to rest. */
static void test_quick(Fixture *fixture, gconstpointer data)
{
    answer = HOOK_TAKEN;
    hook->spent = CLOCK_SECOND - 1;
    for (int at = 0; at < 3; at++) {
        g_autoptr(Outcome) outcome = tried(old_event(fixture, false));
        g_assert_cmpuint(outcome->drafts->len, ==, 0);
    }
}

/* A hook that answers works, whatever it says about the event. */
static void test_failures_in_a_row(Fixture *fixture, gconstpointer data)
{
    hook->failures = 3;
    answer = HOOK_REFUSED;
    g_autoptr(Outcome) refused = tried(old_event(fixture, false));
    only_draft(refused, EVENT_QUEUE);
    g_assert_cmpint(hook->failures, ==, 0);
    g_assert_cmpint(hook->rests_until, ==, 0);
}

static void change(Fixture *fixture, const char *sql)
{
    g_autofree char *path = g_build_filename(fixture->path, "db", NULL);
    sqlite3 *database;
    g_assert_cmpint(sqlite3_open(path, &database), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(database, sql, NULL, NULL, NULL), ==, SQLITE_OK);
    sqlite3_close(database);
}

static Draft *event(int number)
{
    static int made;
    g_autofree char *queue = g_strdup_printf("new%d", made++), *id = g_strdup_printf("id%d", number);
    Draft *draft = fixture_draft(queue, "test.example.com", "{}");
    meta_set_string(draft_meta(draft), KEY_EVENT, "list.created");
    meta_set_string(draft_meta(draft), KEY_EVENT_ID, id);
    return draft;
}

static guint noted(Fixture *fixture)
{
    g_autofree char *path = g_build_filename(fixture->path, "db", NULL);
    g_autoptr(Store) store = store_open("sqlite", path, false, NULL);
    g_autoptr(GPtrArray) rows = event_row_after(store, 0, 100, NULL);
    return rows->len;
}

/* The store fails: both events of the batch come again, the delivery between them does not, since it was made. Nor is
 * one noted twice, where the store refuses only the second. */
static void test_store_fails(Fixture *fixture, gconstpointer data)
{
    static const char *const faults[] = {"", "WHEN NEW.id = 'id2'"};
    g_assert_true(runner_frame.spec->durable_claim); /* what it has sent must not be claimed again after a power cut */
    answer = HOOK_TAKEN;
    for (size_t i = 0; i <= G_N_ELEMENTS(faults); i++) {
        bool fails = i < G_N_ELEMENTS(faults);
        g_autofree char *fault = fails ? g_strdup_printf("CREATE TRIGGER bad BEFORE INSERT ON event %s BEGIN SELECT "
                                                         "RAISE(ABORT, 'bad'); END",
                                                         faults[i])
                                       : g_strdup("");
        change(fixture, fault);
        g_autoptr(Outcome) first = tried(stored(fixture, event(1))), between = tried(old_event(fixture, false));
        g_autoptr(Outcome) second = tried(stored(fixture, event(2)));
        g_assert_true(runner_frame.spec->end_batch(&runner_frame, NULL));
        g_assert_no_error(between->error);
        const Outcome *const events[] = {first, second};
        for (size_t at = 0; at < G_N_ELEMENTS(events); at++) {
            g_assert_true(g_error_matches(events[at]->error, FAIL, FAIL_LATER) == fails);
            g_assert_cmpuint(events[at]->drafts->len, ==, fails ? 0 : 1);
        }
        g_assert_cmpuint(noted(fixture), ==, fails ? 0 : 2);
        change(fixture, "DROP TRIGGER IF EXISTS bad");
    }
    g_assert_cmpint(asked, ==, 3);
}

#define TRIES_TEST(name, test) g_test_add(name, Fixture, NULL, set_up, test, tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    TRIES_TEST("/hooks/given up", test_given_up);
    TRIES_TEST("/hooks/cut off by a stop", test_stopped);
    TRIES_TEST("/hooks/refused while it stops", test_refused_when_stopping);
    TRIES_TEST("/hooks/brought back from shunt", test_brought_back);
    TRIES_TEST("/hooks/resting", test_resting);
    TRIES_TEST("/hooks/given up behind one that fails", test_given_up_untried);
    TRIES_TEST("/hooks/turns", test_turns);
    TRIES_TEST("/hooks/quick answers", test_quick);
    TRIES_TEST("/hooks/failures in a row", test_failures_in_a_row);
    TRIES_TEST("/hooks/store fails", test_store_fails);
    return g_test_run();
}
