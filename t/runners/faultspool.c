/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/runners/faultworld_internal.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

#include "base/auto.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/fs.h"
#include "switchboard/claim.h"
#include "switchboard/format_internal.h"
#include "switchboard/suffix_internal.h"

typedef struct Kept {
    char *path;
    GBytes *octets; /* NULL: a directory */
    time_t changed;
} Kept;

static void kept_free(gpointer data)
{
    Kept *kept = data;
    if (kept->octets)
        g_bytes_unref(kept->octets);
    g_free(kept->path);
    g_free(kept);
}

void faultworld_set_clock(const char *seconds)
{
    g_autofree char *clock = g_build_filename(faultworld.path, "clock", NULL);
    auto_fd fd = open(clock, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    g_assert_cmpint(write(fd, seconds, strlen(seconds)), ==, (ssize_t)strlen(seconds));
}

void faultworld_open(void)
{
    const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : g_get_tmp_dir();
    faultworld = (FaultWorld){.path = g_build_filename(memory, "faults-XXXXXX", NULL)};
    g_assert_nonnull(g_mkdtemp(faultworld.path));
    faultworld.spool_path = g_build_filename(faultworld.path, "spool", NULL);
    g_autofree char *archived = g_build_filename(faultworld.path, "archived", NULL);
    g_assert_cmpint(g_mkdir(faultworld.spool_path, 0750) | g_mkdir(archived, 0750), ==, 0);
    g_autofree char *config = g_build_filename(faultworld.path, "listrunner.conf", NULL);
    g_autofree char *text = g_strdup_printf("[master]\nconfine = no\n[spool]\ndirectory = %s\nbatch_limit = 2\n",
                                            faultworld.spool_path);
    g_assert_true(g_file_set_contents(config, text, -1, NULL));
    g_setenv(CHILD_ENV_CONFIG, config, TRUE);
    g_autofree char *clock = g_build_filename(faultworld.path, "clock", NULL);
    g_setenv("LISTRUNNER_CLOCK_FILE", clock, TRUE);
    faultworld_set_clock("0");
    faultworld.outside = mmap(NULL, sizeof(FaultOutside), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    g_assert_true(faultworld.outside != MAP_FAILED);
    faultworld.snapshot = g_ptr_array_new_with_free_func(kept_free);
}

void faultworld_walk(const char *path, void (*visit)(const char *path, bool directory))
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *child = g_build_filename(path, name, NULL);
        bool directory = g_file_test(child, G_FILE_TEST_IS_DIR) && !g_file_test(child, G_FILE_TEST_IS_SYMLINK);
        if (directory)
            faultworld_walk(child, visit);
        visit(child, directory);
    }
}

static void remove_one(const char *path, bool directory)
{
    g_assert_cmpint(directory ? rmdir(path) : unlink(path), ==, 0);
}

static void keep_one(const char *path, bool directory)
{
    Kept *kept = g_new0(Kept, 1);
    kept->path = g_strdup(path);
    struct stat status;
    g_assert_cmpint(stat(path, &status), ==, 0);
    kept->changed = status.st_mtime;
    char *octets = NULL;
    gsize length = 0;
    if (!directory) {
        g_assert_true(g_file_get_contents(path, &octets, &length, NULL));
        kept->octets = g_bytes_new_take(octets, length);
    }
    g_ptr_array_add(faultworld.snapshot, kept);
}

static void wipe(void)
{
    g_autofree char *archived = g_build_filename(faultworld.path, "archived", NULL);
    faultworld_walk(faultworld.spool_path, remove_one);
    faultworld_walk(archived, remove_one);
}

void faultworld_close(void)
{
    g_ptr_array_unref(faultworld.snapshot);
    faultworld_walk(faultworld.path, remove_one);
    rmdir(faultworld.path);
    munmap(faultworld.outside, sizeof(FaultOutside));
    g_free(faultworld.spool_path);
    g_free(faultworld.path);
}

void faultworld_restore(void)
{
    wipe();
    for (guint i = faultworld.snapshot->len; i-- > 0;) { /* directories first */
        const Kept *kept = faultworld.snapshot->pdata[i];
        if (!kept->octets) {
            g_assert_cmpint(mkdir(kept->path, 0750), ==, 0);
            continue;
        }
        auto_fd fd = open(kept->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
        gsize length;
        const void *octets = g_bytes_get_data(kept->octets, &length);
        g_assert_cmpint(write(fd, octets, length), ==, (ssize_t)length);
        struct timespec times[2] = {{.tv_sec = kept->changed}, {.tv_sec = kept->changed}};
        g_assert_cmpint(futimens(fd, times), ==, 0);
    }
    *faultworld.outside = faultworld.outside_then;
    faultworld.in_flight = 0;
    faultworld.unreadable = false;
    faultworld_set_clock("0");
}

bool faultworld_was_there(GBytes *octets)
{
    for (guint i = 0; i < faultworld.snapshot->len; i++) {
        const Kept *kept = faultworld.snapshot->pdata[i];
        if (kept->octets && g_bytes_equal(kept->octets, octets))
            return true;
    }
    return false;
}

static char *spool_file(const char *queue, const char *name, const char *suffix)
{
    return g_strdup_printf("%s/%s/%s%s", faultworld.spool_path, queue, name, suffix);
}

/* Changes a byte, counted from the end when at is negative. */
static void spoil(const char *path, off_t at, char octet)
{
    auto_fd fd = open(path, O_RDWR | O_CLOEXEC);
    g_assert_cmpint(fd, >=, 0);
    if (at < 0)
        at += lseek(fd, 0, SEEK_END);
    g_assert_cmpint(pwrite(fd, &octet, 1, at), ==, 1);
}

/* Dies in the rename to that suffix. */
static int die_at(const FsEvent *event, void *suffix)
{
    if (event->call == FS_RENAME && g_str_has_suffix(event->to, suffix))
        _exit(0);
    return 0;
}

/* A process that dies in the hop of this one entry, before it is decided or
 * before the first child is published. */
static void die_in_hop(Spool *spool, const char *name, int number)
{
    pid_t pid = fork();
    if (pid == 0) {
        g_autofree char *file = g_strconcat(name, SUFFIX_CLAIMED, NULL);
        Outcome *outcome = outcome_new(entry_open(spool_queue(spool, "in", NULL), file, NULL));
        fault_add_kids(&fault_plans[number], outcome);
        static char decided[] = SUFFIX_DECIDED, published[] = SUFFIX_READY;
        fs_set_hook(die_at, fault_plans[number].fate == UNDONE ? decided : published);
        hop_commit(hop_new(spool), &outcome, 1, NULL);
        _exit(1);
    }
    int status = 1;
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_cmpint(status, ==, 0);
}

/* Brings a stored message into the state that its fate wants. */
static void afflict(Spool *spool, int number, const char *name)
{
    Fate fate = fault_plans[number].fate;
    g_autofree char *ready = spool_file("in", name, SUFFIX_READY);
    if (fate == DAMAGED)
        spoil(ready, -100, '#');
    if (fate == POISON)
        spoil(ready, FORMAT_CRASHES_OFFSET, '3');
    if (fate != POISON && fate != UNDONE && fate != DECIDED)
        return;
    g_autofree char *claimed = spool_file("in", name, SUFFIX_CLAIMED);
    g_assert_cmpint(rename(ready, claimed), ==, 0);
    if (fate != POISON)
        die_in_hop(spool, name, number);
}

/* A child whose parent is nowhere, and what a dead intake left long ago. */
static void add_debris(Spool *spool)
{
    g_autoptr(Draft) stray = fault_message_draft(1);
    char file[FILE_NAME_SIZE];
    uint8_t hash[HASH_SIZE] = {1};
    suffix_tagged(&hand_runner, draft_name(stray), spool_queue(spool, "in", NULL), hash, file);
    close(draft_write(stray, spool_queue(spool, "out", NULL), file, NULL));
    hash[0] = 2;
    EntryName name = {.due = ARRIVAL};
    memcpy(name.hash, hash, HASH_SIZE);
    suffix_file(&name, SUFFIX_TMP, file);
    g_autofree char *path = spool_file("in", file, "");
    g_assert_true(g_file_set_contents(path, "half", -1, NULL));
    g_assert_cmpint(utime(path, &(struct utimbuf){1000000000, 1000000000}), ==, 0);
}

static void fill_in(Spool *spool)
{
    for (int number = 0; number < FAULT_MESSAGES; number++) {
        Intake intake = {.draft = fault_message_draft(number)};
        g_assert_true(intake_store(spool, &intake, 1, false));
        char name[NAME_SIZE];
        name_format(draft_name(intake.draft), name);
        draft_free(intake.draft);
        afflict(spool, number, name);
        faultworld.outside->acknowledged |= 1U << number;
    }
    add_debris(spool);
}

/* ---- without faults ---- */

/* As the skeleton does with an entry that fails. */
static void shunt(Outcome *outcome)
{
    g_ptr_array_set_size(outcome->drafts, 0);
    outcome_add(outcome, draft_from_entry("shunt", outcome->parent));
}

unsigned faultworld_work(Spool *spool, const char *queue)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Inbox) inbox = inbox_open(spool, queue, (Slice){0, 1}, (Wakeup){.polls = true, .poll_us = 1},
                                         &error);
    g_assert_no_error(error);
    g_autoptr(Hop) hop = hop_new(spool);
    g_autoptr(GPtrArray) entries = g_ptr_array_new();
    inbox_claim(inbox, 1000, true, entries, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < entries->len; i++) {
        Outcome *outcome = outcome_new(entries->pdata[i]);
        if (fault_is_poison(outcome->parent)) {
            inbox_preserve(inbox, g_steal_pointer(&outcome->parent), &error);
            outcome_free(outcome);
            continue;
        }
        if (!faultworld_handle(NULL, outcome->parent, outcome, &error)) {
            bool never = g_error_matches(error, FAIL, FAIL_NEVER);
            g_clear_error(&error);
            if (!never) {
                inbox_release(inbox, g_steal_pointer(&outcome->parent), 0, &error);
                outcome_free(outcome);
                continue;
            }
            shunt(outcome);
        }
        hop_commit(hop, &outcome, 1, &error);
        g_assert_no_error(error);
        g_assert_no_error(outcome->error);
        outcome_free(outcome);
    }
    hop_settle(hop, &error);
    g_assert_no_error(error);
    return entries->len;
}

Spool *faultworld_spool(void)
{
    g_autoptr(GError) error = NULL;
    Spool *spool = spool_open(faultworld.spool_path, &error);
    g_assert_no_error(error);
    return spool;
}

void faultworld_prepare(const char *phase)
{
    static const char *const order[] = {"in", "out", "retry", "archive"};
    wipe();
    *faultworld.outside = (FaultOutside){0};
    faultworld_set_clock("0");
    g_ptr_array_set_size(faultworld.snapshot, 0);
    if (strcmp(phase, "intake") != 0) {
        g_autoptr(Spool) spool = faultworld_spool();
        fill_in(spool);
        for (size_t i = 0; strcmp(phase, order[i]) != 0; i++)
            faultworld_work(spool, order[i]);
    }
    faultworld_walk(faultworld.spool_path, keep_one);
    faultworld.outside_then = *faultworld.outside;
}
