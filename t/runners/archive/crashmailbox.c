/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/runners/archive/crashmailbox.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/fail.h"
#include "runners/archive/mbox_file.h"
#include "switchboard/intake.h"
#include "t/runners/runnerframe.h"

#define ARRIVAL INT64_C(1763644800000000)
#define ARRIVAL_TEXT "Thu Nov 20 13:20:00 2025"
#define BOX "box"
#define POSTS 4
#define ROUNDS_MAX 4

void (*crashmailbox_between)(CrashWorld *world);
unsigned crashmailbox_batch;
bool crashmailbox_busy, crashmailbox_full;

/* An mbox has the same number whenever it is put on the disk: its intent names it. (That one which is made anew gets
 * the number of one that is gone is what file systems do, too.) */
static void number_mbox(const char *path, struct stat *status)
{
    if (path && g_str_has_suffix(path, ".mbox"))
        status->st_ino = 1;
}

int fstat(int fd, struct stat *status)
{
    static int (*real)(int, struct stat *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fstat");
    int result = real(fd, status);
    if (result == 0 && S_ISREG(status->st_mode)) {
        char link[64], path[512];
        g_snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(link, path, sizeof path - 1);
        path[MAX(length, 0)] = '\0';
        number_mbox(path, status);
    }
    return result;
}

int fstatat(int dir, const char *path, struct stat *status, int flags)
{
    static int (*real)(int, const char *, struct stat *, int);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fstatat");
    int result = real(dir, path, status, flags);
    if (result == 0)
        number_mbox(path, status);
    return result;
}

/* The linker puts these between mbox.c and mbox_file.c (--wrap). */
bool __real_mbox_file_lock(MboxFile *file, int64_t wait_us, GError **error);
bool __wrap_mbox_file_lock(MboxFile *file, int64_t wait_us, GError **error);
size_t __real_mbox_file_pending(const MboxFile *file);
size_t __wrap_mbox_file_pending(const MboxFile *file);

bool __wrap_mbox_file_lock(MboxFile *file, int64_t wait_us, GError **error)
{
    if (crashmailbox_busy && wait_us < CLOCK_SECOND) /* who holds others waits less */
        return fail(error, FAIL_RACE, "locked by another program");
    return __real_mbox_file_lock(file, wait_us, error);
}

size_t __wrap_mbox_file_pending(const MboxFile *file)
{
    size_t pending = __real_mbox_file_pending(file);
    return crashmailbox_full && pending > 0 ? SIZE_MAX : pending;
}

static const char *list_of(int post)
{
    return post % 2 ? "b.example.com" : "a.example.com";
}

/* As it is handed in, as a maildir has it, and as an mbox has it. Long enough to be torn, and with lines that an mbox
 * must quote. */
static char *post_text(int post, const char *end, const char *quote)
{
    GString *text = g_string_new(NULL);
    g_string_printf(text, "Message: %d%s%s%sFrom here%s%s>From there%s", post, end, end, quote, end, quote, end);
    for (int i = 0; i < 7; i++)
        g_string_append_printf(text, "%-68d%s", 10 * post + i, end);
    return g_string_free(text, FALSE);
}

static char *maildir_text(int post)
{
    return post_text(post, "\n", "");
}

static char *mbox_text(int post)
{
    g_autofree char *text = post_text(post, "\n", ">");
    return g_strconcat("From MAILER-DAEMON " ARRIVAL_TEXT "\n", text, "\n", NULL);
}

void crashmailbox_store(CrashWorld *world, const int *posts, size_t count)
{
    g_autofree Intake *group = g_new0(Intake, count);
    CrashNotes notes = {0};
    for (size_t i = 0; i < count; i++) {
        json_t *meta = json_object();
        meta_set_string(meta, META_LIST, list_of(posts[i]));
        meta_set_integer(meta, META_ARRIVAL, ARRIVAL);
        meta_set_integer(meta, META_ORDINAL, posts[i]);
        group[i].draft = draft_new("archive", meta);
        char *text = post_text(posts[i], "\r\n", "");
        g_autoptr(GBytes) octets = g_bytes_new_take(text, strlen(text));
        draft_add_message(group[i].draft, octets);
        notes.acknowledged |= UINT64_C(1) << posts[i];
    }
    g_assert_true(intake_store(world->spool, group, count, false));
    crashlog_note(world->log, notes);
    for (size_t i = 0; i < count; i++)
        draft_free(group[i].draft);
}

/* Log as the runner's own code or not: its syncs are the ones to be shown to be needed; others show the rest. */
static void own(CrashWorld *world, bool is_own)
{
    if (world->log)
        world->log->aside = !is_own;
}

static bool handle(CrashWorld *world, Outcome *outcome)
{
    g_autoptr(GError) error = NULL;
    if (!entry_begin_work(outcome->parent, NULL))
        return false;
    own(world, true);
    bool handled = runner_frame.spec->handle(&runner_frame, outcome->parent, outcome, &error);
    own(world, false);
    return handled && entry_end_work(outcome->parent, NULL);
}

static void fail_all(GPtrArray *batch)
{
    for (guint i = 0; i < batch->len; i++) {
        Outcome *outcome = batch->pdata[i];
        g_ptr_array_set_size(outcome->drafts, 0);
        if (!outcome->error)
            fail(&outcome->error, FAIL_LATER, "the batch failed");
    }
}

/* Commit the batch. Entries that failed are put back, due at once. */
static bool commit(CrashWorld *world, Inbox *inbox, Hop *hop, GPtrArray *batch)
{
    g_autoptr(GPtrArray) good = g_ptr_array_new();
    for (guint i = 0; i < batch->len; i++)
        if (!((Outcome *)batch->pdata[i])->error)
            g_ptr_array_add(good, batch->pdata[i]);
    bool sound = hop_commit(hop, (Outcome **)good->pdata, good->len, NULL);
    for (guint i = 0; sound && i < batch->len; i++) {
        Outcome *outcome = batch->pdata[i];
        if (outcome->error)
            sound = inbox_release(inbox, g_steal_pointer(&outcome->parent), 0, NULL);
    }
    if (sound) {
        own(world, true);
        runner_frame.spec->committed(&runner_frame);
        own(world, false);
    }
    return sound;
}

static void free_outcome(gpointer outcome)
{
    outcome_free(outcome);
}

static bool work(CrashWorld *world, Inbox *inbox, Hop *hop, unsigned *count)
{
    g_autoptr(GPtrArray) entries = g_ptr_array_new();
    g_autoptr(GPtrArray) batch = g_ptr_array_new_with_free_func(free_outcome);
    g_usleep(1); /* polled */
    bool sound = inbox_refresh(inbox, NULL) &&
                 inbox_claim(inbox, crashmailbox_batch, runner_frame.spec->durable_claim, entries, NULL);
    *count = entries->len;
    for (guint i = 0; i < entries->len; i++)
        g_ptr_array_add(batch, outcome_new(entries->pdata[i]));
    if (!sound || entries->len == 0)
        return sound;
    for (guint i = 0; i < batch->len; i++)
        if (!handle(world, batch->pdata[i]))
            return false;
    own(world, true);
    bool ended = runner_frame.spec->end_batch(&runner_frame, NULL);
    own(world, false);
    if (!ended)
        fail_all(batch);
    if (crashmailbox_between && world->log) {
        void (*between)(CrashWorld *) = crashmailbox_between;
        crashmailbox_between = NULL;
        between(world);
    }
    return commit(world, inbox, hop, batch);
}

bool crashmailbox_run(CrashWorld *world, Slice slice, unsigned *worked)
{
    own(world, false);
    g_autoptr(Inbox) inbox = crashworld_inbox(world, "archive", slice); /* recovers */
    g_autoptr(Hop) hop = hop_new(world->spool);
    own(world, true);
    bool sound = inbox && runner_frame.spec->start(&runner_frame, NULL);
    own(world, false);
    for (unsigned count = 1; sound && count > 0; *worked += count)
        sound = work(world, inbox, hop, &count);
    int64_t oldest;
    /* An entry that crashed its runner is due in the next round. */
    *worked += sound && inbox_backlog(inbox, clock_now() + CRASH_ROUND_S * CLOCK_SECOND, &oldest) >
                            inbox_backlog(inbox, clock_now(), &oldest);
    sound = sound && hop_settle(hop, NULL);
    own(world, true);
    runner_frame.spec->stop(&runner_frame);
    own(world, false);
    return sound;
}

static void set_fault(CrashResult *result, char *fault)
{
    if (result->fault)
        g_free(fault);
    else
        result->fault = fault;
}

static char *read_file(int dir, const char *name, size_t *length)
{
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d/%s", dir, name);
    char *octets = NULL;
    g_assert_true(g_file_get_contents(path, &octets, length, NULL));
    return octets;
}

typedef void Look(CrashResult *result, int dir, const char *name, uint8_t *counts);

static void each_file(CrashWorld *world, CrashResult *result, const char *path, Look *look, uint8_t *counts)
{
    int fd = openat(spool_fd(world->spool), path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    for (const struct dirent *one; dir && (one = readdir(dir)) != NULL;)
        if (one->d_name[0] != '.')
            look(result, fd, one->d_name, counts);
    if (dir)
        closedir(dir);
}

static void look_maildir(CrashResult *result, int dir, const char *name, uint8_t *counts)
{
    size_t length;
    g_autofree char *octets = read_file(dir, name, &length);
    for (int post = 0; post < POSTS; post++) {
        g_autofree char *text = maildir_text(post);
        if (strcmp(text, octets) == 0 && strlen(text) == length) {
            counts[post]++;
            return;
        }
    }
    set_fault(result, g_strdup_printf("%s is no post", name));
}

/* The mbox must be posts and nothing else. */
static void look_mbox(CrashResult *result, int dir, const char *name, uint8_t *counts)
{
    size_t length, at = 0;
    if (!g_str_has_suffix(name, ".mbox"))
        return;
    g_autofree char *octets = read_file(dir, name, &length);
    for (int post = 0; at < length && post < POSTS; post++) {
        g_autofree char *text = mbox_text(post);
        if (strlen(text) > length - at || memcmp(octets + at, text, strlen(text)) != 0)
            continue;
        counts[post]++;
        at += strlen(text);
        post = -1; /* the next may be any */
    }
    if (at < length)
        set_fault(result, g_strdup_printf("%s: at %zu there is no post", name, at));
}

static void look_queue(CrashResult *result, int dir, const char *name, uint8_t *counts)
{
    (void)dir;
    (void)counts;
    set_fault(result, g_strdup_printf("%s is left", name));
}

static bool is_maildir(void)
{
    return strcmp(config_string(runner_frame.config, "archiver." BOX, "type"), "maildir") == 0;
}

/* Count what a reader sees. */
static void look(CrashWorld *world, CrashResult *result, uint8_t *counts)
{
    static const char *const parts[] = {"new", "cur"};
    if (!is_maildir()) {
        each_file(world, result, BOX, look_mbox, counts);
        return;
    }
    for (int i = 0; i < 4; i++) {
        g_autofree char *path = g_build_filename(BOX, list_of(i % 2), parts[i / 2], NULL);
        each_file(world, result, path, look_maildir, counts);
    }
}

static CrashResult *drain(CrashWorld *world, const CrashState *state)
{
    CrashResult *result = g_new0(CrashResult, 1), before = {0};
    unsigned slices = 1U << state->hash % 2, worked = 1;
    crashworld_wipe(world);
    crashworld_put_on_disk(world, state);
    if (is_maildir())
        look(world, &before, before.archived);
    g_clear_pointer(&before.fault, g_free);
    for (int post = 0; post < POSTS; post++)
        result->moved |= (uint64_t)(before.archived[post] == 2) << post;
    for (unsigned round = 0; worked > 0 && !result->fault; round++) {
        worked = 0;
        crash_clock = CRASH_SCRIPT_S + round * CRASH_ROUND_S;
        for (unsigned i = 0; i < slices; i++)
            if (!crashmailbox_run(world, (Slice){(i + (unsigned)(state->hash >> 8)) % slices, slices}, &worked))
                set_fault(result, g_strdup("the runner ended"));
        if (round > ROUNDS_MAX)
            set_fault(result, g_strdup("it does not end"));
    }
    crash_clock = 0;
    for (int i = 0; crash_queues[i]; i++)
        each_file(world, result, crash_queues[i], look_queue, NULL);
    look(world, result, result->archived);
    return result;
}

static char *judge(const CrashResult *result, const CrashNotes *notes)
{
    if (result->fault)
        return g_strdup(result->fault);
    for (int post = 0; post < POSTS; post++) {
        unsigned found = result->archived[post];
        /* A reader moves it from new to cur; a power cut may leave both names, and that is not our affair. */
        unsigned most = (notes->tried & result->moved) >> post & 1 ? 2 : 1;
        if (found > most || (found == 0 && notes->acknowledged >> post & 1))
            return g_strdup_printf("post %d is in its mailbox %u times", post, found);
    }
    return NULL;
}

void crashmailbox_use(CrashWorld *world, const char *type)
{
    g_autofree char *path = g_strconcat(world->path, "-conf", NULL);
    g_autofree char *text = g_strdup_printf("[archiver." BOX "]\ntype = %s\nenabled = yes\npath = %s/" BOX "\n", type,
                                            world->path);
    g_autoptr(GError) error = NULL;
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    crashmailbox_batch = 100;
    g_clear_pointer(&runner_frame.config, config_free);
    runner_frame.config = config_load(path, true, &error);
    unlink(path);
    g_assert_no_error(error);
}

void crashmailbox_init(CrashWorld *world)
{
    int archive_main(int argc, char **argv); /* archive.c's main */
    archive_main(0, NULL);
    world->drain = drain;
    world->judge = judge;
}

void crashmailbox_clear(CrashWorld *world)
{
    (void)world;
    g_clear_pointer(&runner_frame.config, config_free);
}
