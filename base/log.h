/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The log. One line an event, to standard error or to syslog (facility mail),
 * as "PROGRAM[INSTANCE]: message id first, then key=value". Grades:
 *
 *   log_info   what happened
 *   log_warn   something is odd, the process goes on
 *   log_error  this message (session, entry) failed
 *   log_fatal  this process cannot go on: exits with the contract's code
 *   log_panic  our own bug: aborts with a core
 *
 * Text from outside may be passed as an argument: control characters and
 * line ends are replaced by '?' in the finished line. GLib's own messages
 * are routed here. Thread-safe after log_open().
 */
#include <glib.h>
#include <stdbool.h>

typedef enum LogTarget { LOG_TARGET_STDERR, LOG_TARGET_SYSLOG } LogTarget;

/* Names the program ("in[3]"); called once, first thing in main. Both
 * strings are copied. Before it, lines go to standard error unnamed. */
void log_open(const char *program, LogTarget target);

/* Have tell called with the text that log_fatal() or log_panic() ends the process with; NULL ends that. */
void log_on_end(void (*tell)(const char *text));

/* Append standard output and standard error to the file at path from now on; it is made with mode 0640 when it is
 * missing. Processes that are started later write there as well. On failure (FAIL_LATER) all stays as it was. */
bool log_to_file(const char *path, GError **error);
/* Open the file of log_to_file() anew: the one that is open may have been renamed. Without such a file nothing happens.
 * When it cannot be opened, the log goes on in the old file and says so. */
void log_reopen(void);

/* Debug lines (log_debug) are dropped unless asked for. */
void log_set_verbose(bool verbose);

/* Between true and false, lines to standard error are gathered, get the time of the first and are written several at
 * a time: for many lines in a row, by one thread. */
void log_gather(bool begin);
/* log_info() of a text that is made already; it is changed where it must be. It is not in the trail
 * (base/trail.h), where all others are. */
void log_info_text(char *text);

void log_debug(const char *format, ...) G_GNUC_PRINTF(1, 2);
void log_info(const char *format, ...) G_GNUC_PRINTF(1, 2);
void log_warn(const char *format, ...) G_GNUC_PRINTF(1, 2);
void log_error(const char *format, ...) G_GNUC_PRINTF(1, 2);
G_NORETURN void log_fatal(int exit_code, const char *format, ...) G_GNUC_PRINTF(2, 3);
G_NORETURN void log_panic(const char *format, ...) G_GNUC_PRINTF(1, 2);
