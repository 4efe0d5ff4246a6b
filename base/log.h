/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write the log: one line an event, to standard error or to syslog (facility mail), as "PROGRAM[INSTANCE]: message id
 * first, then key=value". Grades:
 *
 *   log_debug  for whoever looks for a fault; written only after log_set_verbose(true)
 *   log_info   what happened
 *   log_warn   something is odd, the process goes on
 *   log_error  this message (session, entry) failed
 *   log_fatal  this process cannot go on: it exits with exit_code (base/contract.h)
 *   log_panic  our own bug: the process aborts with a core
 *
 * Text from outside may be passed as an argument: control characters and line ends are replaced by '?' in the finished
 * line. GLib's own messages are written here after log_open(). Thread-safe after log_open().
 */
#include <glib.h>
#include <stdbool.h>

typedef enum LogTarget { LOG_TARGET_STDERR, LOG_TARGET_SYSLOG } LogTarget;

/* Set the program's name ("in[3]", copied) and where lines go. Call it first thing in main(). Lines that come before
 * that go to standard error under the name "listrunner". */
void log_open(const char *program, LogTarget target);

/* Set a function that log_fatal() and log_panic() call with their text before they end the process. NULL removes it. */
void log_on_end(void (*tell)(const char *text));

/* Append standard output and standard error to the file at path from now on. The file is made with mode 0640 when it is
 * missing. Processes that are started later write there as well. On failure (FAIL_LATER) the log stays where it was. */
bool log_to_file(const char *path, GError **error);
/* Open the path given to log_to_file() again, because the file that is open may have been renamed. Do nothing when
 * log_to_file() was not called. When the path cannot be opened, the log goes on in the old file and says so. */
void log_reopen(void);

/* With true, write the lines of log_debug(); with false, as is the default, drop them. */
void log_set_verbose(bool verbose);

/* With true, begin to gather the lines that go to standard error; with false, write the rest and stop. Gathered lines
 * all bear the time of the call with true, and are written several at a time. It makes many lines in a row cheaper.
 * Only one thread may log meanwhile. */
void log_gather(bool begin);
/* Log a finished text as log_info() does, without formatting it. Control characters are replaced in text itself. The
 * line is not noted in the trail (base/trail/trail.h), as the lines of all other functions are. */
void log_info_text(char *text);

/* Log one line; the grades are explained above. log_fatal() and log_panic() do not return. */
void log_debug(const char *format, ...) G_GNUC_PRINTF(1, 2);
void log_info(const char *format, ...) G_GNUC_PRINTF(1, 2);
void log_warn(const char *format, ...) G_GNUC_PRINTF(1, 2);
void log_error(const char *format, ...) G_GNUC_PRINTF(1, 2);
G_NORETURN void log_fatal(int exit_code, const char *format, ...) G_GNUC_PRINTF(2, 3);
G_NORETURN void log_panic(const char *format, ...) G_GNUC_PRINTF(1, 2);
