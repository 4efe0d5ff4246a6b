/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The child's side of base/contract.h: what a runner or listener says to the
 * master, and how it learns that it must leave. One per process.
 *
 * Started by hand, without a master, the same program works: the instance is
 * 0 of 1, and ready and beats go nowhere.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct Delays;

typedef struct Child {
    char *runner;       /* the NAME of [runner.NAME] */
    char *config;       /* path of the configuration */
    unsigned instance;  /* 0 .. instances - 1 */
    unsigned instances;
    unsigned listen_fds; /* listening sockets from CHILD_LISTEN_FD on */
    int wake_fd;        /* readable when SIGTERM or SIGHUP came; poll it */
    int status_fd;      /* poll it for no events: POLLERR says that the master died; -1 without one */
} Child;

/* Read the environment, raise the limit of open files, install the signal handlers (SIGTERM, SIGINT, SIGHUP; SIGPIPE
 * and SIGXFSZ are ignored). fallback is the runner's name when the environment has none. Fails (FAIL_CONFIG) on values
 * that make no sense. The result is owned by the module. */
const Child *child_init(const char *fallback, GError **error);

void child_ready(void);
/* holding may be NULL. A beat never blocks: one that does not fit is dropped. */
void child_beat(uint64_t progress, uint64_t done, uint64_t backlog, int64_t oldest, const char *holding);
/* Name the subject of a notice: there is one notice at a time for each subject. */
typedef enum ChildNotice { CHILD_NOTICE_WORK, CHILD_NOTICE_DATABASE, CHILD_NOTICE_SPACE, CHILD_NOTICES } ChildNotice;

/* Tell the master what a person should know though this process works, until something else is told about the same;
 * NULL: nothing any more. It is copied, shown by `listrunner status`, and told again with each beat. */
void child_notice(ChildNotice about, const char *text);
/* How many entries wait because they could not be handled several times, for a reason that may pass: said with each
 * beat from now on. */
void child_set_late(uint64_t entries);
/* How long mail took (base/delays.h, borrowed), said with each beat from now on. */
void child_set_delays(const struct Delays *delays);
/* Whether the beats from now on say that the entry held is charged with a crash. At first they do not. */
void child_set_charged(bool charged);

/* Return true when the master said that the former process of this slice was ended from outside (contract.h). */
bool child_replaces_killed(void);

/* Return the exit code of a process that cannot go on for this reason: CHILD_EXIT_CONFIG or CHILD_EXIT_LATER. */
int child_exit_code(const GError *error);

/* Tell the log and the master why this process cannot begin its work, and return the exit code for it. The texts of
 * log_fatal() and log_panic() come to the master without this. */
int child_cannot_start(const GError *error);

/* True once SIGTERM or SIGINT came, the status pipe broke, or child_stop() was called. */
bool child_stopping(void);
/* For who saw POLLERR on status_fd. */
void child_stop(void);
/* True once per SIGHUP; the log's file is opened anew then. Drains wake_fd as child_stopping() does not. */
bool child_reopen(void);
