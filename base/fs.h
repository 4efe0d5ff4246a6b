/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Durable file calls: the only place in the tree that creates, writes,
 * renames, unlinks or syncs files that must survive a power cut. Whoever
 * wants to record, replay or fail these calls has one file to look at
 * (fs_set_hook).
 *
 * Rules: directories are named by open descriptors, entries by plain names;
 * every rename stays inside one directory; the result of every sync is
 * checked, and a failed sync is never repeated as if it had not happened: the
 * caller gives up the files concerned and starts over with new ones, or writes
 * the octets once more before the next sync.
 *
 * All functions retry EINTR and short writes, set error with FAIL_LATER (the
 * system's fault) unless said otherwise, and name the file in it.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Opens a directory for the calls below; -1 on failure (FAIL_MISSING when
 * there is none). With create, makes it first where it is missing (mode 0750), and
 * syncs the parent in any case. fs_open_dir_unsynced makes it, too; it is durable with a later sync of the parent. */
int fs_open_dir(int parent_fd, const char *path, bool create, GError **error);
int fs_open_dir_unsynced(int parent_fd, const char *path, GError **error);

/* Creates name for reading and writing, mode 0640. Fails with FAIL_EXISTS when
 * it exists. */
int fs_create(int dir_fd, const char *name, GError **error);

/* Opens an existing regular file, never through a symbolic link, never a
 * device or FIFO (those fail with FAIL_NEVER); FAIL_MISSING when it is gone. */
int fs_open(int dir_fd, const char *name, bool writable, GError **error);

bool fs_write(int fd, const void *data, size_t length, GError **error);
bool fs_writev(int fd, struct iovec *pieces, int count, GError **error); /* consumes pieces */
bool fs_pwrite(int fd, const void *data, size_t length, off_t offset, GError **error);
bool fs_truncate(int fd, off_t length, GError **error);

/* Renames within one directory. fs_rename_new fails with FAIL_EXISTS when the
 * new name is taken and changes nothing then; fs_rename replaces. Both fail
 * with FAIL_MISSING when the old name is gone, with FAIL_NEVER when the file is in the
 * way itself (immutable). */
bool fs_rename(int dir_fd, const char *from, const char *to, GError **error);
bool fs_rename_new(int dir_fd, const char *from, const char *to, GError **error);

/* FAIL_MISSING when there is none, FAIL_NEVER for a directory and what is immutable. */
bool fs_unlink(int dir_fd, const char *name, GError **error);

bool fs_sync_file(int fd, GError **error); /* data and size */
bool fs_sync_dir(int fd, GError **error); /* fails, too, when the file system has shut down */

/* One member of a group of syncs. */
typedef struct FsSync {
    int fd;
    bool directory;
    int result; /* out: 0, or the errno of this member's sync */
} FsSync;

/* Syncs a group, in no particular order and concurrently, so that the file
 * system can put them into one commit. True when every one succeeded; else
 * each member's result tells and error holds the first. */
bool fs_sync_group(FsSync *group, size_t count, GError **error);

/* The same in two steps, for a caller that has something else to do meanwhile. The group and its descriptors are
 * borrowed until the end, which must come once; *took is then the time, us, from the begin until the last member was
 * synced. */
typedef struct FsSyncing FsSyncing;
FsSyncing *fs_sync_begin(FsSync *group, size_t count);
bool fs_sync_end(FsSyncing *syncing, int64_t *took, GError **error);

/* One syncfs() for the file system of fd, where fs_use_syncfs(true) was
 * said: fs_sync_group then costs one call, for a group on one file system. Only where the spool has one of its own. */
void fs_use_syncfs(bool use);

/* Closes a file that has no name any more. The file system frees its blocks then, and waits for the journal to do so: a
 * thread takes that upon itself, unless too many wait for it already. */
void fs_close_gone(int fd);

/* fs_unlink() of a file that nobody needs any more, closed as by fs_close_gone() if this was its last name. */
bool fs_unlink_gone(int dir_fd, const char *name, GError **error);

/* How many files to hold open at a time: as many as wanted, but no more than one part-th of what the system allows this
 * process. At least one. */
size_t fs_files_allowed(size_t wanted, unsigned part);

/* So many files will be open at a time: the system makes its table of them as large at once. To be said before there
 * are threads: a table that grows while it is shared costs the process ten milliseconds and more at each doubling, in
 * whatever call was about to open something. */
void fs_expect_files(size_t count);

/* Octets that an unprivileged process may still write there; free inodes
 * fewer than 100 count as no space. */
bool fs_free_space(int fd, uint64_t *octets, GError **error);

/* The calls a hook sees, in order, before they are carried out. */
typedef enum FsCall {
    FS_CREATE, FS_WRITE, FS_PWRITE, FS_TRUNCATE, FS_RENAME, FS_UNLINK, FS_MAKE_DIR, FS_SYNC_FILE, FS_SYNC_DIR,
} FsCall;

typedef struct FsEvent {
    FsCall call;
    int fd;           /* the file, or the directory for names */
    const char *name; /* create, rename (old), unlink, make a directory, which may be there; else NULL */
    const char *to;   /* rename */
    bool replaces;    /* rename: another file of that name goes */
    const void *data; /* write, pwrite */
    size_t length;
    off_t offset;     /* pwrite; truncate: the new length */
} FsEvent;

/* For tests: called before each call that changes or syncs something; a non-zero return
 * is an errno, and the call fails with it instead of being made. NULL
 * removes it. Group syncs run one by one, in order, while a hook is set. */
typedef int FsHook(const FsEvent *event, void *data);
void fs_set_hook(FsHook *hook, void *data);
