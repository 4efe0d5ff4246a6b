/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A job is one claimed entry while it is delivered; a batch is the part of its
 * recipients that one transaction takes. Recipients are read from the entry when a
 * batch is cut, so of a million of them only those in flight are in memory.
 *
 * A job is over (job_over) when every recipient has been read, no batch is
 * out and none waits to be sent again. Recipients that were deferred still stand as
 * "to do" in the file then, and the job has counted them.
 */
#include <glib.h>
#include <stdbool.h>

#include "net/smtp_client.h"
#include "switchboard/entry.h"

typedef struct Job Job;
typedef struct Transport Transport;

/* Recipients that met the same fate in one batch, for one log line. */
typedef struct Fate {
    SmtpVerdict verdict;
    char *status;
    char *text;
    char *reply;
    size_t count;
    bool in_doubt;
} Fate;

typedef struct Batch {
    Job *job;
    size_t count;
    Recipient *recipients; /* their octets belong to the entry */
    uint32_t *fate_of;     /* index into fates, by recipient */
    GArray *fates;         /* of Fate */
    bool unstarted;        /* nothing was tried: to be sent again at once */
    char *relay;           /* where it went, for the log */
    unsigned conn_use;
    int64_t begun, connect_us, finished; /* monotonic; how long the connection took */
} Batch;

struct Job {
    Entry *entry;
    unsigned source; /* index of the inbox it came from */
    Transport *transport;
    const char *sender; /* of the entry's metadata */
    bool smtputf8;
    SmtpBody *body;
    size_t cursor;     /* offset of the next unread recipient */
    bool exhausted;    /* all are read */
    unsigned batches;  /* cut and not finished */
    GQueue again;      /* of Batch: to be sent once more */
    size_t sent, refused, deferred;
    bool dirty;        /* marks were written since the last sync */
    char *last_reply;  /* of the last deferral */
    int64_t claimed;   /* wall clock */
    GList held;        /* in the list of all jobs, in the order of claiming */
    GList link;        /* in the scheduler */
    bool scheduled;
};

/* Consumes entry. Fails (FAIL_NEVER) when it is nothing that could be delivered; the entry
 * stays the caller's then. */
Job *job_new(Entry *entry, unsigned source, GError **error);
void job_free(Job *job);

/* Cuts a batch of at most limit recipients; NULL when none is left. */
Batch *job_cut(Job *job, size_t limit);

/* No recipient is left to be cut. */
bool job_drained(const Job *job);
bool job_over(const Job *job);

/* Recipients not yet read, estimated from their octets. */
size_t job_unread(const Job *job);

/* Gives up what is not yet sent, for this attempt: it counts as deferred. */
void job_defer_rest(Job *job, const char *reply);

/* Takes back a batch of which nothing was tried. */
void job_requeue(Job *job, Batch *batch);

void batch_free(Batch *batch);
void batch_set_fate(Batch *batch, size_t index, const SmtpResult *result);
const Fate *batch_fate(const Batch *batch, size_t index);
