/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Build the states of the disk that a power cut may leave. A CrashLog records every durable call of a run through the
 * hook of base/fs.h. From it crashlog_states() builds each state that POSIX allows when the power goes after any of
 * these calls:
 *
 *   - What was synced is there.
 *   - Of each directory, the operations on its entries that are not synced reached the disk up to any one of them, in
 *     order. Directories are independent of each other.
 *   - In one directory at a time they also reached it in other orders, but operations of one file or on one name follow
 *     each other. All such orders are built where there are few; else one operation overtakes others. All files have
 *     their old bytes then, or all their new ones.
 *   - Of each file's bytes that are not synced, any sectors (512 bytes) reached the disk, and the file's length may be
 *     any between at a sector's border. Where the file was cut meanwhile, bytes behind the cut may be gone.
 *   - A directory that was made is an entry of the one above. Without that entry neither it nor its content is there.
 *   - A rename from one directory to another is two operations, one in each: the file may be in both, or in neither.
 *
 * With more than two files unsynced at once, not all combinations of their torn forms are built. Each is torn in turn,
 * while the others are all old or all new.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fs.h"

#define CRASH_NOTE ((FsCall)100) /* a step of the script's own, not of the disk */

/* Promises that were made to the world outside. Each is a set of bits, one for each number. */
typedef struct CrashNotes {
    uint64_t acknowledged; /* messages that were taken */
    uint64_t tried;        /* recipients that were delivered to */
    uint64_t settled;      /* recipients whose mark is said to be durable */
    uint64_t preserved;    /* messages said to be set aside durably */
    uint64_t doomed;       /* messages that an operator is deleting: they may come or not */
    uint64_t deleted;      /* messages said to be deleted */
    uint64_t held;         /* messages that a runner acts on, which claimed them durably */
} CrashNotes;

/* Does b promise all that a promises? Then a judge who is content with b is content with a. */
bool crashnotes_promise_less(const CrashNotes *a, const CrashNotes *b);

/* One recorded call. */
typedef struct CrashOp {
    FsCall call;
    unsigned place, to_place; /* the directory, and that of `to` */
    const char *name, *to; /* interned */
    int file;              /* number of the file that is written or synced; of a directory: crash_dir_file() */
    off_t offset;
    GBytes *data;
    CrashNotes notes;      /* added by a CRASH_NOTE */
    const char *site;      /* of a sync: its place in the code (crashsite.h); NULL: CrashLog.aside was true */
} CrashOp;

typedef struct CrashLog {
    GArray *ops;  /* of CrashOp */
    guint first;  /* the operation with which the part to be judged begins; all before is on the disk */
    guint changes; /* the operation with which the part begins that mutations may change */
    guint killed;  /* the operation before which a process was killed: power cuts before it are not built */
    int die_in;   /* calls until the process dies; -1: it lives */
    const char *die_at; /* as in crashlog_die_at(); NULL: not asked for */
    int die_further;
    int fail_in;  /* calls of fail_call until one fails; -1: none does */
    FsCall fail_call;
    bool orderly; /* no other orders in a directory are built */
    bool aside;   /* syncs made now need not be proved by this program, since another one does it */
    struct CrashModel *live;
} CrashLog;

extern const char *const crash_queues[]; /* NULL-terminated */
#define CRASH_QUEUES 9
#define CRASH_LEDGER "ledger" /* no queue: where a script keeps a database */
#define CRASH_NEW "digest" /* a queue that is not there before somebody makes it */
#define CRASH_SPOOL CRASH_QUEUES /* the place after the queues: the spool's own directory, with the operator's lock */
#define CRASH_MADE (CRASH_SPOOL + 1) /* the first of those that are there only once they were made */
#define CRASH_PLACES 24
#define CRASH_SPOOL_PREFIX "crash-states-"

/* Return the path of the directory (place) with this number, from the spool on, which is "."; NULL: there is none. The
 * queues come first, then the spool, then directories that were made while calls were recorded, in the order in which
 * they were made. */
const char *crash_place_path(unsigned place);
/* Return the number of the directory that this one is in. */
unsigned crash_place_above(unsigned place);

/* The file number that stands for a directory as an entry of the one above. */
#define CRASH_NO_FILE (-1)
#define crash_dir_file(place) (-2 - (int)(place))

CrashLog *crashlog_new(void);
void crashlog_free(CrashLog *log);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CrashLog, crashlog_free)

/* Record all calls of this process from now on, until crashlog_stop(). */
void crashlog_record(CrashLog *log);
void crashlog_stop(void);
/* Begin here the part that is judged: all that was recorded before is taken as synced. */
void crashlog_begin(CrashLog *log);
/* Begin here the part that mutations may change. */
void crashlog_begin_changes(CrashLog *log);
/* Record that these promises were made now. */
void crashlog_note(CrashLog *log, CrashNotes notes);

/* Compare the files of the spool with the log. Return the path of one that is not as the log has it; g_free(). NULL:
 * all are. */
char *crashlog_misses(const CrashLog *log, const char *spool);

/* Return the text of an operation, "sync dir out", "rename in .bak .done", borrowed until the next call. */
const char *crashlog_text(const CrashOp *op);

/* Let the process die at the first call whose crashlog_text() is this: with further 0 before that call, else so many
 * calls later. */
void crashlog_die_at(CrashLog *log, const char *text, int further);

/* Do both operations concern files, and different ones? */
bool crashlog_apart(const CrashOp *a, const CrashOp *b);

typedef struct CrashFile {
    unsigned place;
    const char *name;
    GBytes *data; /* NULL: a directory */
} CrashFile;

typedef struct CrashState {
    GArray *files;    /* of CrashFile */
    CrashNotes notes; /* when the power went */
    guint after;      /* operations made until then */
    uint64_t hash;    /* of the files */
    bool fresh;       /* the unchanged log does not lead to this state; set only with CrashMutation.compare */
} CrashState;

/* Begin a log with a state that is on the disk. */
void crashlog_load(CrashLog *log, const CrashState *state);

/* Look at a state, which is borrowed for the call. Return false to stop. */
typedef bool CrashVisit(void *data, const CrashState *state);

/* A change that is made to the log before the states are built. */
typedef enum CrashChange {
    CRASH_AS_IS,
    CRASH_DROP,    /* the operation `at` is left out; `to` is the same */
    CRASH_SWAP,    /* the operations `at` and `to` change places */
    CRASH_LATER,   /* the operation `at` comes after `to` */
    CRASH_EARLIER, /* the operation `to` comes before `at` */
} CrashChange;

typedef struct CrashMutation {
    CrashChange change;
    guint at, to; /* numbers of operations */
    bool compare; /* CrashState.fresh is wanted */
} CrashMutation;

/* Build the states of the log with this change, and call visit() for each. With a change, only states are built in
 * which it can make a difference. False: it makes none at all, like leaving out a sync with nothing to sync. */
bool crashlog_states(CrashLog *log, CrashMutation mutation, CrashVisit *visit, void *data);

/* Return a new log of the first `upto` operations of the changed log, after which all processes are killed; record into
 * it what others do then. *state is the disk at that moment, with nothing lost; crashstate_clear(). */
CrashLog *crashlog_killed(const CrashLog *log, CrashMutation mutation, guint upto, CrashState *state);
void crashstate_clear(CrashState *state);

/* Can the log be changed so? False: an operation would come before one that makes what it needs. */
bool crashlog_can(const CrashLog *log, CrashMutation mutation);
