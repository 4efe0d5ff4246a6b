/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Append mails to an mbox so that each is there exactly once, across kill -9 and power loss. Beside NAME.mbox there are
 * two files. NAME.mbox.index has one line of fixed length for each mail that was appended, and a mark, "until TIME",
 * after each append:
 *
 *   4cd1b2...(40 digits) 000000012345 0000006789\n    key, offset, length
 *   until 1764000000123456   (blanks) 000000019134 0000000000\n
 *
 * No mail above the mark arrived after that time. A search for a mail goes up from the end, and stops at the first mark
 * whose time is before the mail's arrival.
 *
 * NAME.mbox.intent describes the append in progress or the last one:
 *
 *   listrunner mbox 1 P INODE OFFSET LENGTH INDEX COUNT SHA1\n
 *   the COUNT index lines, the mark among them\n
 *   SHA-1 of all the above, with P for the state\n
 *
 * The steps of an append, under a fcntl lock on the mbox:
 *   1  intent written, synced (the first time with the directory: who made the files may have died before that)
 *                                                  (mbox_file_begin)
 *   2  mbox and index appended to, synced together  (mbox_file_append)
 *   3  intent's state byte set to C, not synced    (mbox_file_end)
 *
 * Recovery, whenever the lock is taken and the state is P: the region of the mbox that the intent names is hashed. If
 * the hash is the recorded one, the append is whole. Its bytes and, with the index cut to INDEX, its lines are written
 * again, since a sync of them may have failed. Else the append is torn: both files are cut to where it began, and
 * synced before the state is C. The mbox is cut only if it is the same file and does not reach beyond our own region:
 * whatever another program wrote is never cut. An intent whose own SHA-1 is wrong was never synced, so nothing was
 * appended.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MBOX_KEY_LENGTH 40

typedef struct MboxFile MboxFile;

/* Open or make NAME.mbox and its companions in the directory. */
MboxFile *mbox_file_open(int dir_fd, const char *name, GError **error);
void mbox_file_free(MboxFile *file); /* gives up the lock */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MboxFile, mbox_file_free)

/* Take the lock and recover. A file that another program put in the place of the mbox meanwhile is locked instead.
 * FAIL_RACE when another program still has the lock after wait_us. */
bool mbox_file_lock(MboxFile *file, int64_t wait_us, GError **error);
/* Return whether the lock is held. */
bool mbox_file_locked(const MboxFile *file);

typedef struct MboxKey {
    const char *text; /* MBOX_KEY_LENGTH bytes */
    int64_t arrival;
    bool again;       /* the mail may have been stored since the file was opened, so later lines are searched, too */
} MboxKey;

/* Look whether a mail of this key was appended before, or was added since. Take the lock first. */
bool mbox_file_knows(MboxFile *file, const MboxKey *key, bool *known, GError **error);

/* Add a mail, complete with From_ line and the empty line behind it, to the append to come. */
void mbox_file_add(MboxFile *file, const MboxKey *key, const char *octets, size_t length);
size_t mbox_file_pending(const MboxFile *file); /* bytes added and not appended yet */

/* Take the three steps of an append, in this order. After begin() and after append(), the caller syncs the files that
 * mbox_file_syncs() adds to a group. After a failure of a step or a sync, call mbox_file_abandon(). end() gives up the
 * lock. */
bool mbox_file_begin(MboxFile *file, GError **error);
bool mbox_file_append(MboxFile *file, GError **error);
void mbox_file_end(MboxFile *file);
void mbox_file_syncs(const MboxFile *file, GArray *group); /* of FsSync */

/* Drop what was added and the lock; the next lock recovers. */
void mbox_file_abandon(MboxFile *file);
