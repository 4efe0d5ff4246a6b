/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test who is next: the worked schedules, and what destinations without room do to them. */
#include "runners/outgoing/scheduler.h"

#include <string.h>

#include "base/clock.h"
#include "t/suite.h"

#define START (1000 * CLOCK_SECOND)
#define DEFAULTS {5, 3, 50, 3}

typedef struct Rig {
    Scheduler scheduler;
    DestinationLimits limits;
    GPtrArray *destinations;
    GString *order;
    int64_t now;
} Rig;

static Rig *rig_new(SchedulerSettings settings)
{
    Rig *rig = g_new0(Rig, 1);
    rig->limits = (DestinationLimits){.window = {.initial = 1000000, .positive = {1, 0}, .negative = {1, 0}},
                                      .burst = 1, .share = 1};
    rig->destinations = g_ptr_array_new_with_free_func((GDestroyNotify)destination_free);
    rig->order = g_string_new(NULL);
    rig->now = START;
    scheduler_init(&rig->scheduler, &settings);
    return rig;
}

static void rig_free(Rig *rig)
{
    g_ptr_array_unref(rig->destinations);
    scheduler_clear(&rig->scheduler);
    g_string_free(rig->order, TRUE);
    g_free(rig);
}

static Destination *add_destination(Rig *rig, const char *name)
{
    Destination *destination = destination_new(name, &rig->limits, &rig->scheduler.changed, rig->now);
    g_ptr_array_add(rig->destinations, destination);
    return destination;
}

static void add_batches(Rig *rig, Job *job, Destination *destination, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        Batch *batch = batch_new(NULL, NULL, 1);
        batch->count = 1;
        scheduler_add_batch(job, destination, batch, true, rig->now);
    }
}

/* A job of count batches, known by a letter. */
static Job *add_job(Rig *rig, char letter, Destination *destination, size_t count)
{
    Job *job = g_new0(Job, 1);
    scheduler_add_job(&rig->scheduler, job, GINT_TO_POINTER(letter), rig->now);
    add_batches(rig, job, destination, count);
    return job;
}

static void add_to_order(GString *order, char letter)
{
    g_string_append_c(order, letter);
}

/* Sends one batch; false when nothing can go. keep: it stays under way. */
static bool step(Rig *rig, bool keep)
{
    Destination *destination;
    Batch *batch = scheduler_next(&rig->scheduler, NULL, &destination, rig->now);
    if (!batch)
        return false;
    Job *job = batch->job;
    add_to_order(rig->order, (char)GPOINTER_TO_INT(job->owner));
    batch_free(batch);
    if (!keep)
        destination_end(destination);
    if (job->selected == job->read && job->unread == 0) {
        scheduler_retire(job);
        g_free(job);
    }
    return true;
}

/* "3L1a" for LLLa. */
static char *in_runs(const char *order)
{
    GString *runs = g_string_new(NULL);
    for (const char *at = order; *at;) {
        size_t length = strspn(at, (char[]){*at, '\0'});
        g_string_append_printf(runs, "%s%zu%c", runs->len ? " " : "", length, *at);
        at += length;
    }
    return g_string_free(runs, FALSE);
}

typedef struct Schedule {
    SchedulerSettings settings;
    const char *jobs;  /* letter and count */
    const char *order; /* runs */
} Schedule;

static void check_schedule(gconstpointer data)
{
    const Schedule *schedule = data;
    Rig *rig = rig_new(schedule->settings);
    Destination *destination = add_destination(rig, "relay");
    for (const char *at = schedule->jobs; *at;) {
        char letter = *at++;
        char *end;
        add_job(rig, letter, destination, g_ascii_strtoull(at, &end, 10));
        at = end + (*end == ' ');
    }
    while (step(rig, false))
        continue;
    g_autofree char *runs = in_runs(rig->order->str);
    g_assert_cmpstr(runs, ==, schedule->order);
    rig_free(rig);
}

static const Schedule schedules[] = {
    {{2, 0, 0, 3}, "x10 y2 z2", "4x 2y 4x 2z 2x"},
    {{2, 0, 50, 3}, "x10 y2 z2", "2x 2y 4x 2z 4x"},
    {{0, 3, 50, 3}, "x10 y2 z2", "10x 2y 2z"},
    {{1, 3, 50, 3}, "x10 y2 z2", "10x 2y 2z"},
    {DEFAULTS, "L30 a1 b1 c1 d1 e1 f1", "1L 1a 5L 1b 5L 1c 5L 1d 5L 1e 5L 1f 4L"},
    {DEFAULTS, "L14 a1", "14L 1a"},
    {DEFAULTS, "L15 a1", "1L 1a 14L"},
    {DEFAULTS, "L100 M10 s1", "1L 1s 14L 10M 85L"},
    {DEFAULTS, "L1000 M100", "235L 100M 765L"},
    {DEFAULTS, "L1000 M100 S10 t1", "1L 1t 14L 10S 275L 100M 710L"},
    {DEFAULTS, "L40 M6", "1L 6M 39L"},
    {DEFAULTS, "L40 M7", "5L 7M 35L"},
    {DEFAULTS, "L40 M8", "5L 8M 35L"},
    {DEFAULTS, "L40 M9", "40L 9M"},
};

/* With always two singles waiting, a list of 1000 ends after 1200 slots. */
static void slow_down(void)
{
    Rig *rig = rig_new((SchedulerSettings)DEFAULTS);
    Destination *destination = add_destination(rig, "relay");
    add_job(rig, 'L', destination, 1000);
    size_t singles = 0, lists = 0, slots = 0;
    for (size_t waiting = 0; lists < 1000; slots++) {
        for (; waiting < 2; waiting++)
            add_job(rig, 's', destination, 1);
        g_assert_true(step(rig, false));
        bool list = rig->order->str[rig->order->len - 1] == 'L';
        lists += list;
        singles += !list;
        waiting -= !list;
    }
    g_assert_cmpuint(slots, ==, 1200);
    g_assert_cmpuint(singles, ==, 200);
    while (step(rig, false))
        continue;
    rig_free(rig);
}

/* A job whose destination is full keeps nobody waiting, and gets its turn when there is room. */
static void blocked(void)
{
    Rig *rig = rig_new((SchedulerSettings)DEFAULTS);
    rig->limits.window.initial = 2;
    Destination *slow = add_destination(rig, "slow");
    Destination *quick = add_destination(rig, "quick");
    add_job(rig, 'A', slow, 4);
    add_job(rig, 'b', quick, 1);
    add_job(rig, 'c', slow, 1);
    add_job(rig, 'd', quick, 1);
    while (step(rig, true))
        continue;
    g_assert_cmpstr(rig->order->str, ==, "AAbd");
    destination_end(slow);
    while (step(rig, true))
        continue;
    g_assert_cmpstr(rig->order->str, ==, "AAbdA");
    g_assert_cmpuint(slow->waiting, ==, 2);
    destination_end(slow);
    destination_end(slow);
    while (step(rig, true))
        continue;
    g_assert_cmpstr(rig->order->str, ==, "AAbdAAc");
    g_assert_cmpuint(rig->scheduler.waiting, ==, 0);
    rig_free(rig);
}

/* Destinations of one job are served in turn. */
static void round_robin(void)
{
    Rig *rig = rig_new((SchedulerSettings)DEFAULTS);
    Destination *three[] = {add_destination(rig, "one"), add_destination(rig, "two"), add_destination(rig, "three")};
    Job *job = add_job(rig, 'A', three[0], 3);
    add_batches(rig, job, three[1], 3);
    add_batches(rig, job, three[2], 3);
    Destination *last[3] = {NULL};
    for (int i = 0; i < 9; i++) {
        Destination *destination;
        Batch *batch = scheduler_next(&rig->scheduler, NULL, &destination, rig->now);
        g_assert_nonnull(batch);
        if (i >= 3)
            g_assert_true(last[i % 3] == destination);
        last[i % 3] = destination;
        batch_free(batch);
    }
    g_assert_true(last[0] != last[1] && last[1] != last[2] && last[0] != last[2]);
    scheduler_retire(job);
    g_free(job);
    rig_free(rig);
}

/* Nobody could overtake when it was looked for; a single that comes then is seen soon. */
static void candidate_comes_late(void)
{
    Rig *rig = rig_new((SchedulerSettings)DEFAULTS);
    Destination *relay = add_destination(rig, "relay");
    add_job(rig, 'A', relay, 30);
    for (int i = 0; i < 10; i++)
        step(rig, false);
    g_assert_cmpstr(rig->order->str, ==, "AAAAAAAAAA");
    rig->now += CLOCK_SECOND / 10;
    add_job(rig, 'B', relay, 1);
    step(rig, false);
    g_assert_cmpstr(rig->order->str, ==, "AAAAAAAAAAB");
    while (step(rig, false))
        continue;
    rig_free(rig);
}

/* A single that could overtake, but whose destination is full, is no candidate; the next is. */
static void candidate_needs_room(void)
{
    Rig *rig = rig_new((SchedulerSettings)DEFAULTS);
    Destination *wide = add_destination(rig, "wide");
    rig->limits.window.initial = 1;
    Destination *full = add_destination(rig, "full");
    add_job(rig, 'x', full, 1);
    g_assert_true(step(rig, true));
    add_job(rig, 'L', wide, 30);
    add_job(rig, 'f', full, 1);
    add_job(rig, 'w', wide, 1);
    for (int i = 0; i < 4; i++)
        g_assert_true(step(rig, false));
    g_assert_cmpstr(rig->order->str, ==, "xLwLL");
    while (step(rig, false))
        continue;
    GQueue taken = G_QUEUE_INIT;
    scheduler_take(full, NULL, &taken);
    g_assert_cmpuint(taken.length, ==, 1);
    Batch *batch = g_queue_pop_head_link(&taken)->data;
    scheduler_retire(batch->job);
    g_free(batch->job);
    batch_free(batch);
    rig_free(rig);
}

/* Suspended, dead, without a token, without a further connection: no room, and known when to look again. */
static void sleeps(void)
{
    Rig *rig = rig_new((SchedulerSettings)DEFAULTS);
    rig->limits.rate.per_second = 2;
    Destination *paced = add_destination(rig, "paced");
    add_job(rig, 'p', paced, 3);
    g_assert_true(step(rig, false));
    g_assert_false(step(rig, false));
    int64_t at = scheduler_wake(&rig->scheduler, rig->now);
    g_assert_cmpint(at, ==, START + CLOCK_SECOND / 2);
    rig->now = at;
    g_assert_cmpint(scheduler_wake(&rig->scheduler, rig->now), ==, 0);
    g_assert_true(step(rig, false));
    destination_kill(paced, rig->now, false, 0);
    rig->now += CLOCK_SECOND;
    g_assert_false(step(rig, false));
    g_assert_cmpint(scheduler_wake(&rig->scheduler, rig->now), ==, paced->dead_until);
    rig->now = paced->dead_until;
    scheduler_wake(&rig->scheduler, rig->now);
    g_assert_false(destination_dead(paced));
    destination_suspend(paced, rig->now);
    g_assert_false(step(rig, false));
    g_assert_cmpint(scheduler_wake(&rig->scheduler, rig->now), ==, 0);
    destination_resume(paced, rig->now);
    g_assert_true(step(rig, false));
    g_assert_cmpstr(rig->order->str, ==, "ppp");
    rig_free(rig);
}

/* Check that a batch that a closed connection never took goes out again, before the rest of its job. */
/* Another destination's batch of the same job may go before the front; that of another job may not. */
static void goes_on(void)
{
    Rig *rig = rig_new((SchedulerSettings){0, 0, 0, 0});
    Destination *one = add_destination(rig, "one"), *two = add_destination(rig, "two");
    Destination *other = add_destination(rig, "other"), *destination;
    Job *first = add_job(rig, 'A', one, 2);
    add_batches(rig, first, two, 2);
    Job *second = add_job(rig, 'B', other, 1);
    g_assert_true(scheduler_front(&rig->scheduler, rig->now) == one);
    g_assert_true(scheduler_equals(one, two));
    g_assert_false(scheduler_equals(one, other));
    for (int i = 0; i < 2; i++) {
        Batch *batch = scheduler_next(&rig->scheduler, two, &destination, rig->now);
        g_assert_true(batch->job == first && destination == two);
        batch_free(batch);
    }
    g_assert_true(scheduler_front(&rig->scheduler, rig->now) == one);
    g_assert_false(scheduler_equals(one, two));
    for (Batch *batch; (batch = scheduler_next(&rig->scheduler, NULL, &destination, rig->now)) != NULL;)
        batch_free(batch);
    g_assert_null(scheduler_front(&rig->scheduler, rig->now));
    scheduler_retire(first);
    scheduler_retire(second);
    g_free(first);
    g_free(second);
    rig_free(rig);
}

static void comes_back(void)
{
    Rig *rig = rig_new((SchedulerSettings)DEFAULTS);
    Destination *relay = add_destination(rig, "relay");
    Job *job = add_job(rig, 'A', relay, 3);
    Destination *destination;
    Batch *batch = scheduler_next(&rig->scheduler, NULL, &destination, rig->now);
    destination_end(destination);
    scheduler_add_batch(job, destination, batch, false, rig->now);
    g_assert_cmpuint(job->selected, ==, 0);
    g_assert_true(scheduler_next(&rig->scheduler, NULL, &destination, rig->now) == batch);
    batch_free(batch);
    while ((batch = scheduler_take_of(job, &destination)) != NULL)
        batch_free(batch);
    g_assert_cmpuint(relay->waiting_recipients, ==, 0);
    scheduler_retire(job);
    g_free(job);
    rig_free(rig);
}

/* Many jobs and destinations at random: the next is always that of the first job that can go, its
 * destination one that has room; and what went in comes out, once. */
static void at_random(void)
{
    enum { DESTINATIONS = 20, JOBS = 400 };
    Rig *rig = rig_new((SchedulerSettings){0, 0, 0, 0});
    rig->limits.window = (WindowLimits){.initial = 3, .limit = 3, .positive = {1, 0}, .negative = {1, 0}};
    Destination *all[DESTINATIONS];
    for (int i = 0; i < DESTINATIONS; i++)
        all[i] = add_destination(rig, "d");
    size_t added = 0, taken = 0;
    for (int round = 0; taken < added || round < JOBS; round++) {
        if (round < JOBS) {
            Job *job = add_job(rig, 'j', all[g_test_rand_int_range(0, DESTINATIONS)], 1);
            for (int i = g_test_rand_int_range(0, 10); i > 0; i--)
                add_batches(rig, job, all[g_test_rand_int_range(0, DESTINATIONS)], 1);
            added += job->read;
        }
        for (int i = g_test_rand_int_range(0, 12); i > 0; i--) {
            Job *wanted = NULL;
            for (GList *link = rig->scheduler.jobs.head; link && !wanted; link = link->next)
                for (GList *at = ((Job *)link->data)->peers.head; at && !wanted; at = at->next)
                    if (((Peer *)at->data)->destination->busy < 3)
                        wanted = link->data;
            Destination *destination;
            Batch *batch = scheduler_next(&rig->scheduler, NULL, &destination, rig->now);
            g_assert_true((batch ? batch->job : NULL) == wanted);
            if (!batch)
                break;
            taken++;
            batch_free(batch);
            if (wanted->selected == wanted->read) {
                scheduler_retire(wanted);
                g_free(wanted);
            }
        }
        Destination *some = all[g_test_rand_int_range(0, DESTINATIONS)];
        while (some->busy > 0)
            destination_end(some);
    }
    g_assert_cmpuint(taken, ==, added);
    rig_free(rig);
}

/* Check that all that waits for one next hop leaves in its order, and that nothing else does. */
static void takes_one_nexthop(void)
{
    Rig *rig = rig_new((SchedulerSettings)DEFAULTS);
    Destination *shared = add_destination(rig, "shared");
    struct Nexthop *hops[] = {(void *)rig, (void *)shared};
    Job *jobs[3];
    for (int i = 0; i < 3; i++) {
        jobs[i] = add_job(rig, (char)('a' + i), shared, 0);
        for (int number = 0; number < 10; number++) {
            Batch *batch = batch_new(NULL, hops[number % 2], 1);
            batch->count = 1;
            batch->begun = number;
            scheduler_add_batch(jobs[i], shared, batch, true, rig->now);
        }
    }
    for (int turn = 0; turn < 2; turn++) {
        GQueue taken = G_QUEUE_INIT;
        scheduler_take(shared, turn ? NULL : hops[1], &taken);
        g_assert_cmpuint(taken.length, ==, 15);
        g_assert_cmpuint(shared->waiting, ==, turn ? 0 : 15);
        g_assert_true(scheduler_front(&rig->scheduler, rig->now) == (turn ? NULL : shared));
        for (int at = 0; at < 15; at++) {
            Batch *batch = g_queue_pop_head_link(&taken)->data;
            g_assert_true(batch->nexthop == hops[!turn] && batch->job == jobs[at / 5]);
            g_assert_cmpint(batch->begun, ==, at % 5 * 2 + !turn);
            batch_free(batch);
        }
    }
    for (int i = 0; i < 3; i++) {
        scheduler_retire(jobs[i]);
        g_free(jobs[i]);
    }
    rig_free(rig);
}

/* Check that destinations with room stand in the order of their first jobs, and the peers of each in that of their
 * jobs. */
static void check_order(Rig *rig)
{
    const Destination *before = NULL;
    scheduler_front(&rig->scheduler, rig->now); /* looks at what has changed */
    for (GSequenceIter *at = g_sequence_get_begin_iter(rig->scheduler.ready); !g_sequence_iter_is_end(at);
         at = g_sequence_iter_next(at)) {
        const Destination *destination = g_sequence_get(at);
        const Peer *first = g_sequence_get(g_sequence_get_begin_iter(destination->queue.peers));
        g_assert_true(destination->queue.first == first->job);
        g_assert_true(!before || before->queue.first->rank <= destination->queue.first->rank);
        const Job *job = NULL;
        for (GSequenceIter *peer = g_sequence_get_begin_iter(destination->queue.peers); !g_sequence_iter_is_end(peer);
             peer = g_sequence_iter_next(peer)) {
            g_assert_true(!job || job->rank < ((const Peer *)g_sequence_get(peer))->job->rank);
            job = ((const Peer *)g_sequence_get(peer))->job;
        }
        before = destination;
    }
}

/* Jobs with several destinations preempt each other: nobody is lost on the way to a new place. */
static void order_when_preempting(void)
{
    enum { DESTINATIONS = 200, JOBS = 300 };
    Rig *rig = rig_new((SchedulerSettings){2, 3, 50, 1});
    rig->limits.window = (WindowLimits){.initial = 2, .limit = 2, .positive = {1, 0}, .negative = {1, 0}};
    Destination *all[DESTINATIONS];
    for (int i = 0; i < DESTINATIONS; i++)
        all[i] = add_destination(rig, "d");
    size_t left = 0;
    for (int round = 0; round < JOBS || left > 0; round++) {
        if (round < JOBS) {
            Job *job = add_job(rig, 'j', all[g_test_rand_int_range(0, DESTINATIONS)], 1);
            for (int i = g_test_rand_int_range(0, round % 8 ? 6 : 100); i > 0; i--)
                add_batches(rig, job, all[g_test_rand_int_range(0, DESTINATIONS)], 1);
            left += job->read;
            check_order(rig);
        }
        rig->now += CLOCK_SECOND / 2;
        for (int i = g_test_rand_int_range(0, 12); i > 0 && step(rig, true); i--, left--)
            check_order(rig);
        Destination *some = all[g_test_rand_int_range(0, DESTINATIONS)];
        while (some->busy > 0)
            destination_end(some);
        check_order(rig);
    }
    rig_free(rig);
}

static void add_favoured(Rig *rig, Destination *destination)
{
    Job *job = g_new0(Job, 1);
    job->favoured = true;
    scheduler_add_job(&rig->scheduler, job, GINT_TO_POINTER('n'), rig->now);
    add_batches(rig, job, destination, 1);
}

/* Mail of our own goes first, as far as its share goes. */
static void favoured_first(void)
{
    Rig *rig = rig_new((SchedulerSettings){0, 0, 0, 0});
    Destination *destination = add_destination(rig, "a");
    add_job(rig, 'L', destination, 100);
    for (int i = 0; i < 6; i++)
        add_favoured(rig, destination);
    while (step(rig, false))
        ;
    g_autofree char *runs = in_runs(rig->order->str);
    g_assert_cmpstr(runs, ==, "4n 100L 2n");
    rig_free(rig);
}

/* However many there are, the others keep a fifth. */
static void favoured_flood(void)
{
    Rig *rig = rig_new((SchedulerSettings){0, 0, 0, 0});
    Destination *destination = add_destination(rig, "a");
    add_job(rig, 'L', destination, 100);
    for (int i = 0; i < 400; i++) {
        rig->now += CLOCK_SECOND;
        add_favoured(rig, destination);
        add_favoured(rig, destination);
        step(rig, false);
    }
    size_t large = 0;
    for (const char *at = rig->order->str; *at; at++)
        large += *at == 'L';
    g_assert_cmpuint(large, >=, 80);
    g_assert_cmpuint(large, <=, 110);
    while (step(rig, false))
        ;
    rig_free(rig);
}

/* Check that a batch in the flight of another is the one that would go next to that destination, of whichever job; it
 * needs no room, and earns as much. */
static void behind(void)
{
    Rig *rig = rig_new((SchedulerSettings)DEFAULTS);
    rig->limits.window.initial = 1;
    Destination *relay = add_destination(rig, "relay");
    Job *first = add_job(rig, 'a', relay, 2);
    rig->now++;
    Job *second = add_job(rig, 'b', relay, 3);
    g_assert_true(step(rig, true)); /* a, and the relay has no room for another */
    g_assert_cmpuint(relay->busy, ==, 1);
    for (int i = 0; i < 3; i++) {
        Batch *batch = scheduler_behind(relay, rig->now);
        g_assert_true(batch->job == (i == 0 ? first : second));
        g_assert_true(scheduler_behind(relay, rig->now) == batch); /* until it is taken */
        scheduler_take_behind(relay, batch, rig->now);
        batch_free(batch);
        g_assert_cmpuint(relay->busy, ==, 1);
    }
    g_assert_cmpuint(first->selected, ==, 2);
    g_assert_cmpuint(second->selected, ==, 2);
    g_assert_cmpuint(second->available, ==, 2);
    g_assert_cmpuint(relay->waiting, ==, 1);
    destination_end(relay);
    g_assert_null(scheduler_behind(relay, rig->now)); /* it has room for what is left */
    g_assert_true(step(rig, true));
    g_assert_cmpstr(rig->order->str, ==, "ab");
    g_assert_null(scheduler_behind(relay, rig->now));
    scheduler_retire(first);
    g_free(first);
    rig_free(rig);
}

SUITE("outgoing/scheduler")
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(schedules); i++) {
        g_autofree char *name = g_strdup_printf("/scheduler/schedule %zu: %s", i + 1, schedules[i].jobs);
        g_test_add_data_func(name, &schedules[i], check_schedule);
    }
    g_test_add_func("/scheduler/slow-down", slow_down);
    g_test_add_func("/scheduler/blocked", blocked);
    g_test_add_func("/scheduler/round robin", round_robin);
    g_test_add_func("/scheduler/candidate comes late", candidate_comes_late);
    g_test_add_func("/scheduler/candidate needs room", candidate_needs_room);
    g_test_add_func("/scheduler/sleeps", sleeps);
    g_test_add_func("/scheduler/goes on", goes_on);
    g_test_add_func("/scheduler/comes back", comes_back);
    g_test_add_func("/scheduler/at random", at_random);
    g_test_add_func("/scheduler/order when preempting", order_when_preempting);
    g_test_add_func("/scheduler/takes one next hop", takes_one_nexthop);
    g_test_add_func("/scheduler/favoured first", favoured_first);
    g_test_add_func("/scheduler/behind", behind);
    g_test_add_func("/scheduler/favoured flood", favoured_flood);
    return g_test_run();
}
