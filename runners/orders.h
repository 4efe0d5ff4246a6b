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

/* The master's reply to a verb, a new reference. FAIL_LATER: it does not answer, or nobody listens. */
json_t *orders_master(const Config *config, const char *verb, GError **error);

/* The same for "status", of whoever looks on: how much waits for a person may have been counted a while ago, so that it
 * costs little however much waits (master/survey.h). */
json_t *orders_look(const Config *config, GError **error);

/* Return the work of the runners in the last "hour", "day" or "month" (master/history.h), a new reference. */
json_t *orders_history(const Config *config, const char *range, GError **error);

/* Send the request (taken) to all instances of out, and return their destinations, a new reference, each with
 * "instance" (runners/outgoing/control_server.h). */
json_t *orders_out(const Config *config, json_t *request, GError **error);

/* How old what waits in queues is (lists/queue_shape.h), for those who look on: "out", the recipients by domain, and
 * "others", the entries of all other queues by queue and list, each with the largest ORDERS_SHAPE_ROWS rows. Borrowed
 * until the next question. Of more than ORDERS_SHAPE_READ entries so many are read. The picture is made in the question
 * and kept for ORDERS_SHAPE_REST times the processor time that it took: so whoever asks, and however much waits, it
 * takes no more than that part of a processor, and nothing while nobody asks. */
#define ORDERS_SHAPE_ROWS 20
#define ORDERS_SHAPE_READ 1000
#define ORDERS_SHAPE_REST 800
const json_t *orders_queues(Spool *spool, GError **error);

/* ---- shunt ---- */

/* An entry that was set aside. */
typedef struct Shunted {
    char *entry; /* its name without suffix */
    char *reason;
    char *from; /* the queue */
    char *list_id, *trace;
    int64_t set_aside, times, size;
    bool damaged; /* nothing else is known of it but its name */
} Shunted;

void shunted_free(Shunted *shunted);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Shunted, shunted_free)

/* The names of its files that wait for somebody, in order; NULL: error is set. *queue is the spool's. */
GPtrArray *orders_shunt(Spool *spool, Queue **queue, GError **error);
Shunted *orders_shunted(Queue *queue, const char *file);

/* Put entries of shunt back where they came from, or delete them: those that are named, or all. *done: how many that
 * was; *left: how many of them were not there any more, or could not be moved. A fault between two steps ends the
 * process, as the switchboard wants it. */
typedef enum ShuntOrder { SHUNT_RETRY, SHUNT_DELETE } ShuntOrder;
bool orders_shunt_do(Spool *spool, ShuntOrder order, char *const *entries, int64_t *done, int64_t *left,
                     GError **error);
