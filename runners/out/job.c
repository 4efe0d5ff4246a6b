/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/out/job.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "runners/keys.h"

/* Octets of a recipient line, for estimates. */
#define LINE_ESTIMATE 24
#define NO_FATE UINT32_MAX

static bool next_to_do(Job *job, Recipient *recipient)
{
    while (entry_next_recipient(job->entry, job->cursor, recipient)) {
        job->cursor = recipient->next;
        if (recipient->state == RECIPIENT_TODO)
            return true;
    }
    job->exhausted = true;
    return false;
}

/* Finds out whether any recipient is left. */
static void look_ahead(Job *job)
{
    size_t held = job->cursor;
    Recipient recipient;
    if (!job->exhausted && next_to_do(job, &recipient))
        job->cursor = held;
}

Job *job_new(Entry *entry, unsigned source, GError **error)
{
    const char *sender = meta_string(entry_meta(entry), KEY_ENVELOPE_SENDER, NULL);
    if (!sender) {
        fail(error, FAIL_NEVER, "the entry has no envelope sender (metadata \"" KEY_ENVELOPE_SENDER "\")");
        return NULL;
    }
    Job *job = g_new0(Job, 1);
    job->entry = entry;
    job->source = source;
    job->sender = sender;
    job->smtputf8 = meta_bool(entry_meta(entry), KEY_SMTPUTF8, false);
    job->claimed = clock_now();
    job->link.data = job;
    job->held.data = job;
    g_autoptr(GBytes) message = entry_message(entry);
    job->body = smtp_body_new(message);
    g_queue_init(&job->again);
    look_ahead(job);
    return job;
}

void job_free(Job *job)
{
    if (!job)
        return;
    Batch *batch;
    while ((batch = g_queue_pop_head(&job->again)) != NULL)
        batch_free(batch);
    smtp_body_unref(job->body);
    entry_free(job->entry);
    g_free(job->last_reply);
    g_free(job);
}

Batch *job_cut(Job *job, size_t limit)
{
    Batch *waiting = g_queue_pop_head(&job->again);
    if (waiting) {
        job->batches++;
        return waiting;
    }
    g_autoptr(GArray) recipients = g_array_new(FALSE, FALSE, sizeof(Recipient));
    Recipient recipient;
    while (recipients->len < limit && next_to_do(job, &recipient))
        g_array_append_val(recipients, recipient);
    look_ahead(job);
    if (recipients->len == 0)
        return NULL;
    Batch *batch = g_new0(Batch, 1);
    batch->job = job;
    batch->count = recipients->len;
    batch->recipients = (Recipient *)g_array_steal(recipients, NULL);
    batch->fate_of = g_new(uint32_t, batch->count);
    memset(batch->fate_of, 0xff, batch->count * sizeof(uint32_t));
    batch->fates = g_array_new(FALSE, FALSE, sizeof(Fate));
    job->batches++;
    return batch;
}

bool job_drained(const Job *job)
{
    return job->exhausted && g_queue_is_empty((GQueue *)&job->again);
}

bool job_over(const Job *job)
{
    return job_drained(job) && job->batches == 0;
}

size_t job_unread(const Job *job)
{
    size_t again = 0;
    for (const GList *link = job->again.head; link; link = link->next)
        again += ((const Batch *)link->data)->count;
    return again + (job->exhausted ? 0 : (entry_recipients_length(job->entry) - job->cursor) / LINE_ESTIMATE + 1);
}

void job_defer_rest(Job *job, const char *reply)
{
    Batch *batch;
    while ((batch = g_queue_pop_head(&job->again)) != NULL) {
        job->deferred += batch->count;
        batch_free(batch);
    }
    Recipient recipient;
    while (!job->exhausted && next_to_do(job, &recipient))
        job->deferred++;
    g_free(job->last_reply);
    job->last_reply = g_strdup(reply);
}

static void forget_fates(Batch *batch)
{
    for (guint i = 0; i < batch->fates->len; i++) {
        Fate *fate = &g_array_index(batch->fates, Fate, i);
        g_free(fate->status);
        g_free(fate->text);
        g_free(fate->reply);
    }
    g_array_set_size(batch->fates, 0);
}

void job_requeue(Job *job, Batch *batch)
{
    forget_fates(batch);
    batch->unstarted = false;
    g_clear_pointer(&batch->relay, g_free);
    g_queue_push_head(&job->again, batch);
}

void batch_free(Batch *batch)
{
    if (!batch)
        return;
    forget_fates(batch);
    g_array_unref(batch->fates);
    g_free(batch->fate_of);
    g_free(batch->recipients);
    g_free(batch->relay);
    g_free(batch);
}

static bool same_fate(const Fate *fate, const SmtpResult *result)
{
    return fate->verdict == result->verdict && strcmp(fate->status, result->status) == 0 &&
           strcmp(fate->text, result->text) == 0;
}

void batch_set_fate(Batch *batch, size_t index, const SmtpResult *result)
{
    guint last = batch->fates->len;
    if (last == 0 || !same_fate(&g_array_index(batch->fates, Fate, last - 1), result)) {
        Fate fate = {.verdict = result->verdict,
                     .status = g_strdup(result->status),
                     .text = g_strdup(result->text),
                     .reply = g_strdup(result->reply),
                     .in_doubt = result->in_doubt};
        g_array_append_val(batch->fates, fate);
        last++;
    }
    g_array_index(batch->fates, Fate, last - 1).count++;
    batch->fate_of[index] = last - 1;
    batch->unstarted |= result->unstarted;
}

const Fate *batch_fate(const Batch *batch, size_t index)
{
    g_assert(batch->fate_of[index] != NO_FATE);
    return &g_array_index(batch->fates, Fate, batch->fate_of[index]);
}
