/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The proof of crash_states-t for mailboxes: every state that a power cut can leave of runs of archive, of its queue
 * and of the mailboxes with their directories. Then each sync of the archivers is left out, and steps change places.
 */
#include <fcntl.h>
#include <string.h>

#include "base/auto.h"
#include "base/fs.h"
#include "t/runners/archive/crashmailbox.h"
#include "t/switchboard/crashproof.h"

#define ALL ((Slice){0, 1})

static void store(CrashWorld *world, int first, int second)
{
    int posts[] = {first, second};
    crashmailbox_store(world, posts, second < 0 ? 1 : 2);
}

static void run(CrashWorld *world, unsigned posts)
{
    unsigned worked = 0;
    g_assert_true(crashmailbox_run(world, ALL, &worked));
    g_assert_cmpuint(worked, ==, posts);
}

static void run_and_die(CrashWorld *world, const char *text, int further)
{
    unsigned worked = 0;
    crashlog_die_at(world->log, text, further);
    g_assert_false(crashmailbox_run(world, ALL, &worked));
    world->log->die_in = -1;
}

/* A mailbox that is made, then one more post in it. */
static void new_and_known(CrashWorld *world, const char *type)
{
    crashmailbox_use(world, type);
    crashmailbox_batch = 1;
    store(world, 0, 2);
    crashlog_begin(world->log);
    run(world, 2);
}

/* Two posts in one batch, of one list or of two. */
static void batch(CrashWorld *world, const char *type, int second)
{
    crashmailbox_use(world, type);
    store(world, 0, second);
    crashlog_begin(world->log);
    run(world, 2);
}

/* The runner dies there, and the next one goes on. */
static void die_and_go_on(CrashWorld *world, const char *type, const char *text, int further)
{
    crashmailbox_use(world, type);
    store(world, 0, -1);
    crashlog_begin(world->log);
    run_and_die(world, text, further);
    crashlog_begin_changes(world->log);
    run(world, 1);
}

/* A sync fails; the batch comes again, one post at a time. */
static void fail_once(CrashWorld *world, const char *type, FsCall call, int number)
{
    crashmailbox_use(world, type);
    store(world, 0, -1);
    run(world, 1);
    store(world, 2, -1);
    crashlog_begin(world->log);
    world->log->fail_call = call;
    world->log->fail_in = number;
    run(world, 2);
}

static void maildir(CrashWorld *world)
{
    new_and_known(world, "maildir");
}

static void maildir_batch(CrashWorld *world)
{
    batch(world, "maildir", 2);
}

/* It is in new, and perhaps not on the disk. */
static void maildir_killed(CrashWorld *world)
{
    die_and_go_on(world, "maildir", "sync dir box/a.example.com/new", 0);
}

static void maildir_failed(CrashWorld *world)
{
    fail_once(world, "maildir", FS_SYNC_FILE, 0);
}

/* Another program moves what is new to cur, and does not sync that. */
static void read_mail(CrashWorld *world)
{
    g_autofree char *path = g_build_filename(world->path, "box/a.example.com", NULL);
    g_autofree char *new = g_build_filename(path, "new", NULL);
    g_autoptr(GDir) list = g_dir_open(new, 0, NULL);
    const char *name = g_dir_read_name(list);
    g_autofree char *from = g_strconcat("new/", name, NULL), *to = g_strconcat("cur/", name, ":2,S", NULL);
    auto_fd fd = fs_open_dir(AT_FDCWD, path, false, NULL);
    crashlog_note(world->log, (CrashNotes){.tried = 1});
    g_assert_true(fs_rename(fd, from, to, NULL));
}

/* It was read before its entry ended; the next runner must know it in cur. */
static void maildir_read(CrashWorld *world)
{
    crashmailbox_between = read_mail;
    die_and_go_on(world, "maildir", "unlink archive .bak", 0);
}

static void read_and_sync(CrashWorld *world)
{
    read_mail(world);
    g_autofree char *path = g_build_filename(world->path, "box/a.example.com/cur", NULL);
    auto_fd fd = fs_open_dir(AT_FDCWD, path, false, NULL);
    world->log->aside = true;
    g_assert_true(fs_sync_dir(fd, NULL));
}

/* The same in a process that lives: should the entry come back, it is known in cur. */
static void maildir_read_early(CrashWorld *world)
{
    crashmailbox_use(world, "maildir");
    crashmailbox_batch = 1;
    store(world, 0, 2);
    crashmailbox_between = read_and_sync;
    crashlog_begin(world->log);
    run(world, 2);
}

static void maildir_read_last(CrashWorld *world)
{
    crashmailbox_use(world, "maildir");
    store(world, 0, -1);
    crashmailbox_between = read_and_sync;
    crashlog_begin(world->log);
    run(world, 1);
}

static void mbox(CrashWorld *world)
{
    new_and_known(world, "mbox");
}

static void mbox_batch(CrashWorld *world)
{
    batch(world, "mbox", 2);
}

static void mbox_two(CrashWorld *world)
{
    batch(world, "mbox", 1);
}

/* The first list's mbox is flushed in the midst of the batch. */
static void mbox_busy(CrashWorld *world)
{
    crashmailbox_busy = true;
    mbox_two(world);
    crashmailbox_busy = false;
}

static void mbox_full(CrashWorld *world)
{
    crashmailbox_full = true;
    mbox_batch(world);
    crashmailbox_full = false;
}

static void mbox_killed(CrashWorld *world)
{
    die_and_go_on(world, "mbox", "sync file box .mbox", 0);
}

/* Its files were made, and perhaps are not on the disk. */
static void mbox_killed_early(CrashWorld *world)
{
    die_and_go_on(world, "mbox", "sync file box .intent", 0);
}

static void die_now(CrashWorld *world)
{
    world->log->die_in = 0;
}

/* A power cut took half of the post and left the index: all is undone before the post comes again. */
static void tear(CrashWorld *world)
{
    crashmailbox_use(world, "mbox");
    store(world, 0, 2);
    crashmailbox_batch = 1;
    crashmailbox_between = die_now; /* and is charged no crash: of those an entry has three */
    world->log->fail_call = FS_SYNC_FILE;
    world->log->fail_in = 1;
    run_and_die(world, "", 0);
    g_autofree char *path = g_build_filename(world->path, "box/a.example.com.mbox", NULL);
    auto_fd fd = fs_open(AT_FDCWD, path, true, NULL);
    g_assert_true(fs_truncate(fd, 300, NULL));
    crashlog_begin(world->log);
}

static void mbox_torn(CrashWorld *world)
{
    tear(world);
    run(world, 2);
}

/* The one that undoes it dies before that is on the disk. */
static void mbox_torn_killed(CrashWorld *world)
{
    tear(world);
    run_and_die(world, "truncate box .index", 1);
    world->worn = true;
    run(world, 2);
}

static void mbox_failed(CrashWorld *world)
{
    fail_once(world, "mbox", FS_SYNC_FILE, 1);
}

static void mbox_failed_in_the_index(CrashWorld *world)
{
    fail_once(world, "mbox", FS_SYNC_FILE, 2);
}

static const Script scripts[] = {
    {"maildir", maildir, 4},
    {"maildir batch", maildir_batch, 20},
    {"maildir killed", maildir_killed, 4},
    {"maildir read", maildir_read, 4},
    {"maildir read early", maildir_read_early, 4},
    {"maildir read last", maildir_read_last, 4},
    {"maildir failed", maildir_failed, 4},
    {"mbox", mbox, 4},
    {"mbox batch", mbox_batch, 4},
    {"mbox, two lists", mbox_two, 4},
    {"mbox, one is locked", mbox_busy, 4},
    {"mbox, much to append", mbox_full, 4},
    {"mbox killed", mbox_killed, 4},
    {"mbox killed early", mbox_killed_early, 4},
    {"mbox torn", mbox_torn, 4},
    {"mbox torn, killed", mbox_torn_killed, 4},
    {"mbox failed", mbox_failed, 4},
    {"mbox failed in the index", mbox_failed_in_the_index, 4},
};

int main(int argc, char **argv)
{
    return crashproof_main(argc, argv, &(CrashProgram){"/crash states of mailboxes", scripts, G_N_ELEMENTS(scripts),
                                                       crashmailbox_init, crashmailbox_clear, NULL});
}
