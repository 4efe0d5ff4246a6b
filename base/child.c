/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/confine.h"
#include "base/contract.h"
#include "base/delays.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/trail/trail.h"

#define OPEN_FILES_WANTED (1 << 17)
#define CONFINEMENT_INTERVAL CLOCK_SECOND

static Child child;
static bool has_master, is_charged, replaces_killed;
static uint64_t late;
static const Delays *delays;         /* NULL: nothing is told */
static GMutex notice_lock;
static char *notices[CHILD_NOTICES]; /* NULL: none */
static bool notice_is_told = true; /* the master knows it, or that there is none */
static volatile sig_atomic_t stop_seen, reopen_seen;
static int wake_pipe[2] = {-1, -1};

static void on_signal(int number)
{
    int saved = errno;
    if (number == SIGHUP)
        reopen_seen = 1;
    else
        stop_seen = 1;
    ssize_t ignored = write(wake_pipe[1], "", 1); /* full: somebody is awake already */
    (void)ignored;
    errno = saved;
}

static bool install_signals(GError **error)
{
    if (wake_pipe[0] < 0 && pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return fail_errno(error, FAIL_LATER, "make a pipe");
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* the write fails instead */
    child.wake_fd = wake_pipe[0];
    return true;
}

static bool read_number(const char *name, unsigned fallback, unsigned max, unsigned *value, GError **error)
{
    const char *text = g_getenv(name);
    char *end = NULL;
    unsigned long number = text ? strtoul(text, &end, 10) : fallback;
    if ((text && (*text == '\0' || *end != '\0')) || number > max)
        return fail(error, FAIL_CONFIG, "%s is \"%s\"; a number up to %u was expected", name, text, max);
    *value = (unsigned)number;
    return true;
}

/* False when the line did not go out whole: there is no master, or no room in the pipe now. */
static bool say(const char *line, size_t length)
{
    if (!has_master)
        return false;
    ssize_t written;
    do
        written = write(CHILD_STATUS_FD, line, length);
    while (written < 0 && errno == EINTR);
    if (written < 0 && errno == EPIPE) /* the master died */
        stop_seen = 1;
    return written == (ssize_t)length;
}

/* One line, however many the text has, and not longer than the master reads. */
static bool tell(const char *word, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_autofree char *whole = g_strdup_printf("%s %s", word, g_strdelimit(valid, "\r\n", ' '));
    size_t length = MIN(strlen(whole), CHILD_LINE_MAX - 1);
    if (whole[length])
        length = (size_t)(g_utf8_find_prev_char(whole, whole + length) - whole);
    whole[length] = '\n';
    return say(whole, length + 1);
}

static void tell_fault(const char *text)
{
    tell("fault", text);
}

static void tell_notice(void)
{
    g_autoptr(GString) all = g_string_new(NULL);
    for (int i = 0; i < CHILD_NOTICES; i++)
        if (notices[i])
            g_string_append_printf(all, "%s%s", all->len > 0 ? "; " : "", notices[i]);
    notice_is_told = all->len > 0 ? tell("notice", all->str) : say("notice\n", strlen("notice\n"));
}

const Child *child_init(const char *fallback, GError **error)
{
    const char *runner = g_getenv(CHILD_ENV_RUNNER), *log_file = g_getenv(CHILD_ENV_LOG_FILE);
    struct rlimit limit; /* a descriptor a session, an entry, a file of a batch: as many as we may */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < MIN(limit.rlim_max, OPEN_FILES_WANTED)) {
        limit.rlim_cur = MIN(limit.rlim_max, OPEN_FILES_WANTED);
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    unsigned lock_fd, outside;
    g_free(child.runner);
    g_free(child.config);
    child.runner = g_strdup(runner && *runner ? runner : fallback);
    child.config = g_strdup(g_getenv(CHILD_ENV_CONFIG));
    if (!read_number(CHILD_ENV_INSTANCE, 0, 255, &child.instance, error) ||
        !read_number(CHILD_ENV_INSTANCES, 1, 256, &child.instances, error) ||
        !read_number(CHILD_ENV_LISTEN_FDS, 0, 1000, &child.listen_fds, error) ||
        !read_number(CHILD_ENV_LOCK_FD, 0, 2000, &lock_fd, error) ||
        !read_number(CHILD_ENV_OUTSIDE, 0, 1, &outside, error) || !install_signals(error))
        return NULL;
    if (child.instances == 0 || (child.instances & (child.instances - 1)) != 0 || child.instance >= child.instances) {
        fail(error, FAIL_CONFIG, "instance %u of %u makes no sense; the count is a power of two", child.instance,
             child.instances);
        return NULL;
    }
    replaces_killed = outside == 1;
    child.status_fd = -1;
    if (lock_fd > CHILD_STATUS_FD)
        fcntl((int)lock_fd, F_SETFD, FD_CLOEXEC);
    has_master = runner != NULL && fcntl(CHILD_STATUS_FD, F_GETFD) >= 0;
    if (has_master) {
        child.status_fd = CHILD_STATUS_FD;
        fcntl(CHILD_STATUS_FD, F_SETFD, FD_CLOEXEC);
        fcntl(CHILD_STATUS_FD, F_SETFL, fcntl(CHILD_STATUS_FD, F_GETFL) | O_NONBLOCK);
    }
    log_on_end(tell_fault);
    /* The file that the master opened; a runner that is to write somewhere else opens that itself. */
    g_autoptr(GError) closed = NULL;
    if (log_file && has_master && !log_to_file(log_file, &closed))
        log_warn("%s; the log goes on where it was", closed->message);
    return &child;
}

void child_ready(void)
{
    say("ready\n", strlen("ready\n"));
}

/* Lines for the trail wait in memory until somebody looks at the clock. */
static void beat_trail(void)
{
    static char *told; /* NULL: all is well */
    int64_t since;
    uint64_t lost;
    g_autofree char *fault = trail_beat(&since, &lost), *time = clock_text(since), *text = NULL;
    if (fault)
        text = g_strdup_printf("the trail cannot be written since %s (%s): what becomes of mail is in the log alone, "
                               "and trace and restore do not know it",
                               time, fault);
    if (g_strcmp0(text, told) == 0)
        return;
    if (text)
        log_warn("%s", text);
    else
        log_info("the trail is written again; it lacks %" PRIu64 " lines since this process was started", lost);
    child_notice(CHILD_NOTICE_TRAIL, text);
    g_free(told);
    told = g_steal_pointer(&text);
}

/* A file that we were allowed to use was replaced: a new process may use the new one. */
static void beat_confinement(void)
{
    static int64_t look_at;
    int64_t now = clock_monotonic();
    if (stop_seen || now < look_at)
        return;
    look_at = now + CONFINEMENT_INTERVAL;
    const char *changed = confine_changed();
    if (!changed)
        return;
    g_autofree char *why = g_strdup_printf("%s is another file now, which this process may not use", changed);
    log_info("%s: it is started anew", why);
    tell("anew", why);
    child_stop();
    ssize_t ignored = write(wake_pipe[1], "", 1);
    (void)ignored;
}

void child_beat(uint64_t progress, uint64_t done, uint64_t backlog, int64_t oldest, const char *holding)
{
    g_autoptr(GString) line = g_string_sized_new(CHILD_LINE_MAX);
    g_string_printf(line,
                    "beat progress=%" PRIu64 " done=%" PRIu64 " backlog=%" PRIu64 " oldest=%" PRId64 ".%06" PRId64
                    " holding=%s%s",
                    progress, done, backlog, oldest / CLOCK_SECOND, oldest % CLOCK_SECOND, holding ? holding : "-",
                    is_charged ? " charged=1" : "");
    if (late > 0)
        g_string_append_printf(line, " late=%" PRIu64, late);
    if (delays) {
        g_string_append(line, " tried=");
        delays_print(delays, DELAY_UNTIL_TRIED, line);
        g_string_append(line, " settled=");
        delays_print(delays, DELAY_UNTIL_SETTLED, line);
    }
    g_string_append_c(line, '\n');
    if (line->len <= CHILD_LINE_MAX)
        say(line->str, line->len);
    beat_trail();
    beat_confinement();
    bool any = false;
    g_mutex_lock(&notice_lock);
    for (int i = 0; i < CHILD_NOTICES; i++)
        any = any || notices[i];
    if (any || !notice_is_told)
        tell_notice();
    g_mutex_unlock(&notice_lock);
}

void child_notice(ChildNotice about, const char *text)
{
    g_mutex_lock(&notice_lock);
    g_free(notices[about]);
    notices[about] = g_strdup(text);
    tell_notice();
    g_mutex_unlock(&notice_lock);
}

void child_set_late(uint64_t entries)
{
    late = entries;
}

void child_set_delays(const Delays *told)
{
    delays = told;
}

void child_set_charged(bool charged)
{
    is_charged = charged;
}

bool child_replaces_killed(void)
{
    return replaces_killed;
}

int child_exit_code(const GError *error)
{
    return g_error_matches(error, FAIL, FAIL_CONFIG) ? CHILD_EXIT_CONFIG : CHILD_EXIT_LATER;
}

int child_cannot_start(const GError *error)
{
    log_error("cannot start: %s", error->message);
    tell_fault(error->message);
    return child_exit_code(error);
}

bool child_stopping(void)
{
    return stop_seen != 0;
}

void child_stop(void)
{
    stop_seen = 1;
}

bool child_reopen(void)
{
    char drained[64];
    while (read(wake_pipe[0], drained, sizeof drained) > 0)
        continue;
    bool seen = reopen_seen != 0;
    if (seen) { /* one that comes only now is for the next call */
        reopen_seen = 0;
        log_reopen();
    }
    if (stop_seen) { /* stopping stays readable */
        ssize_t ignored = write(wake_pipe[1], "", 1);
        (void)ignored;
    }
    return seen;
}
