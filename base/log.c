/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "base/trail/trail.h"

#define STAMP_SIZE 40

static char *log_program;
static LogTarget log_target = LOG_TARGET_STDERR;
static bool log_verbose;
static void (*log_tell)(const char *text);
static char *log_path; /* of standard error; NULL: the file is somebody else's matter */
static bool gathering;
static char gathered[PIPE_BUF]; /* what a pipe takes whole */
static size_t gathered_length;
static char gathered_stamp[STAMP_SIZE];

/* A line must stay a line whatever a peer sent us. */
static void neutralise(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at; at++) {
        bool upper_control = *at == 0xC2 && at[1] >= 0x80 && at[1] <= 0x9F; /* U+0080 to U+009F in UTF-8 */
        if (upper_control)
            at[1] = '?';
        if (upper_control || *at < ' ' || *at == 127)
            *at = '?';
    }
}

static void write_whole(const char *text, size_t left)
{
    while (left > 0) {
        ssize_t written = write(STDERR_FILENO, text, left);
        if (written <= 0)
            return; /* nowhere left to complain */
        text += written;
        left -= (size_t)written;
    }
}

static void flush_gathered(void)
{
    write_whole(gathered, gathered_length);
    gathered_length = 0;
}

static void make_stamp(char stamp[STAMP_SIZE])
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct tm parts;
    gmtime_r(&now.tv_sec, &parts);
    size_t length = strftime(stamp, STAMP_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
    g_snprintf(stamp + length, STAMP_SIZE - length, ".%03ldZ ", now.tv_nsec / 1000000);
}

/* One write for one or more whole lines, so that lines of several processes never mix. */
static void write_stderr(const char *grade, const char *text)
{
    char now[STAMP_SIZE];
    if (!gathering)
        make_stamp(now);
    const char *parts[] = {gathering ? gathered_stamp : now, log_program ? log_program : "listrunner", ": ", grade,
                           text, "\n", NULL};
    size_t size = 0;
    for (const char *const *part = parts; *part; part++)
        size += strlen(*part);
    bool kept = gathering && size <= sizeof gathered;
    if (!kept || gathered_length + size > sizeof gathered)
        flush_gathered();
    if (!kept) {
        g_autofree char *line = g_strjoinv("", (char **)parts);
        write_whole(line, size);
        return;
    }
    for (const char *const *part = parts; *part; part++) {
        size_t length = strlen(*part);
        memcpy(gathered + gathered_length, *part, length);
        gathered_length += length;
    }
}

void log_gather(bool begin)
{
    gathering = begin;
    if (begin)
        make_stamp(gathered_stamp);
    else
        flush_gathered();
}

static void emit(int priority, const char *grade, const char *format, va_list arguments)
{
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    neutralise(text);
    trail_note(text);
    if (priority == LOG_CRIT && log_tell)
        log_tell(text);
    if (log_target == LOG_TARGET_SYSLOG)
        syslog(priority, "%s%s", grade, text);
    else
        write_stderr(grade, text);
}

static GLogWriterOutput glib_writer(GLogLevelFlags level, const GLogField *fields, gsize n, gpointer data)
{
    (void)data;
    for (gsize i = 0; i < n; i++)
        if (g_str_equal(fields[i].key, "MESSAGE")) {
            if (level & (G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL))
                log_error("%s", (const char *)fields[i].value);
            else if (level & G_LOG_LEVEL_WARNING)
                log_warn("%s", (const char *)fields[i].value);
            else
                log_debug("%s", (const char *)fields[i].value);
        }
    return G_LOG_WRITER_HANDLED;
}

void log_open(const char *program, LogTarget target)
{
    g_free(log_program);
    log_program = g_strdup(program);
    log_target = target;
    if (target == LOG_TARGET_SYSLOG)
        openlog(log_program, LOG_PID, LOG_MAIL);
    static bool routed;
    if (!routed) /* GLib allows it once */
        g_log_set_writer_func(glib_writer, NULL, NULL);
    routed = true;
}

void log_on_end(void (*tell)(const char *text))
{
    log_tell = tell;
}

static bool open_log(const char *path, GError **error)
{
    auto_fd file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
    return (file >= 0 && dup2(file, STDERR_FILENO) >= 0 && dup2(file, STDOUT_FILENO) >= 0) ||
           fail_errno(error, FAIL_LATER, "open the log %s", path);
}

bool log_to_file(const char *path, GError **error)
{
    if (!open_log(path, error))
        return false;
    g_free(log_path);
    log_path = g_strdup(path);
    return true;
}

void log_reopen(void)
{
    g_autoptr(GError) error = NULL;
    if (log_path && !open_log(log_path, &error))
        log_warn("%s; the log goes on where it was", error->message);
}

void log_set_verbose(bool verbose)
{
    log_verbose = verbose;
}

#define EMIT(priority, grade)                        \
    do {                                             \
        va_list arguments;                           \
        va_start(arguments, format);                 \
        emit(priority, grade, format, arguments);    \
        va_end(arguments);                           \
    } while (0)

void log_debug(const char *format, ...)
{
    if (log_verbose)
        EMIT(LOG_DEBUG, "debug: ");
}

void log_info(const char *format, ...)
{
    EMIT(LOG_INFO, "");
}

void log_info_text(char *text)
{
    neutralise(text);
    if (log_target == LOG_TARGET_SYSLOG)
        syslog(LOG_INFO, "%s", text);
    else
        write_stderr("", text);
}

void log_warn(const char *format, ...)
{
    EMIT(LOG_WARNING, "warning: ");
}

void log_error(const char *format, ...)
{
    EMIT(LOG_ERR, "error: ");
}

void log_fatal(int exit_code, const char *format, ...)
{
    EMIT(LOG_CRIT, "fatal: ");
    exit(exit_code);
}

void log_panic(const char *format, ...)
{
    EMIT(LOG_CRIT, "panic: ");
    abort();
}
