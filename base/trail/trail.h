/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep the trail: what the log says about each mail. Its files together have a fixed size, and all lines about one mail
 * are found in milliseconds. A line is about a mail when it begins with the mail's trace, 12 digits of an entry's name
 * (switchboard/entry.h); base/log.h hands those on. A line may have up to three keys by which it is found:
 *
 *   the trace                                         37b968e27c1b
 *   message-id=... in the line, without brackets      cats-246@example.net
 *   list=... with post=... in the line                cats.lists.example.com#247
 *
 * Lines wait in memory until there are TRAIL_BLOCK bytes of them, or the oldest has waited TRAIL_WAIT; then they are
 * compressed and appended as one block to the newest file by one write, so several processes may share the files. A
 * process that is killed takes the lines with it that wait; the log has them. Trouble with the files stops nothing: the
 * lines wait and writing is tried again every TRAIL_WAIT; when TRAIL_BLOCK bytes wait, all but the newest are given up.
 *
 * A file is NUMBER.trail. A new one is begun at a sixteenth of the size of all, or TRAIL_FILE_MOST; what is too much,
 * or older than is to be kept, is removed, the oldest first. Beside a file of which nothing more is written may lie
 * NUMBER.keys, its keys in order; it is made by trail_tidy(), and only saves time.
 *
 * Thread-safe. One trail a process, with a thread of its own; a process that forks does so before trail_open().
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRAIL_BLOCK ((size_t)128 << 10) /* bytes of text */
#define TRAIL_WAIT INT64_C(3000000)     /* microseconds */
#define TRAIL_FILE_MOST ((uint64_t)64 << 20)
#define TRAIL_LEAST ((uint64_t)16 << 20) /* bytes of all files */

/* Open the trail of this process in a directory, which is made when it is missing. program is the name that its lines
 * bear; size is how many bytes all files may have together, TRAIL_LEAST or more. A trail that was open is closed.
 * FAIL_LATER: the directory or its newest file cannot be written; the trail is open all the same, with that fault. */
bool trail_open(const char *directory, uint64_t size, const char *program, GError **error);
/* Write the lines that wait, and close the trail. exit() calls it, too. */
void trail_close(void);

/* Note a line of the log. Do nothing when the line does not begin with a trace, or no trail is open. */
void trail_note(const char *text);

/* Write the lines that have waited for TRAIL_WAIT, in case the system gave the trail no thread to do so. child_beat()
 * calls it. Return why the last attempt to write failed, and set *since to when that began (microseconds since 1970);
 * g_free(). NULL: it did not fail. Set *lost to the number of lines given up since the trail was opened. */
char *trail_beat(int64_t *since, uint64_t *lost);

/* Remove the files whose last line is older than `before` (microseconds since 1970), and those that are too many for
 * size. Make the missing NUMBER.keys of files to which nothing was written for a while. *removed counts files.
 * FAIL_LATER: a file cannot be read, made or removed. */
bool trail_tidy(const char *directory, uint64_t size, int64_t before, int64_t *removed, GError **error);

/* ---- reading ---- */

typedef struct TrailLine {
    const char *text;  /* "2026-11-28T06:49:10.341Z in[0]: 37b968e27c1b list=..." */
    const char *trace; /* in it, 12 digits */
} TrailLine;
typedef void TrailEach(const TrailLine *line, void *data);

/* Call each for every line that has the key, and for no other; with key NULL, for all lines. Files come in order, and
 * lines of one process in the order in which they were noted. A damaged block is left out, and counted in *damaged (may
 * be NULL). A directory that is missing is an empty trail. FAIL_LATER: a file cannot be read. */
bool trail_find(const char *directory, const char *key, TrailEach *each, void *data, uint64_t *damaged, GError **error);

/* Find lines as trail_find() does, but a part of them at each call of trail_read(), for keys of very many lines. Begin
 * with 0 in number, offset and line, which is the oldest line. Each call leaves there the place where the next call
 * goes on. Set room before each call. */
typedef struct TrailReading {
    const char *directory, *key;
    unsigned number;  /* of the file */
    uint64_t offset;  /* of the block in it */
    unsigned line;    /* among those of the block that have the key */
    uint64_t room;    /* bytes of text that may still be unpacked; one block always is */
    uint64_t damaged; /* blocks that were left out so far */
    bool done;        /* there are no more lines */
} TrailReading;
/* Take a line and return true, or return false to stop before this line: it is then the first of the next part. */
typedef bool TrailTake(const TrailLine *line, void *data);
/* Call take for the lines of the next part. False: as trail_find(). */
bool trail_read(TrailReading *reading, TrailTake *take, void *data, GError **error);

/* Set *since to the time of the oldest line that is kept, microseconds since 1970; 0 when there is none. */
bool trail_since(const char *directory, int64_t *since, GError **error);
