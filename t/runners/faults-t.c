/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Every system call of the queue-runner skeleton and the switchboard fails
 * once, each in every way it can (faultcalls.h); then it and all after it.
 * Each time: what was in hand is kept, the log says what failed and whose,
 * the entries behind it go on; and drained without faults, each comes once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/child.h"
#include "base/contract.h"
#include "base/log.h"
#include "t/runners/faultcalls.h"
#include "t/runners/faultworld.h"

#define LASTING_ERRORS 4 /* the first of fault_errors */

/* Of calls and allocations, unless -m thorough is said. */
#define ONCE_STEP 13
#define LASTING_STEP 41
#define MEMORY_SAMPLES 20
#define VALGRIND_STEP 10 /* so many times fewer */

#ifdef __SANITIZE_ADDRESS__
#define MEMORY_WAYS 1 /* see faultalloc.c */
#else
#define MEMORY_WAYS 2
#endif

static FaultReport *report; /* shared with the process in which calls fail */
static unsigned usual_lines; /* of the log, without faults */
static bool valgrind;

/* Leave: all that is there is done. */
static int64_t leave(Runner *runner)
{
    (void)runner;
    child_stop();
    return 0;
}

/* A phase is what one process does. */
typedef struct Phase {
    const char *name;
    RunnerSpec spec;
} Phase;

#define RUNNER_OF(queue_name) {.name = queue_name, .queue = queue_name, .handle = faultworld_handle, .idle = leave}
#define SENDER_OF(queue_name) \
    {.name = queue_name, .queue = queue_name, .handle = faultworld_handle, .idle = leave, .durable_claim = true}

static const Phase phases[] = {
    {"intake", {0}},
    {"in", RUNNER_OF("in")},
    {"out", SENDER_OF("out")},
    {"retry", SENDER_OF("retry")},
    {"archive", RUNNER_OF("archive")},
};

static int work(const void *data)
{
    const Phase *phase = data;
    char *arguments[] = {(char *)phase->name, NULL};
    if (phase->spec.name)
        return runner_main(&phase->spec, 1, arguments);
    faultworld_intake();
    return 0;
}

/* One process of the phase; in is worked by the first of two slices. */
static FaultLife live(const Phase *phase, const FaultPlan *plan)
{
    g_setenv(CHILD_ENV_INSTANCES, strcmp(phase->name, "in") == 0 ? "2" : "1", TRUE);
    return faults_live(plan, report, work, phase);
}

static bool ended_well(const FaultLife *life)
{
    return fault_life_ended(life, CHILD_EXIT_OK);
}

/* Calls whose failure need not be told: nothing is given up for it. */
typedef struct Silent {
    const char *call, *why;
} Silent;

static const Silent silent[] = {
    {"faccessat */*-*.tmp", "what an undone run left is met again when the child is created"},
    {"fstatat */*.tmp", "recovery takes it for a file, and what it does next will tell; the next sweep looks again"},
    {"fstatat in/*.done", "the same"},
};

static bool may_be_silent(const char *call)
{
    for (size_t i = 0; i < G_N_ELEMENTS(silent); i++)
        if (g_pattern_match_simple(silent[i].call, call))
            return true;
    return false;
}

/* The text of a line of the log, without the time. */
static const char *text_of(const char *line)
{
    const char *space = strchr(line, ' ');
    return space ? space + 1 : line;
}

/* The log tells the error, each time of something else, and of what: an entry or a queue. */
static char *judge_log(const char *log, int error)
{
    g_auto(GStrv) lines = g_strsplit(log, "\n", -1);
    unsigned told = 0;
    for (char **line = lines; *line; line++) {
        bool tells = strstr(*line, g_strerror(error)) != NULL;
        told += tells;
        for (char **other = lines; tells && other < line; other++)
            if (strcmp(text_of(*line), text_of(*other)) == 0)
                return g_strdup_printf("it is told twice: %s", *line);
        if (tells && !g_regex_match_simple("[0-9a-f]{12}|queue [a-z]|spool|inotify|archived", *line, 0, 0))
            return g_strdup_printf("it is not told of what: %s", *line);
    }
    return told == 0 && !may_be_silent(report->call) ? g_strdup("the log does not tell") : NULL;
}

static unsigned count_lines(const char *text)
{
    unsigned count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* Judge what is left of the first process, or of the next if the first ended. */
static char *judge_going_on(const Phase *phase, const FaultLife *first, const FaultError *fault)
{
    bool unseen = fault->error == EINTR || fault->error == FAULT_SHORT;
    if (report->injected == 1 && !ended_well(first) && g_pattern_match_simple("renameat2 */*.msg", report->call))
        return g_strdup("a claim that was refused ends the process");
    if (ended_well(first)) {
        if (unseen && count_lines(first->log) != usual_lines)
            return g_strdup("it is seen");
    } else {
        if (!fault_life_ended(first, CHILD_EXIT_LATER) || unseen)
            return g_strdup_printf("wait status %#x", (unsigned)first->status);
        faultworld.in_flight = 2; /* no more than a batch */
        FaultLife next = live(phase, &(FaultPlan){0});
        g_autofree char *log = next.log;
        if (!ended_well(&next))
            return g_strdup_printf("the next process ends with %#x: %s", (unsigned)next.status, log);
    }
    if (!phase->spec.name)
        return NULL;
    g_autofree char *left = faultworld_unfinished(phase->name);
    return left ? g_strdup_printf("%s is left unfinished", left) : NULL;
}

/* One fault. Returns false when there was no such call. */
static bool suffer(const Phase *phase, const FaultError *fault, unsigned at, bool lasting)
{
    faultworld_restore();
    FaultPlan plan = {.at = at, .error = fault->error, .times = lasting ? FAULT_LASTING : 1};
    FaultLife life = live(phase, &plan);
    g_autofree char *log = life.log;
    FaultReport seen = *report;
    if (seen.injected == 0) {
        g_assert_true(ended_well(&life));
        return false;
    }
    g_autofree char *problem = judge_going_on(phase, &life, fault);
    *report = seen;
    if (!problem && !lasting && fault->error != EINTR && fault->error != FAULT_SHORT)
        problem = judge_log(log, fault->error);
    faultworld.unreadable = fault->error == EIO && (lasting || g_pattern_match_simple("pread *.bak", seen.call));
    if (!problem)
        problem = faultworld_judge();
    if (problem) {
        g_test_message("%s: %s%s at call %u, %s: %s\n%s", phase->name, fault->name, lasting ? " from then on" : "",
                       seen.hit, seen.call, problem, log);
        g_test_fail();
    }
    return true;
}

/* Every call, or of a long row some, by turns so that other errors fall on others. */
static unsigned suffer_all(const Phase *phase, bool lasting)
{
    unsigned count = 0, step = g_test_thorough() ? 1 : lasting ? LASTING_STEP : ONCE_STEP;
    step *= valgrind ? VALGRIND_STEP : 1;
    for (unsigned i = 0; i < (lasting ? LASTING_ERRORS : FAULT_ERRORS); i++)
        for (unsigned at = 1 + i % step; suffer(phase, &fault_errors[i], at, lasting); count++)
            at = report->hit + step;
    return count;
}

/* Memory ends at this allocation, or only this one finds none; the next process has
 * memory. False when it was enough. */
static bool run_out(const Phase *phase, unsigned at, bool alone)
{
    faultworld_restore();
    FaultLife life = live(phase, &(FaultPlan){.allocation = at, .alone = alone});
    g_autofree char *log = life.log;
    bool enough = report->allocations < at, ended = ended_well(&life);
    g_autofree char *problem = NULL;
    faultworld.in_flight = ended ? 0 : 2;
    if (phase->spec.name) {
        FaultLife next = live(phase, &(FaultPlan){0});
        g_free(next.log);
        problem = ended_well(&next) ? NULL : g_strdup("the next process does not work");
    }
    if (!problem)
        problem = faultworld_judge();
    if (!problem && !enough && ended && !alone)
        problem = g_strdup("it worked without memory");
    if (problem) {
        g_test_message("%s: allocation %u%s, wait status %#x: %s\n%s", phase->name, at,
                       alone ? "" : " and all after it", (unsigned)life.status, problem, log);
        g_test_fail();
    }
    return !enough;
}

/* From which allocation on, and every how many: a sample, or when thorough all, or the share A of B that
 * LISTRUNNER_EXHAUSTIVE=A/B names. */
static unsigned memory_step(unsigned total, unsigned *first)
{
    unsigned share = 0, shares = 1;
    const char *wanted = g_getenv("LISTRUNNER_EXHAUSTIVE");
    *first = 1;
    if (!g_test_thorough())
        return total / MEMORY_SAMPLES + 1;
    if (!wanted || sscanf(wanted, "%u/%u", &share, &shares) != 2 || shares == 0)
        return 1;
    *first = 1 + share;
    return shares;
}

static void test_memory(gconstpointer data)
{
    const Phase *phase = data;
    if (valgrind) {
        g_test_skip("malloc() is valgrind's there, and finds memory");
        return;
    }
    faultworld_prepare(phase->name);
    faultworld_restore();
    g_free(live(phase, &(FaultPlan){0}).log);
    unsigned total = report->allocations, first, step = memory_step(total, &first), count = 0;
    for (unsigned i = 0; i < MEMORY_WAYS; i++)
        for (unsigned at = first + i * step / 2; run_out(phase, at, i > 0); at += step)
            count++;
    g_test_message("%s: %u allocations; %u times without memory", phase->name, total, count);
    g_assert_cmpuint(count, >, 10);
}

static void test_phase(gconstpointer data)
{
    const Phase *phase = data;
    faultworld_prepare(phase->name);
    faultworld_restore();
    FaultLife life = live(phase, &(FaultPlan){0});
    unsigned calls = report->calls;
    g_autofree char *log = life.log;
    g_assert_true(ended_well(&life));
    usual_lines = count_lines(log);
    g_autofree char *fault = faultworld_judge();
    g_assert_cmpstr(fault, ==, NULL);
    unsigned once = suffer_all(phase, false), lasting = suffer_all(phase, true);
    g_test_message("%s: %u calls; %u faults, %u that lasted", phase->name, calls, once, lasting);
    g_assert_cmpuint(once, >, valgrind ? 2 : 10);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    valgrind = g_getenv("LISTRUNNER_VALGRIND") != NULL;
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    g_assert_true(report != MAP_FAILED);
    faultworld_open();
    for (size_t i = 0; i < G_N_ELEMENTS(phases); i++) {
        g_autofree char *path = g_strdup_printf("/faults/%s", phases[i].name);
        g_test_add_data_func(path, &phases[i], test_phase);
        g_autofree char *memory = g_strdup_printf("/faults/%s, memory", phases[i].name);
        g_test_add_data_func(memory, &phases[i], test_memory);
    }
    int failed = g_test_run();
    faultworld_close();
    return failed;
}
