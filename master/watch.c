/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/watch.h"

#include <string.h>
#include <sys/wait.h>

/* ---- what a child says ---- */

typedef enum WatchLine { WATCH_READY, WATCH_BEAT, WATCH_NOTICE, WATCH_ANEW, WATCH_FAULT, WATCH_GARBAGE } WatchLine;

static bool parse_number(const char *text, uint64_t *value)
{
    return g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, value, NULL);
}

/* "seconds.microseconds" with exactly six digits after the point, or "0". */
static bool parse_due(const char *text, int64_t *due)
{
    uint64_t seconds, micros = 0;
    const char *point = strchr(text, '.');
    g_autofree char *whole = point ? g_strndup(text, (size_t)(point - text)) : g_strdup(text);
    if (!parse_number(whole, &seconds) || seconds > (uint64_t)(G_MAXINT64 / CLOCK_SECOND) - 1)
        return false;
    if (point && (strlen(point + 1) != 6 || !parse_number(point + 1, &micros)))
        return false;
    *due = (int64_t)seconds * CLOCK_SECOND + (int64_t)micros;
    return true;
}

/* A key we do not know is a younger child's; it is passed over. */
static bool parse_pair(const char *key, const char *value, Beat *beat)
{
    if (strcmp(key, "progress") == 0)
        return parse_number(value, &beat->progress);
    if (strcmp(key, "done") == 0)
        return parse_number(value, &beat->done);
    if (strcmp(key, "backlog") == 0)
        return parse_number(value, &beat->backlog);
    if (strcmp(key, "oldest") == 0)
        return parse_due(value, &beat->oldest);
    if (strcmp(key, "holding") == 0) {
        bool graphic = *value != '\0' && strlen(value) < sizeof beat->holding;
        for (const char *at = value; graphic && *at; at++)
            graphic = g_ascii_isgraph(*at);
        if (graphic)
            g_strlcpy(beat->holding, strcmp(value, "-") == 0 ? "" : value, sizeof beat->holding);
        return graphic;
    }
    if (strcmp(key, "late") == 0)
        return parse_number(value, &beat->late);
    if (strcmp(key, "tried") == 0)
        return delays_parse(value, beat->delays.counts[DELAY_UNTIL_TRIED]);
    if (strcmp(key, "settled") == 0)
        return delays_parse(value, beat->delays.counts[DELAY_UNTIL_SETTLED]);
    if (strcmp(key, "charged") == 0)
        return (beat->charged = strcmp(value, "1") == 0);
    return true;
}

/* Classify one line without its line end. beat is filled for WATCH_BEAT alone. */
static WatchLine parse_line(const char *line, Beat *beat)
{
    if (strcmp(line, "ready") == 0)
        return WATCH_READY;
    if (g_str_has_prefix(line, "anew ") && line[5] != '\0')
        return WATCH_ANEW;
    if (g_str_has_prefix(line, "fault ") && line[6] != '\0')
        return WATCH_FAULT;
    if (strcmp(line, "notice") == 0 || (g_str_has_prefix(line, "notice ") && line[7] != '\0'))
        return WATCH_NOTICE;
    if (!g_str_has_prefix(line, "beat "))
        return WATCH_GARBAGE;
    Beat parsed = {0};
    bool progress = false;
    g_auto(GStrv) words = g_strsplit(line + strlen("beat "), " ", -1);
    for (char **word = words; *word; word++) {
        char *equals = strchr(*word, '=');
        if (!equals || equals == *word)
            return WATCH_GARBAGE;
        *equals = '\0';
        if (!parse_pair(*word, equals + 1, &parsed))
            return WATCH_GARBAGE;
        progress |= strcmp(*word, "progress") == 0;
    }
    if (!progress)
        return WATCH_GARBAGE;
    *beat = parsed;
    return WATCH_BEAT;
}

void watch_init(Watch *watch, int64_t now)
{
    *watch = (Watch){.pending = g_string_new(NULL), .spoke = now, .moved = now};
}

void watch_clear(Watch *watch)
{
    if (watch->pending)
        g_string_free(watch->pending, TRUE);
    g_free(watch->notice);
    g_free(watch->anew);
    g_free(watch->fault);
    *watch = (Watch){0};
}

/* Has it work that it should be moving on? */
static bool is_busy(const Watch *watch)
{
    return watch->beat.backlog > 0 || watch->beat.holding[0] != '\0';
}

bool watch_feed(Watch *watch, const char *data, size_t length, int64_t now)
{
    bool ready = false;
    for (size_t i = 0; i < length; i++) {
        if (data[i] != '\n') {
            if (watch->pending->len >= WATCH_LINE_MAX)
                watch->skipping = true;
            else /* NUL would cut the line short unseen. */
                g_string_append_c(watch->pending, data[i] ? data[i] : '?');
            continue;
        }
        bool was_busy = is_busy(watch);
        uint64_t before = watch->beat.progress;
        char *line = watch->pending->str;
        WatchLine kind = watch->skipping ? WATCH_GARBAGE : parse_line(line, &watch->beat);
        switch (kind) {
        case WATCH_READY:
            watch->moved = now;
            ready = true;
            break;
        case WATCH_BEAT:
            watch->beaten = now;
            /* A child without work has nothing to move on; its time begins with the work. */
            if (watch->beat.progress > before || !was_busy || !is_busy(watch))
                watch->moved = now;
            break;
        case WATCH_NOTICE:
            g_free(watch->notice);
            watch->notice = line[strlen("notice")] ? g_strdup(line + strlen("notice ")) : NULL;
            break;
        case WATCH_ANEW:
            g_free(watch->anew);
            watch->anew = g_strdup(line + strlen("anew "));
            break;
        case WATCH_FAULT:
            g_free(watch->fault);
            watch->fault = g_strdup(line + strlen("fault "));
            break;
        case WATCH_GARBAGE:
            watch->garbage++;
            break;
        }
        if (kind != WATCH_GARBAGE) /* which is no sign of life */
            watch->spoke = now;
        watch->skipping = false;
        g_string_truncate(watch->pending, 0);
    }
    return ready;
}

bool watch_stalled(const Watch *watch, int64_t timeout, int64_t now)
{
    return now - watch->spoke >= timeout / 2 || (is_busy(watch) && now - watch->moved >= timeout / 2);
}

int64_t watch_deadline(const Watch *watch, int64_t timeout)
{
    int64_t silent = watch->spoke + timeout;
    int64_t stuck = is_busy(watch) ? watch->moved + timeout : G_MAXINT64;
    return MIN(silent, stuck);
}

/* ---- how it ends, and when it is started again ---- */

char *watch_exit_text(int status, const char *fault)
{
    static const struct {
        int code;
        const char *meaning;
    } known[] = {
        {CHILD_EXIT_OK, "left by itself"},
        {CHILD_EXIT_USAGE, "called wrongly"},
        {CHILD_EXIT_SOFTWARE, "a bug of its own"},
        {CHILD_EXIT_LATER, "the system's fault, may pass"},
        {CHILD_EXIT_CONFIG, "a person must mend something first"},
    };
    GString *text = g_string_new(NULL);
    if (WIFSIGNALED(status)) {
        g_string_printf(text, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else {
        g_string_printf(text, "exit %d", WEXITSTATUS(status));
        for (size_t at = 0; at < G_N_ELEMENTS(known); at++)
            if (known[at].code == WEXITSTATUS(status))
                g_string_append_printf(text, " (%s)", known[at].meaning);
    }
    if (fault)
        g_string_append_printf(text, ": %s", fault);
    return g_string_free(text, FALSE);
}

int64_t watch_delay(Throttle *throttle, const ThrottleLimits *limits, int64_t lived, ThrottleDeath death)
{
    if (death == DEATH_RENEWAL && lived >= limits->min)
        return 0;
    if (death == DEATH_AT_WORK || lived >= limits->quiet)
        throttle->streak = 0;
    else if (death == DEATH_CHARGED)
        throttle->streak = MIN(throttle->streak, 1);
    unsigned before = throttle->streak;
    if (throttle->streak < G_MAXUINT)
        throttle->streak++;
    if (before == 0)
        return 0;
    int64_t delay = limits->min;
    for (unsigned i = 1; i < before && delay < limits->max; i++)
        delay *= 2;
    return MIN(delay, limits->max);
}

/* ---- the wall clock ---- */

int64_t watch_clock(ClockBack *back, int64_t wall, int64_t monotonic)
{
    int64_t offset = wall - monotonic, behind = back->offset - offset;
    bool over = back->since > 0 && monotonic - back->since >= behind;
    if (back->offset == 0 || behind < CLOCK_BACK_MIN || over) {
        back->offset = back->offset == 0 || over || offset > back->offset ? offset : back->offset;
        back->since = 0;
        return 0;
    }
    if (back->since == 0)
        back->since = monotonic;
    return behind;
}
