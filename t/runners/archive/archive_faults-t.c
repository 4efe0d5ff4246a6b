/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * System calls of the archive runner fail while it stores posts in a maildir and an mbox: one call, or a row of them,
 * as on a disk that is full for a while. Posts that come again share their batches with fresh ones. When all works
 * again, each mailbox holds each post once, byte for byte, and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/contract.h"
#include "base/fail.h"
#include "runners/archive/mbox_file.h"
#include "runners/runner.h"
#include "switchboard/intake.h"
#include "t/runners/faultcalls.h"

#define POSTS 9
#define LIVES_MAX 4 /* after the one with faults */

/* Of calls, unless -m thorough is said. */
#define STEP 23
#define FEW_STEP 5 /* where few are meant */
#define SLOW_STEP 10 /* so many times fewer, under valgrind and with sanitizers */

/* When a process looks at its queue again, seconds after it began, and when the posts arrive, in milliseconds. What
 * could not be stored comes again in the next round, in one batch with posts that arrived since and are due before it:
 * what was in a batch that failed after a second, what an archiver could not store after five, ten, twenty. */
static const int64_t rounds[] = {0, 10, 20, 40, 90};
static const int64_t arrivals[POSTS] = {-9000, -8000, -7000, -6000, 500, 501, 12000, 12001, 25000};
#define DAY 86400

/* How many calls fail, one after another. */
static const unsigned rows[] = {1, 3, 8, 20, 50};

static char *place; /* holds disk/spool/, disk/maildir/, disk/mbox/, clock, listrunner.conf */
static FaultReport *report; /* shared with the process in which calls fail */
static bool busy; /* who holds the lock on one mbox finds others locked */
static bool slow;
static int64_t day; /* on which processes begin, counted from the first */

int archive_main(int argc, char **argv); /* main() of archive.c */

static void set_clock(int64_t seconds)
{
    g_autofree char *path = g_build_filename(place, "clock", NULL), *text = g_strdup_printf("%" PRId64, seconds);
    auto_fd fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    g_assert_cmpint(write(fd, text, strlen(text)), ==, (ssize_t)strlen(text));
}

/* ---- between archive.c and what it calls (--wrap) ---- */

int __real_runner_main(const RunnerSpec *spec, int argc, char **argv);
int __wrap_runner_main(const RunnerSpec *spec, int argc, char **argv);
bool __real_mbox_file_lock(MboxFile *file, int64_t wait_us, GError **error);
bool __wrap_mbox_file_lock(MboxFile *file, int64_t wait_us, GError **error);

/* Nothing is ready: time goes on to the next round; after the last the process ends. */
static int64_t next_round(Runner *runner)
{
    static size_t round;
    (void)runner;
    if (++round < G_N_ELEMENTS(rounds))
        set_clock(day * DAY + rounds[round]);
    else
        child_stop();
    return 0;
}

int __wrap_runner_main(const RunnerSpec *spec, int argc, char **argv)
{
    RunnerSpec with_rounds = *spec;
    with_rounds.idle = next_round;
    return __real_runner_main(&with_rounds, argc, argv);
}

bool __wrap_mbox_file_lock(MboxFile *file, int64_t wait_us, GError **error)
{
    if (busy && wait_us < CLOCK_SECOND && !mbox_file_locked(file)) /* who holds others waits less */
        return fail(error, FAIL_RACE, "locked by another program");
    return __real_mbox_file_lock(file, wait_us, error);
}

/* ---- the posts ---- */

static const char *list_of(int post)
{
    return post % 2 ? "b.example.com" : "a.example.com";
}

static char *text_of(int post, const char *end)
{
    GString *text = g_string_new(NULL);
    g_string_printf(text, "Message: %d%s%s", post, end, end);
    for (int i = 0; i < 9; i++)
        g_string_append_printf(text, "%-68d%s", 10 * post + i, end);
    return g_string_free(text, FALSE);
}

static void store_posts(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(place, "disk/spool", NULL);
    g_autoptr(Spool) spool = spool_open(path, &error);
    g_assert_no_error(error);
    Intake group[POSTS] = {0};
    int64_t begun = clock_now();
    for (int i = 0; i < POSTS; i++) {
        json_t *meta = json_object();
        meta_set_string(meta, META_LIST, list_of(i));
        meta_set_integer(meta, META_ARRIVAL, begun + arrivals[i] * (CLOCK_SECOND / 1000));
        meta_set_integer(meta, META_ORDINAL, i + 1);
        group[i].draft = draft_new("archive", meta);
        draft_set_due(group[i].draft, begun + arrivals[i] * (CLOCK_SECOND / 1000));
        char *text = text_of(i, "\r\n");
        g_autoptr(GBytes) octets = g_bytes_new_take(text, strlen(text));
        draft_add_message(group[i].draft, octets);
    }
    g_assert_true(intake_store(spool, group, POSTS, false));
    for (int i = 0; i < POSTS; i++)
        draft_free(group[i].draft);
}

static void run(const char *program, const char *option, const char *name)
{
    g_autofree char *path = g_build_filename(place, name, NULL);
    const char *const words[] = {program, option, path, NULL};
    g_assert_true(g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
}

static void begin_world(void)
{
    run("rm", "-rf", "disk");
    run("mkdir", "-p", "disk/spool");
    day = 0;
    set_clock(0);
    store_posts();
}

/* ---- one process ---- */

static int work(const void *data)
{
    (void)data;
    char *arguments[] = {(char *)"archive", NULL};
    return archive_main(1, arguments);
}

static FaultLife live(const FaultPlan *plan)
{
    return faults_live(plan, report, work, NULL);
}

/* ---- what is there in the end ---- */

/* Takes off the posts with which the bytes begin, counts them, and returns the rest. Between two of an mbox there is a
 * From_ line. */
static const char *count_posts(const char *octets, bool mbox, unsigned *counts)
{
    for (int post = 0; post < POSTS; post++) {
        g_autofree char *text = text_of(post, "\n");
        const char *at = octets;
        if (mbox && (!g_str_has_prefix(at, "From MAILER-DAEMON ") || !(at = strchr(at, '\n'))))
            return octets;
        at += mbox;
        if (!g_str_has_prefix(at, text))
            continue;
        counts[post]++;
        octets = at + strlen(text) + mbox;
        if (!mbox)
            return octets;
        post = -1; /* the next may be any */
    }
    return octets;
}

static void count_mail(const char *path, bool mbox, unsigned *counts, GString *faults)
{
    g_autofree char *octets = NULL;
    g_assert_true(g_file_get_contents(path, &octets, NULL, NULL));
    const char *rest = count_posts(octets, mbox, counts);
    if (*rest)
        g_string_append_printf(faults, "%s: at %zd there is no post; ", path + strlen(place), rest - octets);
}

/* Calls count_mail() with each file of the folder whose name ends so. */
static unsigned count_folder(const char *folder, const char *end, unsigned *counts, GString *faults)
{
    g_autofree char *path = g_build_filename(place, folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    unsigned found = 0;
    while (dir && (name = g_dir_read_name(dir)) != NULL) {
        if (!g_str_has_suffix(name, end))
            continue;
        found++;
        g_autofree char *file = g_build_filename(path, name, NULL);
        if (counts)
            count_mail(file, strcmp(end, ".mbox") == 0, counts, faults);
    }
    return found;
}

/* NULL, or what is wrong. g_free(). */
static char *judge(void)
{
    unsigned in_mbox[POSTS] = {0}, in_maildir[POSTS] = {0};
    GString *faults = g_string_new(NULL);
    count_folder("disk/mbox", ".mbox", in_mbox, faults);
    count_folder("disk/maildir/a.example.com/new", "", in_maildir, faults);
    count_folder("disk/maildir/b.example.com/new", "", in_maildir, faults);
    for (int post = 0; post < POSTS; post++)
        if (in_mbox[post] != 1 || in_maildir[post] != 1)
            g_string_append_printf(faults, "post %d is %u times in the mbox, %u times in the maildir; ", post,
                                   in_mbox[post], in_maildir[post]);
    unsigned left = count_folder("disk/spool/archive", "", NULL, NULL);
    unsigned shunted = count_folder("disk/spool/shunt", "", NULL, NULL);
    if (left + shunted > 0)
        g_string_append_printf(faults, "%u are left in archive, %u in shunt; ", left, shunted);
    return g_string_free(faults, faults->len == 0);
}

/* Processes without faults, one a day, until nothing is left. */
static void live_on(void)
{
    for (int i = 0; i < LIVES_MAX && count_folder("disk/spool/archive", "", NULL, NULL) > 0; i++) {
        set_clock(++day * DAY);
        g_free(live(&(FaultPlan){0}).log);
    }
}

/* False when there was no such call. */
static bool suffer(const FaultPlan *plan)
{
    begin_world();
    FaultLife life = live(plan);
    g_autofree char *log = life.log;
    FaultReport seen = *report;
    bool ended = fault_life_ended(&life, CHILD_EXIT_OK) || fault_life_ended(&life, CHILD_EXIT_LATER);
    live_on();
    g_autofree char *problem = ended ? judge() : g_strdup_printf("wait status %#x", (unsigned)life.status);
    if (problem) {
        g_test_message("%s at call %u, %u times, %s: %s\n%s", g_strerror(plan->error), seen.hit, seen.injected,
                       seen.call, problem, log);
        g_test_fail();
    }
    *report = seen;
    return seen.injected > 0;
}

typedef struct Kind {
    const char *name;
    int error;
    const char *under; /* of place */
    const char *only;  /* FaultPlan */
    bool busy;
} Kind;

static const Kind kinds[] = {
    {"/archive-faults/full", ENOSPC, "disk/m", NULL, false},
    {"/archive-faults/full, locked", ENOSPC, "disk/m", NULL, true},
    {"/archive-faults/full, and the spool", ENOSPC, "disk", NULL, false},
    {"/archive-faults/not synced", EIO, "disk/m", "f*sync", false},
    {"/archive-faults/not synced, locked", EIO, "disk/m", "f*sync", true},
    {"/archive-faults/unreadable", EIO, "disk/m", NULL, false},
};

/* Rows of calls that begin everywhere, by turns so that others are hit by others. */
static void test_kind(gconstpointer data)
{
    const Kind *kind = data;
    g_autofree char *under = g_build_filename(place, kind->under, NULL);
    unsigned step = (g_test_thorough() ? 1 : kind->only ? FEW_STEP : STEP) * (slow ? SLOW_STEP : 1), count = 0;
    busy = kind->busy;
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        FaultPlan plan = {.error = kind->error, .times = rows[i], .under = under, .only = kind->only};
        for (plan.at = 1 + (unsigned)i * step / G_N_ELEMENTS(rows); suffer(&plan); count++)
            plan.at = report->hit + step;
    }
    busy = false;
    g_test_message("%u rows of faults", count);
    g_assert_cmpuint(count, >, slow ? 0 : 5);
}

static void test_none(void)
{
    suffer(&(FaultPlan){0});
    g_test_message("%u calls", report->calls);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#ifdef __SANITIZE_ADDRESS__
    slow = true;
#else
    slow = g_getenv("LISTRUNNER_VALGRIND") != NULL;
#endif
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    place = g_build_filename(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : g_get_tmp_dir(), "archive-XXXXXX", NULL);
    g_assert_nonnull(g_mkdtemp(place));
    g_autofree char *config = g_build_filename(place, "listrunner.conf", NULL);
    g_autofree char *clock = g_build_filename(place, "clock", NULL);
    g_autofree char *text = g_strdup_printf("[master]\nconfine = no\n[spool]\ndirectory = %s/disk/spool\n"
                                            "[archiver.maildir]\ntype = maildir\npath = %s/disk/maildir\n"
                                            "[archiver.mbox]\ntype = mbox\npath = %s/disk/mbox\n", place, place, place);
    g_assert_true(g_file_set_contents(config, text, -1, NULL));
    g_setenv(CHILD_ENV_CONFIG, config, TRUE);
    g_setenv("LISTRUNNER_CLOCK_FILE", clock, TRUE);
    g_test_add_func("/archive-faults/none", test_none);
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        g_test_add_data_func(kinds[i].name, &kinds[i], test_kind);
    int failed = g_test_run();
    run("rm", "-rf", "");
    return failed;
}
