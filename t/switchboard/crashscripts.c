/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* These scripts are all that crash_states-t lets happen. Those of the operator are in crashoperator.c, that of the
 * ledger is in crashledger.c. */
#include <sys/resource.h>
#include <unistd.h>

#include "switchboard/intake.h"
#include "switchboard/recover.h"
#include "t/switchboard/crashscripts.h"

#define HALF_0 ((Slice){0, 2})
#define HALF_1 ((Slice){1, 2})

static void store(CrashWorld *world, int first, int second)
{
    int messages[] = {first, second};
    crashworld_store(world, messages, second < 0 ? 1 : 2);
}

/* One batch of one slice; the process may die in it. */
static void work_until(CrashWorld *world, const char *queue, Slice slice, bool dies)
{
    g_autoptr(Inbox) inbox = crashworld_inbox(world, queue, slice);
    g_autoptr(Hop) hop = hop_new(world->spool);
    unsigned worked = 0;
    bool ended = crashworld_work(world, inbox, hop, &worked) && hop_settle(hop, NULL);
    g_assert_cmpuint(worked, >, 0);
    g_assert_true(ended == !dies);
    world->log->die_in = -1;
}

static void work(CrashWorld *world, const char *queue, Slice slice)
{
    work_until(world, queue, slice, false);
}

void crashscript_intake(CrashWorld *world)
{
    store(world, 1, 2);
    store(world, 4, -1);
}

/* Two slices at once, and two batches of one, so that clean-up is owed
 * from one to the next. */
void crashscript_hops(CrashWorld *world)
{
    g_autoptr(Inbox) first = crashworld_inbox(world, "in", HALF_0);
    g_autoptr(Inbox) second = crashworld_inbox(world, "in", HALF_1);
    store(world, 0, 1);
    store(world, 2, -1);
    crashlog_begin(world->log);
    g_usleep(2000); /* polled */
    g_autoptr(Hop) hop_first = hop_new(world->spool);
    g_autoptr(Hop) hop_second = hop_new(world->spool);
    unsigned worked = 0;
    g_assert_true(crashworld_work(world, first, hop_first, &worked));
    g_assert_true(crashworld_work(world, second, hop_second, &worked));
    store(world, 3, -1);
    g_usleep(2000); /* polled */
    g_assert_true(crashworld_work(world, second, hop_second, &worked));
    g_assert_cmpuint(worked, ==, 4);
    g_assert_true(hop_settle(hop_second, NULL));
    g_assert_true(hop_settle(hop_first, NULL));
}

/* Several parents at once share the sync of their directory. */
void crashscript_together(CrashWorld *world)
{
    store(world, 1, 5);
    store(world, 7, -1);
    crashlog_begin(world->log);
    work(world, "in", (Slice){0, 1});
}

/* A hop that may hold one file open at a time syncs its children on the way. */
void crashscript_few_open(CrashWorld *world)
{
    store(world, 6, -1);
    crashlog_begin(world->log);
    struct rlimit before, few;
    g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &before), ==, 0);
    few = (struct rlimit){.rlim_cur = 4, .rlim_max = before.rlim_max};
    g_autoptr(Inbox) inbox = crashworld_inbox(world, "in", HALF_0);
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &few), ==, 0);
    g_autoptr(Hop) hop = hop_new(world->spool); /* looks at the limit */
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &before), ==, 0);
    unsigned worked = 0;
    g_assert_true(crashworld_work(world, inbox, hop, &worked) && hop_settle(hop, NULL));
    g_assert_cmpuint(worked, ==, 1);
}

/* Each runner works on what the one before has published and not yet synced:
 * intake, in, out, retry. */
void crashscript_chain(CrashWorld *world)
{
    static const char *const queues[] = {"in", "out", "out", "retry", "retry"};
    static const Slice slices[] = {HALF_1, HALF_0, HALF_1, HALF_0, HALF_1};
    Hop *hops[G_N_ELEMENTS(queues)];
    Inbox *inboxes[G_N_ELEMENTS(queues)];
    unsigned worked = 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(queues); i++) {
        inboxes[i] = crashworld_inbox(world, queues[i], slices[i]);
        hops[i] = hop_new(world->spool);
    }
    store(world, 3, -1);
    g_usleep(2000); /* polled */
    for (unsigned i = 0; i < G_N_ELEMENTS(queues); i++) {
        g_usleep(2000);
        g_assert_true(crashworld_work(world, inboxes[i], hops[i], &worked));
    }
    g_assert_cmpuint(worked, ==, 4);
    for (unsigned i = 0; i < G_N_ELEMENTS(queues); i++) {
        g_assert_true(hop_settle(hops[i], NULL));
        hop_free(hops[i]);
        inbox_free(inboxes[i]);
    }
}

static void work_with(CrashWorld *world, Inbox *inbox)
{
    g_autoptr(Hop) hop = hop_new(world->spool);
    unsigned worked = 0;
    g_usleep(2000); /* polled */
    g_assert_true(crashworld_work(world, inbox, hop, &worked) && hop_settle(hop, NULL));
}

/* Puts off what is there until later, and works on it all the same. */
static void put_off(CrashWorld *world, Inbox *inbox)
{
    g_autoptr(GPtrArray) entries = g_ptr_array_new();
    g_assert_true(inbox_refresh(inbox, NULL) && inbox_claim(inbox, 1, false, entries, NULL));
    if (entries->len == 0)
        return;
    int64_t due = entry_name(entries->pdata[0])->due + INT64_C(300000000);
    g_assert_true(inbox_release(inbox, entries->pdata[0], due, NULL));
    work_with(world, inbox);
}

/* Marks, bounces, an entry put off into retry, and there once more. The runners are there before: a start would
 * sync. */
void crashscript_deliver(CrashWorld *world)
{
    static const char *const queues[] = {"out", "bounces", "bounces", "out", "retry", "retry"};
    static const Slice slices[] = {HALF_0, HALF_0, HALF_1, HALF_1, HALF_0, HALF_1};
    Inbox *inboxes[G_N_ELEMENTS(queues)];
    store(world, 1, 2);
    for (unsigned i = 0; i < G_N_ELEMENTS(queues); i++)
        inboxes[i] = crashworld_inbox(world, queues[i], slices[i]);
    work(world, "in", HALF_0);
    work(world, "in", HALF_1);
    crashlog_begin(world->log);
    for (unsigned i = 0; i < 4; i++) /* the bounce of the first goes on at once, and must not come again */
        work_with(world, inboxes[i]);
    for (unsigned i = 4; i < G_N_ELEMENTS(queues); i++)
        put_off(world, inboxes[i]);
    for (unsigned i = 0; i < G_N_ELEMENTS(queues); i++)
        inbox_free(inboxes[i]);
}

/* A bounce is worked on by its runner before the mark of its recipient is on the disk: made again, it is known. */
void crashscript_bounce_claimed(CrashWorld *world)
{
    store(world, 2, -1);
    g_autoptr(Inbox) bounces = crashworld_inbox(world, "bounces", (Slice){0, 1});
    work(world, "in", HALF_1);
    g_autoptr(Inbox) out = crashworld_inbox(world, "out", (Slice){0, 1});
    crashlog_begin(world->log);
    world->bounces = bounces;
    work_with(world, out);
    world->bounces = NULL;
}

void crashscript_preserve(CrashWorld *world)
{
    store(world, 4, -1);
    crashlog_begin(world->log);
    work(world, "in", HALF_0);
}

static unsigned sweep(CrashWorld *world)
{
    unsigned swept = 0, total = 0;
    for (unsigned i = 0; i < 2; i++, total += swept)
        g_assert_true(recover_sweep(spool_queue(world->spool, "in", NULL), (Slice){i, 2}, -INT64_C(3600000000), &swept,
                                    NULL));
    return total;
}

/* An intake that died, swept beside one that lives. */
void crashscript_sweep(CrashWorld *world)
{
    world->log->die_in = 2;
    json_t *meta = json_object();
    meta_set_integer(meta, META_ORDINAL, 1); /* the same in each run */
    Intake intake = {.draft = draft_new("in", meta)};
    g_autoptr(GBytes) octets = g_bytes_new_static("half", 4);
    draft_add_message(intake.draft, octets);
    g_assert_false(intake_store(world->spool, &intake, 1, false));
    g_clear_error(&intake.error);
    draft_free(intake.draft);
    world->log->die_in = -1;
    store(world, 1, -1);
    crashlog_begin(world->log);
    g_assert_cmpuint(sweep(world), ==, 1);
    work(world, "in", HALF_0);
}

/* One byte of a message that waits goes bad. */
static void meet_damage(CrashWorld *world, int fail_in)
{
    store(world, 5, -1);
    crashworld_damage(world);
    crashlog_begin(world->log);
    world->log->fail_in = fail_in;
    unsigned worked = 0;
    g_autoptr(Inbox) inbox = crashworld_inbox(world, "in", HALF_1);
    g_autoptr(Hop) hop = hop_new(world->spool);
    g_assert_true(crashworld_work(world, inbox, hop, &worked));
    g_assert_cmpuint(worked, ==, 0);
}

void crashscript_damage(CrashWorld *world)
{
    meet_damage(world, -1);
}

/* The same, and what is written into corrupt/ cannot be synced. */
void crashscript_damage_stays(CrashWorld *world)
{
    world->log->fail_call = FS_SYNC_FILE;
    meet_damage(world, 0);
    crashlog_note(world->log, (CrashNotes){.preserved = 1 << 5});
}

/* R6: who is lost of its parent comes to shunt. */
void crashscript_stray(CrashWorld *world)
{
    RecoverReport report = {0};
    crashoperator_lose_parent(world, "in");
    g_assert_true(recover_slice(spool_queue(world->spool, "in", NULL), HALF_1, true, &report, NULL));
    g_assert_cmpuint(report.strays, ==, 1);
    crashlog_note(world->log, (CrashNotes){.preserved = 1 << 5});
}

/* A hop makes the queue that its child goes to: the child is safe only where the spool has the queue. */
void crashscript_makes_queue(CrashWorld *world)
{
    world->makes_queue = true;
    store(world, 17, -1);
    crashlog_begin(world->log);
    work(world, "in", HALF_1);
}

/* Die while making a queue, before it is on the disk. It is there for the next process, and no reason to rely on it. */
void crashscript_finds_queue(CrashWorld *world)
{
    world->makes_queue = true;
    crashlog_die_at(world->log, "make dir spool", 1);
    g_assert_false(crashworld_try_store(world, 18, false));
    world->log->die_in = -1;
    crashworld_restart(world);
    store(world, 18, -1);
}

#define THREE (-1) /* messages, which are committed together */
#define TAKER 10   /* and the one that it takes */
#define TAKEN 11

static void store_one_or(CrashWorld *world, int message)
{
    if (world->ledger)
        close(crashledger_open(world));
    store(world, message == THREE ? 1 : message, message == TAKER ? TAKEN : -1);
    if (message == THREE)
        store(world, 5, 7);
}

/* Dies so many calls after the first that text names, recovers, and works on. */
static void die_and_go_on(CrashWorld *world, int message, Slice slice, const char *text, int further)
{
    store_one_or(world, message);
    crashlog_begin(world->log);
    crashlog_die_at(world->log, text, further);
    work_until(world, "in", slice, true);
    world->other_outcome = false;
    crashlog_begin_changes(world->log);
    g_autoptr(Inbox) inbox = crashworld_inbox(world, "in", slice); /* recovers */
    g_assert_nonnull(inbox);
    unsigned worked = 0;
    g_autoptr(Hop) hop = hop_new(world->spool);
    g_assert_true(crashworld_work(world, inbox, hop, &worked) && hop_settle(hop, NULL));
}

void crashscript_killed_deciding(CrashWorld *world)
{
    die_and_go_on(world, 6, HALF_0, "rename in .bak .done", 1);
}

void crashscript_killed_together(CrashWorld *world)
{
    die_and_go_on(world, THREE, (Slice){0, 1}, "rename in .bak .done", 3);
}

/* Intake that dies before it syncs leaves something whole, which R8 takes in; then it is as good as acknowledged. */
void crashscript_killed_intake(CrashWorld *world)
{
    world->log->die_in = 4; /* created, written in three pieces */
    g_assert_false(crashworld_try_store(world, 1, false));
    world->log->die_in = -1;
    g_autoptr(Inbox) inbox = crashworld_inbox(world, "in", HALF_0);
    crashlog_note(world->log, (CrashNotes){.acknowledged = 1 << 1});
    unsigned worked = 0;
    g_autoptr(Hop) hop = hop_new(world->spool);
    g_assert_true(crashworld_work(world, inbox, hop, &worked) && hop_settle(hop, NULL));
    g_assert_cmpuint(worked, ==, 1);
}

/* Intake that dies before it syncs, R8 that dies when it has published, and intake that is made again and finds it
 * stored: what it says then must be so on the disk. */
static void store_again(CrashWorld *world, int message, void (*take_in)(CrashWorld *world))
{
    crashlog_die_at(world->log, "sync file in .tmp", 0);
    g_assert_false(crashworld_try_store(world, message, true));
    world->log->die_in = -1;
    crashlog_die_at(world->log, "rename in .tmp .msg", 1);
    take_in(world);
    g_assert_cmpint(world->log->die_in, ==, 0);
    world->log->die_in = -1;
    g_assert_true(crashworld_try_store(world, message, true));
    crashlog_note(world->log, (CrashNotes){.acknowledged = UINT64_C(1) << message});
}

static void take_in_at_start(CrashWorld *world)
{
    inbox_free(crashworld_inbox(world, "in", HALF_0));
}

static void take_in_later(CrashWorld *world)
{
    unsigned completed;
    Queue *in = spool_queue(world->spool, "in", NULL);
    g_assert_true(recover_intake(in, HALF_1, -INT64_C(3600000000), &completed, NULL));
}

static void take_in_by_sweep(CrashWorld *world)
{
    g_assert_cmpuint(sweep(world), ==, 0);
}

void crashscript_stored_again(CrashWorld *world)
{
    store_again(world, 1, take_in_at_start);
    store_again(world, 5, take_in_later);
    store_again(world, 7, take_in_by_sweep);
}

void crashscript_killed_publishing(CrashWorld *world)
{
    die_and_go_on(world, 9, HALF_1, "rename out child.tmp .msg", 1);
}

/* One message takes another, which is in its children then (T8a); the ledger knows before the commit. */
void crashscript_takes(CrashWorld *world)
{
    world->ledger = true;
    store_one_or(world, TAKER);
    crashlog_begin(world->log);
    work(world, "in", HALF_0);
}

/* The same, and it dies while it publishes: the one that was taken comes back (R4), and is known. */
void crashscript_takes_and_dies(CrashWorld *world)
{
    world->ledger = true;
    die_and_go_on(world, TAKER, HALF_0, "rename out child.tmp .msg", 1);
}

/* Dies before the commit, and again in the recovery before it has synced that the children are gone; then there is
 * none to be seen, and the parents are decided with others. */
void crashscript_killed_undoing(CrashWorld *world)
{
    store_one_or(world, THREE);
    crashlog_begin(world->log);
    world->other_outcome = true;
    crashlog_die_at(world->log, "rename in .bak .done", 0);
    work_until(world, "in", (Slice){0, 1}, true);
    world->other_outcome = false;
    crashlog_die_at(world->log, "unlink retry child.tmp", 1);
    g_assert_null(crashworld_inbox(world, "in", (Slice){0, 1}));
    world->log->die_in = -1;
    crashlog_begin_changes(world->log);
    work(world, "in", (Slice){0, 1});
}

void crashscript_killed_before(CrashWorld *world)
{
    world->other_outcome = true;
    die_and_go_on(world, 7, HALF_0, "rename in .bak .done", 0);
}

/* A child's sync fails; the next try has another outcome. */
void crashscript_failed(CrashWorld *world)
{
    store(world, 8, -1);
    crashlog_begin(world->log);
    g_autoptr(Inbox) inbox = crashworld_inbox(world, "in", HALF_1);
    g_autoptr(Hop) hop = hop_new(world->spool);
    unsigned worked = 0;
    world->other_outcome = true;
    world->log->fail_call = FS_SYNC_FILE;
    world->log->fail_in = 1;
    g_assert_true(crashworld_work(world, inbox, hop, &worked));
    world->other_outcome = false;
    g_usleep(2000);
    g_assert_true(crashworld_work(world, inbox, hop, &worked) && hop_settle(hop, NULL));
    g_assert_cmpuint(worked, ==, 2);
}

/* A message that kills its runner each time is set aside by the recovery after the third (R4), and stays there. */
void crashscript_poison(CrashWorld *world)
{
    store(world, 4, -1);
    crashlog_begin(world->log);
    for (int i = 0; i < RECOVER_CRASHES_LIMIT; i++) {
        if (i > 0) /* it is put back, and waits */
            inbox_free(crashworld_inbox(world, "in", HALF_0));
        crash_clock = i * CRASH_ROUND_S;
        crashlog_die_at(world->log, "rename in .bak .psv", 0);
        work_until(world, "in", HALF_0, true);
    }
    crash_clock = 0;
    g_autoptr(Inbox) inbox = crashworld_inbox(world, "in", HALF_0);
    crashlog_note(world->log, (CrashNotes){.preserved = 1 << 4});
}

/* Act on an entry that a runner claimed durably: after a cut it is not there for an operator before the runner is there
 * again. */
void crashscript_acts(CrashWorld *world)
{
    store(world, 5, -1);
    g_autoptr(Inbox) posts = crashworld_inbox(world, "in", HALF_1);
    g_autoptr(Hop) hop = hop_new(world->spool);
    unsigned worked = 0;
    g_assert_true(crashworld_work(world, posts, hop, &worked));
    crashlog_begin(world->log);
    g_autoptr(Inbox) inbox = crashworld_inbox(world, "archive", (Slice){0, 1});
    g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func((GDestroyNotify)entry_free);
    g_assert_true(inbox_claim(inbox, 1, true, entries, NULL));
    g_assert_cmpuint(entries->len, ==, 1);
    crashlog_note(world->log, (CrashNotes){.held = 1 << 5});
}
