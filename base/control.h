/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The contract between the master and who commands it: a UNIX stream socket
 * CONTROL_SOCKET in [master] runtime_directory, mode 0660. The group may ask
 * for status, metrics and history; the other verbs are for root and the user that the
 * master runs as (control_may_command()). Beside it is CONTROL_MONITOR_SOCKET, with the mode of [master]
 * monitor_socket_mode, which answers status, metrics and history and forbids the rest to everybody. Each request is
 * one JSON object on one line, each reply another, in order:
 *
 *   {"verb":"status"}, or with "old":true   counts of what waits may be as old as 800 times what counting them took
 *   {"verb":"metrics"}
 *   {"verb":"history","range":"hour"}   or day, or month
 *   {"verb":"reload"}
 *   {"verb":"rescale","runner":"in","instances":4}   until the next reload
 *   {"verb":"restart"} or {"verb":"restart","runner":"in"}   the children, not the master
 *   {"verb":"stop"}   the connection closes when the master has ended
 *   {"verb":"pause"}   all children stand still when the reply comes; they go on when the connection closes, and after
 *                      20 s at the latest (master/supervisor.h)
 *   {"verb":"resume"}  all go on; it fails when they did so earlier
 *
 * A reply has "ok": true, or false with "error" (several faults: one a
 * line) and, when the asker may not do that, "forbidden": true. The reply to status has besides
 *
 *   pid, version, since ("2026-11-20T13:20:00Z"), config, state ("running" or "stopping"),
 *   healthy (bool: every process is well), fault (why the last reload was refused, or null),
 *   runners: [{runner, queue, state ("running", "changing", "removing", "stopping"),
 *     instances, wanted, least, most (of instances; more than least: the number goes by load), scaled (why it was
 *     changed last by load, and how long ago: {why, age}, or null),
 *     children: [{instance, pid (or null), state, healthy, stalled, stalled_for (seconds or null), down_for (seconds
 *       since it was ready, or null), restarts, renewals (starts because a file was replaced: no restarts),
 *       last_exit (or null), retry_in (seconds or null), age (seconds since its start, or null), progress, done,
 *       recipients (delivered or refused), backlog, oldest ("seconds.microseconds" or null), holding (or null),
 *       notice (what a person should know of it though it works, or null), beat_age (seconds or null)}]}],
 *   waiting (what waits in queues for a person): [{kind ("shunt", "hold", "corrupt", "preserved",
 *     "unworked": no runner works that queue), queue, count, since (of the oldest, or null), age (seconds)}],
 *   pending (queues that nobody has counted yet, so the list may not be whole),
 *   troubles (destinations that are dead or suspended, or throttled while mail waits for them):
 *     [{name, transport, instance, state, ...}] as the runner out describes them,
 *   troubles_fault (which runner did not answer within a second, or null)
 *
 * and the reply to metrics
 *
 *   metrics (figures of processes and destinations, as text for Prometheus), fault (which runner did not answer
 *     within five seconds, so that its destinations are missing; or null)
 *
 * and the reply to history
 *
 *   period (seconds), until, runners: {NAME: {done: [...], backlog: [...], oldest: [...]}},
 *   delays: how long mail took (master/history.h)
 *
 * A client that speaks HTTP gets the text of the metrics, too: GET /metrics, one request a connection. A fault is then
 * its last line, a comment.
 *
 * state of a child: "starting", "ready", "stopping", "killed", "waiting to
 * restart", "throttled", "failed config", "waiting for orphan".
 */

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#define CONTROL_SOCKET "control.sock"
#define CONTROL_MONITOR_SOCKET "monitor.sock"

/* Return true when the process at the other end of the socket fd may change anything: only processes of root and of our
 * own user may. Else the error is FAIL_NEVER with a text for the reply, or FAIL_LATER when the system does not tell. */
bool control_may_command(int fd, GError **error);

/* A runner may have a control socket of its own in the same directory, RUNNER-INSTANCE.sock, with requests and replies
 * of the same form. The runner out has one (runners/outgoing/control_server.h). */

/* The most bytes of a request that are read. */
#define CONTROL_REQUEST_MAX 65536

/* The functions below are for the side that asks. They block. */

/* Connect to the socket `name` in directory, which is [master] runtime_directory, and return a descriptor that the
 * caller closes. From then on each wait on it ends after this many seconds. It returns -1 on an error. FAIL_MISSING:
 * nobody listens there. FAIL_LATER: we may not, or the other side hangs. FAIL_CONFIG: the path is too long. */
int control_connect(const char *directory, const char *name, int seconds, GError **error);

/* Send a request, which is consumed, and return the reply, a new reference. FAIL_NEVER: the reply is not "ok"; the
 * message is its "error". FAIL_LATER: there was no sensible reply in time, or the reply says "forbidden". */
json_t *control_exchange(int fd, json_t *request, GError **error);
