/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The contract between the master and who commands it: a UNIX stream socket
 * CONTROL_SOCKET in [master] runtime_directory, mode 0660. Each request is
 * one JSON object on one line, each reply another, in order:
 *
 *   {"verb":"status"}
 *   {"verb":"metrics"}
 *   {"verb":"reload"}
 *   {"verb":"rescale","runner":"in","instances":4}   until the next reload
 *   {"verb":"restart"} or {"verb":"restart","runner":"in"}   the children, not the master
 *   {"verb":"stop"}   the connection closes when the master has ended
 *
 * A reply has "ok": true, or false with "error" (several faults: one a
 * line). The reply to status has besides
 *
 *   pid, version, since ("2026-11-20T13:20:00Z"), config, state ("running" or "stopping"),
 *   healthy (bool), fault (why the last reload was refused, or null),
 *   runners: [{runner, queue, state ("running", "changing", "removing", "stopping"),
 *     instances, wanted, children: [{instance, pid (or null), state, healthy, stalled,
 *       restarts, last_exit (or null), retry_in (seconds or null), age (seconds since its
 *       start, or null), progress, done, backlog, oldest ("seconds.microseconds" or null),
 *       holding (or null), beat_age (seconds or null)}]}]
 *
 * and the reply to metrics
 *
 *   metrics (figures of processes and destinations, as text for Prometheus), fault (which runner did not answer
 *     within five seconds, so that its destinations are missing; or null)
 *
 * Who speaks HTTP gets that text, too: GET /metrics, one request a connection; a fault is its last line, a comment.
 *
 * state of a child: "starting", "ready", "stopping", "killed", "waiting to
 * restart", "throttled", "failed config", "waiting for orphan".
 */

#define CONTROL_SOCKET "control.sock"

/* A runner may have a control socket of its own beside it, RUNNER-INSTANCE.sock, for what only it knows; requests
 * and replies have the same form. The runner out has one (runners/out/console.h). */

/* Neither side reads a longer request than this. */
#define CONTROL_REQUEST_MAX 65536
