/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/out/scheduler.h"

#include <string.h>
#include <unistd.h>

#include "runners/keys.h"
#include "switchboard/intake.h"
#include "t/runners/out/site.h"

/* Two transports, told apart by address alone. */
static char relay_place, other_place;
static Transport *const relay = (Transport *)&relay_place;
static Transport *const other = (Transport *)&other_place;

/* A job of count recipients for transport. */
static Job *new_job(Site *site, size_t count, Transport *transport)
{
    g_autoptr(GError) error = NULL;
    Queue *queue = spool_queue(site->spool, "out", &error);
    g_assert_no_error(error);
    g_autofree char *path = g_build_filename(spool_path(site->spool), "out", NULL);
    site_post(site, &(SitePost){.count = count});
    g_autoptr(GDir) directory = g_dir_open(path, 0, &error);
    g_assert_no_error(error);
    g_autofree char *file = g_strdup(g_dir_read_name(directory));
    Entry *entry = entry_open(queue, file, &error);
    g_assert_no_error(error);
    g_autofree char *full = g_build_filename(path, file, NULL);
    g_assert_cmpint(unlink(full), ==, 0); /* the next job finds its own */
    Job *job = job_new(entry, 0, &error);
    g_assert_no_error(error);
    job->transport = transport;
    return job;
}

static void give_back(Scheduler *scheduler, Batch *batch)
{
    batch->job->batches--;
    scheduler_returned(scheduler, batch);
    batch_free(batch);
}

/* A large job and a small one are served in turn, and each recipient once. */
static void in_turn(void)
{
    g_autoptr(Site) site = site_new(NULL);
    Scheduler scheduler;
    scheduler_init(&scheduler, 1000);
    Job *large = new_job(site, 25, relay);
    Job *small = new_job(site, 10, relay);
    scheduler_add(&scheduler, large);
    scheduler_add(&scheduler, small);
    g_assert_cmpuint(scheduler_waiting(&scheduler, relay, 10, 100), >=, 4);
    g_assert_cmpuint(scheduler_waiting(&scheduler, relay, 10, 2), ==, 2);
    g_assert_cmpuint(scheduler_waiting(&scheduler, other, 10, 100), ==, 0);
    g_assert_null(scheduler_next(&scheduler, other, 10));
    Job *const order[] = {large, small, large, large};
    static const size_t counts[] = {10, 10, 10, 5};
    size_t next_of_large = 0;
    Batch *batches[4];
    for (int i = 0; i < 4; i++) {
        batches[i] = scheduler_next(&scheduler, relay, 10);
        g_assert_nonnull(batches[i]);
        g_assert_true(batches[i]->job == order[i]);
        g_assert_cmpuint(batches[i]->count, ==, counts[i]);
        if (batches[i]->job == large) {
            g_autofree char *wanted = g_strdup_printf("r%06zu@example.com", next_of_large);
            const Recipient *first = &batches[i]->recipients[0];
            g_assert_cmpmem(first->address, first->length, wanted, strlen(wanted));
            next_of_large += counts[i];
        }
    }
    g_assert_null(scheduler_next(&scheduler, relay, 10));
    g_assert_false(job_over(large));
    for (int i = 0; i < 4; i++)
        give_back(&scheduler, batches[i]);
    g_assert_true(job_over(large));
    g_assert_true(job_over(small));
    g_assert_cmpuint(scheduler.in_flight, ==, 0);
    job_free(large);
    job_free(small);
}

static void recipient_limit(void)
{
    g_autoptr(Site) site = site_new(NULL);
    Scheduler scheduler;
    scheduler_init(&scheduler, 20);
    Job *job = new_job(site, 100, relay);
    scheduler_add(&scheduler, job);
    Batch *first = scheduler_next(&scheduler, relay, 10);
    Batch *second = scheduler_next(&scheduler, relay, 10);
    g_assert_nonnull(second);
    g_assert_null(scheduler_next(&scheduler, relay, 10));
    give_back(&scheduler, first);
    Batch *third = scheduler_next(&scheduler, relay, 10);
    g_assert_nonnull(third);
    give_back(&scheduler, second);
    give_back(&scheduler, third);
    /* A transaction larger than the limit is sent alone rather than never. */
    Batch *large = scheduler_next(&scheduler, relay, 50);
    g_assert_cmpuint(large->count, ==, 50);
    give_back(&scheduler, large);
    scheduler_remove(&scheduler, job);
    job_free(job);
}

/* What a closed connection never took goes out again, before anything else of its job. */
static void requeued(void)
{
    g_autoptr(Site) site = site_new(NULL);
    Scheduler scheduler;
    scheduler_init(&scheduler, 1000);
    Job *job = new_job(site, 10, relay);
    scheduler_add(&scheduler, job);
    Batch *batch = scheduler_next(&scheduler, relay, 10);
    g_assert_null(scheduler_next(&scheduler, relay, 10));
    for (size_t i = 0; i < batch->count; i++)
        batch_set_fate(batch, i, &(SmtpResult){.verdict = SMTP_LATER, .status = "4.4.2", .text = "lost",
                                               .reply = "lost", .unstarted = true});
    g_assert_true(batch->unstarted);
    job->batches--;
    job_requeue(job, batch);
    scheduler_returned(&scheduler, batch);
    g_assert_false(job_over(job));
    Batch *again = scheduler_next(&scheduler, relay, 10);
    g_assert_true(again == batch);
    g_assert_cmpuint(again->fates->len, ==, 0);
    give_back(&scheduler, again);
    g_assert_true(job_over(job));
    job_free(job);
}

static void deferred(void)
{
    g_autoptr(Site) site = site_new(NULL);
    Job *job = new_job(site, 30, relay);
    Batch *batch = job_cut(job, 10);
    job_defer_rest(job, "no connection");
    g_assert_cmpuint(job->deferred, ==, 20);
    g_assert_true(job_drained(job));
    g_assert_false(job_over(job));
    job->batches--;
    batch_free(batch);
    g_assert_true(job_over(job));
    job_free(job);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/scheduler/in turn", in_turn);
    g_test_add_func("/scheduler/recipient limit", recipient_limit);
    g_test_add_func("/scheduler/requeued", requeued);
    g_test_add_func("/scheduler/deferred", deferred);
    return g_test_run();
}
