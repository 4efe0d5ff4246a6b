/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/slices.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"

typedef struct Rig {
    char *spool;
    int dir;
} Rig;

static void set_up(Rig *rig, gconstpointer data)
{
    rig->spool = g_dir_make_tmp("slices-XXXXXX", NULL);
    rig->dir = slices_open_dir(rig->spool, NULL);
    g_assert_cmpint(rig->dir, >=, 0);
}

static void tear_down(Rig *rig, gconstpointer data)
{
    unlinkat(rig->dir, "in.slices", 0);
    unlinkat(rig->dir, "lock", 0);
    close(rig->dir);
    g_autofree char *inner = g_build_filename(rig->spool, ".master", NULL);
    g_rmdir(inner);
    g_assert_cmpint(g_rmdir(rig->spool), ==, 0);
    g_free(rig->spool);
}

static void expect_busy(Rig *rig, unsigned instance, unsigned instances)
{
    g_autoptr(GError) error = NULL;
    g_assert_cmpint(slices_take(rig->dir, "in", instance, instances, &error), ==, -1);
    g_assert_error(error, FAIL, FAIL_RACE);
}

static void test_overlap(Rig *rig, gconstpointer data)
{
    auto_fd held = slices_take(rig->dir, "in", 1, 4, NULL);
    g_assert_cmpint(held, >=, 0);
    expect_busy(rig, 1, 4);
    expect_busy(rig, 0, 1);
    expect_busy(rig, 0, 2);
    expect_busy(rig, 3, 8);
    expect_busy(rig, 127, 256);
    auto_fd beside = slices_take(rig->dir, "in", 1, 2, NULL);
    g_assert_cmpint(beside, >=, 0);
    auto_fd before = slices_take(rig->dir, "in", 63, 256, NULL);
    g_assert_cmpint(before, >=, 0);
}

/* A process that holds a slice as a child does. */
static pid_t fork_owner(Rig *rig, unsigned instance, unsigned instances, bool keep_lock, bool deaf)
{
    int fd = slices_take(rig->dir, "in", instance, instances, NULL);
    g_assert_cmpint(fd, >=, 0);
    int ready[2];
    g_assert_cmpint(pipe(ready), ==, 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (deaf)
            signal(SIGTERM, SIG_IGN);
        bool good = slices_sign(fd, instance, instances);
        if (!keep_lock)
            close(fd);
        ssize_t written = good ? write(ready[1], "", 1) : 0;
        close(ready[1]);
        for (;;)
            if (written >= 0)
                pause();
    }
    close(fd);
    close(ready[1]);
    char octet;
    g_assert_cmpint(read(ready[0], &octet, 1), ==, 1);
    close(ready[0]);
    return pid;
}

static void end_owner(pid_t pid)
{
    kill(pid, SIGKILL);
    g_assert_cmpint(waitpid(pid, NULL, 0), ==, pid);
}

/* The test is skipped where owners cannot be looked at. */
static bool skips(void)
{
    if (g_getenv("LISTRUNNER_VALGRIND"))
        g_test_skip("valgrind knows no pidfd_open()");
    return g_getenv("LISTRUNNER_VALGRIND") != NULL;
}

static guint owners_of(Rig *rig, unsigned instance, unsigned instances, pid_t expected)
{
    g_autoptr(GPtrArray) owners = slices_owners(rig->dir, "in", instance, instances);
    if (owners->len > 0)
        g_assert_cmpint(((SliceOwner *)g_ptr_array_index(owners, 0))->pid, ==, expected);
    return owners->len;
}

/* The lock outlives who took it, and ends with who inherited it. */
static void test_inherited(Rig *rig, gconstpointer data)
{
    if (skips())
        return;
    pid_t pid = fork_owner(rig, 2, 4, true, false);
    expect_busy(rig, 1, 2);
    g_assert_cmpuint(owners_of(rig, 0, 1, pid), ==, 1);
    g_assert_cmpuint(owners_of(rig, 5, 8, pid), ==, 1);
    g_assert_cmpuint(owners_of(rig, 0, 2, pid), ==, 0);
    g_assert_cmpuint(owners_of(rig, 3, 4, pid), ==, 0);
    end_owner(pid);
    auto_fd free_now = slices_take(rig->dir, "in", 0, 1, NULL);
    g_assert_cmpint(free_now, >=, 0);
    g_assert_cmpuint(owners_of(rig, 0, 1, 0), ==, 0);
}

static void test_record_without_lock(Rig *rig, gconstpointer data)
{
    if (skips())
        return;
    pid_t pid = fork_owner(rig, 0, 2, false, false);
    auto_fd lock = slices_take(rig->dir, "in", 0, 1, NULL);
    g_assert_cmpint(lock, >=, 0); /* the lock is free ... */
    g_assert_cmpuint(owners_of(rig, 0, 1, pid), ==, 1); /* ... but the owner is not */
    end_owner(pid);
}

/* A record of this very process with another start time, another boot, or
 * with rubbish in it, is nobody. */
static void test_stale_records(Rig *rig, gconstpointer data)
{
    if (skips())
        return;
    auto_fd fd = slices_take(rig->dir, "in", 0, 1, NULL);
    g_assert_true(slices_sign(fd, 0, 1));
    char good[SLICES_RECORD];
    g_assert_cmpint(pread(fd, good, sizeof good, 0), ==, sizeof good);
    g_assert_cmpint(good[SLICES_RECORD - 1], ==, '\n');
    g_assert_cmpuint(owners_of(rig, 0, 1, getpid()), ==, 1);
    g_autofree char *text = g_strndup(good, sizeof good);
    g_auto(GStrv) words = g_strsplit(text, " ", 4);
    g_autofree char *later = g_strdup_printf("%s %s1 %s 1", words[0], words[1], words[2]);
    g_autofree char *boot = g_strdup_printf("%s %s 00000000-0000-0000-0000-000000000000 1", words[0], words[1]);
    g_autofree char *everybody = g_strdup_printf("-1 %s %s 1", words[1], words[2]);
    g_autofree char *none = g_strdup_printf("%s %s %s 0", words[0], words[1], words[2]);
    const char *const bad[] = {later, boot, everybody, none, "rubbish", "1 2 3 4"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        char record[SLICES_RECORD];
        memset(record, ' ', sizeof record);
        memcpy(record, bad[i], strlen(bad[i]));
        g_assert_cmpint(pwrite(fd, record, sizeof record, 0), ==, sizeof record);
        g_assert_cmpuint(owners_of(rig, 0, 1, 0), ==, 0);
    }
}

static void test_orphans_end(Rig *rig, gconstpointer data)
{
    if (skips())
        return;
    pid_t polite = fork_owner(rig, 0, 2, true, false);
    pid_t deaf = fork_owner(rig, 1, 2, true, true);
    int64_t before = g_get_monotonic_time();
    slices_end_orphans(rig->dir, 300000);
    int64_t took = g_get_monotonic_time() - before;
    g_assert_cmpint(took, >=, 300000);
    g_assert_cmpint(took, <, 60000000);
    int status;
    g_assert_cmpint(waitpid(polite, &status, WNOHANG), ==, polite);
    g_assert_cmpint(WTERMSIG(status), ==, SIGTERM);
    g_assert_cmpint(waitpid(deaf, &status, WNOHANG), ==, deaf);
    g_assert_cmpint(WTERMSIG(status), ==, SIGKILL);
}

/* A process lock does not stop its own process, so the holder is another. */
static void test_one_master(Rig *rig, gconstpointer data)
{
    int ready[2];
    g_assert_cmpint(pipe(ready), ==, 0);
    pid_t pid = fork();
    if (pid == 0) {
        int fd = slices_lock_spool(rig->dir, rig->spool, NULL);
        ssize_t written = fd >= 0 ? write(ready[1], "", 1) : 0;
        close(ready[1]);
        for (;;)
            if (written >= 0)
                pause();
    }
    close(ready[1]);
    char octet;
    g_assert_cmpint(read(ready[0], &octet, 1), ==, 1);
    close(ready[0]);
    g_autoptr(GError) error = NULL;
    g_assert_cmpint(slices_lock_spool(rig->dir, rig->spool, &error), ==, -1);
    g_assert_error(error, FAIL, FAIL_RACE);
    g_autofree char *words = g_strdup_printf("pid %ld on %s since 2", (long)pid, g_get_host_name());
    g_assert_nonnull(strstr(error->message, words));
    end_owner(pid);
    auto_fd mine = slices_lock_spool(rig->dir, rig->spool, NULL);
    g_assert_cmpint(mine, >=, 0);
}

/* No master works on a spool that is half restored. */
static void test_restoring(Rig *rig, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *restoring = g_build_filename(rig->spool, ".restoring", NULL);
    g_assert_true(g_file_set_contents(restoring, "", 0, NULL));
    g_assert_cmpint(slices_lock_spool(rig->dir, rig->spool, &error), ==, -1);
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_assert_cmpint(g_unlink(restoring), ==, 0);
    auto_fd mine = slices_lock_spool(rig->dir, rig->spool, NULL);
    g_assert_cmpint(mine, >=, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/slices/overlap", Rig, NULL, set_up, test_overlap, tear_down);
    g_test_add("/slices/inherited", Rig, NULL, set_up, test_inherited, tear_down);
    g_test_add("/slices/record-without-lock", Rig, NULL, set_up, test_record_without_lock, tear_down);
    g_test_add("/slices/stale-records", Rig, NULL, set_up, test_stale_records, tear_down);
    g_test_add("/slices/orphans-end", Rig, NULL, set_up, test_orphans_end, tear_down);
    g_test_add("/lock/one-master", Rig, NULL, set_up, test_one_master, tear_down);
    g_test_add("/lock/restoring", Rig, NULL, set_up, test_restoring, tear_down);
    return g_test_run();
}
