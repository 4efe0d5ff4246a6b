/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Carry out the questions and orders that the operator gives by REST and by the pages: to the processes through their
 * control sockets (base/control.h), and about the entries set aside in the queue shunt.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "switchboard/spool.h"

/* Ask the master with a verb, and return its reply, a new reference. NULL, with FAIL_LATER: the master does not
 * answer, or does not run. */
json_t *orders_master(const Config *config, const char *verb, GError **error);

/* Ask the master for "status", for somebody who looks on: the counts of what waits for a person may be a while old, so
 * that the question costs little however much waits (master/survey.h). */
json_t *orders_look(const Config *config, GError **error);

/* Return the work of the runners in the last "hour", "day" or "month" (master/history.h), a new reference. */
json_t *orders_history(const Config *config, const char *range, GError **error);

/* Send the request (taken) to all instances of out, and return their destinations, a new reference, each with
 * "instance" (runners/outgoing/control_server.h). */
json_t *orders_out(const Config *config, json_t *request, GError **error);

/* Return tables of how old the mail in the queues is (lists/site/queue_shape.h): "out", the recipients by domain, and
 * "others", the entries of all other queues by queue and list, each with the largest ORDERS_SHAPE_ROWS rows. Borrowed
 * until the next call. Of each table at most ORDERS_SHAPE_READ entries are read. The tables are made in a call, and
 * kept for ORDERS_SHAPE_REST times the processor time that this took; calls within that time get the same tables.
 * NULL: a queue cannot be read. */
#define ORDERS_SHAPE_ROWS 20
#define ORDERS_SHAPE_READ 1000
#define ORDERS_SHAPE_REST 800
const json_t *orders_queues(Spool *spool, GError **error);

/* ---- shunt ---- */

/* An entry that was set aside in the queue shunt, and why. */
typedef struct Shunted {
    char *entry; /* its name without suffix */
    char *reason;
    char *from; /* the queue that it came from */
    char *list_id, *trace;
    int64_t set_aside, times, size; /* when (us); how often so far; bytes of its message */
    bool damaged; /* the entry cannot be read: only `entry` and `reason` are set */
} Shunted;

void shunted_free(Shunted *shunted);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Shunted, shunted_free)

/* Return the names of the files in shunt that wait for somebody, in order; NULL: error is set. *queue is that queue,
 * borrowed from the spool. */
GPtrArray *orders_shunt(Spool *spool, Queue **queue, GError **error);
/* Read one of these files; never NULL. */
Shunted *orders_shunted(Queue *queue, const char *file);

typedef enum ShuntOrder { SHUNT_RETRY, SHUNT_DELETE } ShuntOrder;
/* Put entries of shunt back into the queues that they came from, or delete them: the entries that are named, or all
 * (entries NULL). *done: how many were moved or deleted. *left: how many others were meant and could not be. A fault
 * between two steps ends the process, as the switchboard wants it. False: the queue could not be read or opened. */
bool orders_shunt_do(Spool *spool, ShuntOrder order, char *const *entries, int64_t *done, int64_t *left,
                     GError **error);
