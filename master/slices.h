/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep who owns a spool and its slices, in a way that outlives the master.
 *
 * A spool has one master at a time, by a process lock on the file `lock` in SPOOL/.master. Its text says who holds the
 * lock. The kernel frees the lock when the master ends in whatever way; children do not inherit it. The file is never
 * removed.
 *
 * SPOOL/.master/QUEUE.slices has SLICES_FINEST lockable
 * bytes; instance i of N owns the bytes from i * 256 / N on, 256 / N of them. The lock belongs to an open file
 * description that the child inherits, so it ends with the child and not with the master. The file's text has a record
 * for each first byte: pid, start time and boot of the owner, and the count N that it was started with. By the first
 * three the owner is found, and told apart from a later process of the same pid.
 *
 * Example: instance 1 of 4 locks bytes 64 .. 127, and its record, at offset
 * 64 * SLICES_RECORD, reads "4711 8832193 0d1c67f2-... 4", blanks, line end.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SLICES_FINEST 256
#define SLICES_RECORD 128

/* A living process that wrote its record for a range (slices_sign()). */
typedef struct SliceOwner {
    char *queue;
    unsigned first; /* byte */
    pid_t pid;
    int pidfd; /* closed when the array is freed */
} SliceOwner;

/* Open, and make if needed, SPOOL/.master; -1 on failure. */
int slices_open_dir(const char *spool, GError **error);

/* Take the lock of the spool and write pid, host and start time. dir_fd is that of slices_open_dir(), here and below.
 * Return the descriptor, to be kept open. -1 with FAIL_RACE: another master has the lock, and the message has the text
 * of the file. -1 with FAIL_CONFIG: a restore of the spool is not finished. The process must not open the file a second
 * time: closing any descriptor of it frees the lock. */
int slices_lock_spool(int dir_fd, const char *spool, GError **error);

/* Lock the range of this instance out of so many. Returns the descriptor that holds the lock, close-on-exec; the child
 * must be given a copy. -1: FAIL_RACE, another holds the lock; FAIL_LATER, the file cannot be opened or locked. */
int slices_take(int dir_fd, const char *queue, unsigned instance, unsigned instances, GError **error);

/* In the child, after fork, write its record into the file of the lock, whose descriptor is fd. Async-signal-safe.
 * False: the record cannot be written (the disk is full), which hurts nobody, because the lock counts. */
bool slices_sign(int fd, unsigned instance, unsigned instances);

/* Return the living owners, by their records, whose range overlaps that of this instance out of so many. Array of
 * SliceOwner, which frees them and closes their pidfd; empty when there is none. */
GPtrArray *slices_owners(int dir_fd, const char *queue, unsigned instance, unsigned instances);

/* End the children of a master that was killed, which hold slices and listening sockets until they notice. Send
 * SIGTERM to every living owner of a slice, and SIGKILL to those that are left after timeout (us). Block until the last
 * one that can be ended is gone, at most 5 s after SIGKILL. Return earlier when SIGTERM or SIGINT is pending for this
 * process, which the caller has blocked before. A process that cannot be signalled is logged and left. */
void slices_end_orphans(int dir_fd, int64_t timeout);
