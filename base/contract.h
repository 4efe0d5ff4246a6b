/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The whole contract between the master and a child, of this tree or not.
 * runners/runner.c and runners/server/listener.c speak it for all runners; a program
 * that uses neither can speak it by hand.
 *
 * Environment of a child (nothing else is inherited but PATH, LANG, LC_*, TZ
 * and names that begin with LISTRUNNER_):
 *
 *   LISTRUNNER_CONFIG      path of the configuration file in force
 *   LISTRUNNER_RUNNER      the NAME of [runner.NAME]
 *   LISTRUNNER_INSTANCE    this instance's index, 0 .. INSTANCES-1
 *   LISTRUNNER_INSTANCES   how many instances share the queue (power of two)
 *   LISTRUNNER_LISTEN_FDS  number of listening sockets from fd 4 on, in the
 *                          order of the runner's `listen` setting
 *   LISTRUNNER_LOCK_FD     number of the descriptor that holds the lock on
 *                          this instance's slice
 *   LISTRUNNER_OUTSIDE     1: the former process of this slice was killed from
 *                          outside (SIGKILL, as for want of memory), or with
 *                          its master, so that no entry is charged with its
 *                          end; 0 or absent: it was not
 *   LISTRUNNER_VERSION     version of the master
 *   LISTRUNNER_SCHEMA      number of the database's newest schema that the
 *                          master was built with. A process of the same
 *                          version and number may bring the database up to
 *                          that schema, since the site was started with it
 *   LISTRUNNER_LOG_FILE    path of the file that standard error goes to;
 *                          absent when the log is not a file of ours
 *
 * Descriptors: 0 is /dev/null, 1 and 2 are the master's standard error,
 * 3 is the status pipe, 4 and up are listening sockets (non-blocking,
 * shared by all instances of the runner), and after them the lock on the
 * slice: leave it open as long as the process lives, and do not hand it on.
 * It keeps a later master from giving the slice to somebody else.
 *
 * Status pipe, child to master, one line a write (so lines never mix):
 *
 *   ready\n
 *       once, after start-up and recovery: work is being taken.
 *   beat progress=P done=D backlog=B oldest=T holding=NAME\n
 *       at least every heartbeat_interval, and when a batch is claimed or
 *       settled. P rises whenever the child is seen to move; D counts
 *       entries (sessions for a listener) finished since its start; B is
 *       the number of ready entries waiting or held; T is the due time of the
 *       oldest, "seconds.microseconds", or 0; NAME is the entry held
 *       longest, or -.
 *   beat ... late=NUMBER\n
 *       NUMBER entries wait that could not be handled several times, for a
 *       reason that may pass; absent when it is 0
 *   beat ... charged=1\n
 *       the child is at work on one entry. If a signal kills the child (a
 *       crash), that entry is charged with it, and set aside after a few such
 *       deaths. So the child may be started again soon.
 *   beat ... tried=N,N,... settled=N,N,...\n
 *       from a runner that delivers: how many recipients since its start had
 *       their first attempt, and were delivered or refused, within each span
 *       of time (base/delays.h)
 *   notice TEXT\n
 *       optional: TEXT is something that a person should know of a child that
 *       works; `listrunner status` shows it. It is sent when it changes, and
 *       with every beat as long as it holds. Without a TEXT ("notice\n"), the
 *       notice is over.
 *   anew TEXT\n
 *       optional, before leaving with CHILD_EXIT_OK unasked: a new process is
 *       wanted in its place, and why. That is no death.
 *   fault TEXT\n
 *       optional, before leaving with anything but CHILD_EXIT_OK: why, for
 *       the log and for `listrunner status`.
 *
 * Signals to a child: SIGTERM: finish the entry in hand (a listener: the
 * transactions in progress), put back the rest, leave with CHILD_EXIT_OK. SIGHUP: reopen
 * what is kept open by name, and LISTRUNNER_LOG_FILE as 1 and 2 (it may have
 * been rotated). SIGKILL may come at any time.
 *
 * A child whose status pipe breaks (the master died) leaves as on SIGTERM.
 */

/* A file in the runtime directory, touched by the runner hooks when there are more events. */
#define CHILD_EVENTS "events"

#define CHILD_STATUS_FD 3
#define CHILD_LISTEN_FD 4

#define CHILD_ENV_CONFIG "LISTRUNNER_CONFIG"
#define CHILD_ENV_RUNNER "LISTRUNNER_RUNNER"
#define CHILD_ENV_INSTANCE "LISTRUNNER_INSTANCE"
#define CHILD_ENV_INSTANCES "LISTRUNNER_INSTANCES"
#define CHILD_ENV_LISTEN_FDS "LISTRUNNER_LISTEN_FDS"
#define CHILD_ENV_LOCK_FD "LISTRUNNER_LOCK_FD"
#define CHILD_ENV_OUTSIDE "LISTRUNNER_OUTSIDE"
#define CHILD_ENV_VERSION "LISTRUNNER_VERSION"
#define CHILD_ENV_SCHEMA "LISTRUNNER_SCHEMA"
#define CHILD_ENV_LOG_FILE "LISTRUNNER_LOG_FILE"

/* A longer line on the status pipe is passed over. */
#define CHILD_LINE_MAX 1024

/* Exit codes (the numbers are those of sysexits.h). The master starts every
 * child again; the code decides how it is reported, and CHILD_EXIT_CONFIG
 * waits for the next reload or the longest delay. */
enum ChildExit {
    CHILD_EXIT_OK = 0,
    CHILD_EXIT_USAGE = 64,     /* called wrongly */
    CHILD_EXIT_SOFTWARE = 70,  /* our bug */
    CHILD_EXIT_LATER = 75,     /* the system's fault, may pass */
    CHILD_EXIT_CONFIG = 78,    /* a person must mend the configuration */
};
