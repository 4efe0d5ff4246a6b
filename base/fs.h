/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Create, write, rename, unlink and sync files that must survive a power cut. No other file of the tree does, so that
 * tests can record these calls or make them fail (fs_set_hook).
 *
 * Directories are given as open descriptors and files by their plain names. Every rename stays inside one directory.
 * The result of every sync is checked. A failed sync is never repeated as if it had not happened: the caller gives up
 * the files concerned and starts over with new ones, or writes their bytes once more before the next sync.
 *
 * All functions retry after EINTR and short writes. An error is FAIL_LATER (the system's fault) unless stated
 * otherwise, and names the file.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Open a directory for the calls below. With create, first make it if it is missing (mode 0750), and sync the parent
 * either way. fs_open_dir_unsynced() also makes it; it becomes durable with a later sync of the parent. Return the
 * descriptor, or -1; FAIL_MISSING when there is no such directory. */
int fs_open_dir(int parent_fd, const char *path, bool create, GError **error);
int fs_open_dir_unsynced(int parent_fd, const char *path, GError **error);

/* Create a file for reading and writing, mode 0640. Return the descriptor, or -1; FAIL_EXISTS when there is one. */
int fs_create(int dir_fd, const char *name, GError **error);

/* Open an existing regular file. Return the descriptor, or -1: FAIL_NEVER for a symbolic link, device or FIFO,
 * FAIL_MISSING when there is no such file. */
int fs_open(int dir_fd, const char *name, bool writable, GError **error);

/* Write all bytes at the place where the file stands, in pieces (which are changed), or at offset. False: some of them
 * may have been written. */
bool fs_write(int fd, const void *data, size_t length, GError **error);
bool fs_writev(int fd, struct iovec *pieces, int count, GError **error);
bool fs_pwrite(int fd, const void *data, size_t length, off_t offset, GError **error);
bool fs_truncate(int fd, off_t length, GError **error);

/* Rename within one directory. When the new name is taken, fs_rename() replaces that file, and fs_rename_new() fails
 * with FAIL_EXISTS and changes nothing. FAIL_MISSING: the old name is gone. FAIL_NEVER: the file is immutable. */
bool fs_rename(int dir_fd, const char *from, const char *to, GError **error);
bool fs_rename_new(int dir_fd, const char *from, const char *to, GError **error);

/* Make a file with these bytes unless there is one of that name. It is whole and synced before it has its name, so that
 * of several processes that do so at once all read the same bytes afterwards. */
bool fs_keep_once(int dir_fd, const char *name, mode_t mode, const void *data, size_t length, GError **error);

/* Unlink a file. FAIL_MISSING when there is none, FAIL_NEVER when it is a directory or immutable. */
bool fs_unlink(int dir_fd, const char *name, GError **error);

bool fs_sync_file(int fd, GError **error); /* data and size */
bool fs_sync_dir(int fd, GError **error); /* fails, too, when the file system has shut down */

/* One member of a group of syncs. */
typedef struct FsSync {
    int fd;
    bool directory;
    void *owner; /* for the caller */
    int result;  /* out: 0, or the errno of this member's sync */
} FsSync;

/* Sync a group concurrently and in any order, so that the file system can put them into one commit. Returns true when
 * all succeeded. Else each member's result says how it went, and error is that of the first that failed. A process
 * that was forked from one that had threads for this syncs one member after the other. */
bool fs_sync_group(FsSync *group, size_t count, GError **error);

/* Begin to sync a group, for a caller that has other work meanwhile; then call fs_sync_end() once. Until then the group
 * and its descriptors are borrowed. */
typedef struct FsSyncing FsSyncing;
FsSyncing *fs_sync_begin(FsSync *group, size_t count);
/* Wait until all members of the group are synced, and free syncing. Return true or fail as fs_sync_group() does. *took
 * is the time in microseconds from the begin until the last member was synced. */
bool fs_sync_end(FsSyncing *syncing, int64_t *took, GError **error);

/* From now on make fs_sync_group() call syncfs() once in place of one fsync() for each member. Sensible only where the
 * spool has a file system of its own; all members of a group must be on it. */
void fs_use_syncfs(bool use);

/* Close a file that has no name any more. The file system then frees its blocks and may wait for its journal. So a
 * thread closes the file, unless too many files wait for that thread already, or a fork left this process without
 * it. */
void fs_close_gone(int fd);

/* Unlink a file as fs_unlink() does, and free its blocks as fs_close_gone() does if that was its last name. */
bool fs_unlink_gone(int dir_fd, const char *name, GError **error);

/* Return how many files to hold open at a time: as many as wanted, but at most 1/part of what the system allows this
 * process, and at least one. */
size_t fs_files_allowed(size_t wanted, unsigned part);

/* Return the names in a directory, sorted by their bytes, without those that begin with a dot: none where there is no
 * such directory. The array frees its texts. */
GPtrArray *fs_names(const char *path, GError **error);

/* Announce that count files will be open at a time, so that the system sizes its table of descriptors at once. Call it
 * before there are threads: growing a shared table takes ten milliseconds and more at each doubling. */
void fs_expect_files(size_t count);

/* Set *octets to the bytes that an unprivileged process may still write on the file system of fd; 0 when fewer than 100
 * inodes are free. */
bool fs_free_space(int fd, uint64_t *octets, GError **error);

/* Remove a directory with all that is in it, or a file; it may be missing. Nothing is synced. FAIL_LATER, and the names
 * that could not be removed stay. */
bool fs_remove_tree(const char *path, GError **error);

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

/* For tests: set a function that is called before each call that changes or syncs something. When it returns an errno
 * other than 0, the call is not made and fails with that. NULL removes it. While a hook is set, the members of a group
 * are synced one by one, in order. */
typedef int FsHook(const FsEvent *event, void *data);
void fs_set_hook(FsHook *hook, void *data);

/* ---- known faults of file systems ---- */

/* The faults that the file system below a directory may be known to have: btrfs without the mount option notreelog
 * (t/switchboard/PROOF.md, "Power cuts and storms"), or a file system that hosts share. Linux only; where the system
 * does not tell how the directory is mounted, nothing is known. Results are g_free()'d; NULL: nothing is known to be
 * wrong. */

/* Return the fault of the file system below path, as a sentence for people. */
char *mount_fault(const char *path);
/* Return the fault of the file system below path only when it is one that hosts share, as a sentence for people. */
char *mount_network_fault(const char *path);

/* Return the fault of the mount with this identity (the first field of its line) by a text in the form of
 * /proc/self/mountinfo. With network_only, do as mount_network_fault() does, else as mount_fault(). path is only for
 * the sentence. For tests, too. */
char *mount_fault_in(const char *mountinfo, uint64_t mount, const char *path, bool network_only);
