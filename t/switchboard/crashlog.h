/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Build the states that a power cut may leave. A CrashLog records every durable call of a run
 * through the hook of base/fs.h; from it crashlog_states() builds each state
 * of the disk that POSIX allows when the power goes after any of these calls:
 *
 *   - of each directory, the entry operations not yet synced reached the disk up to
 *     any one of them, in order; directories are independent of each other. Of one directory at a time
 *     also in other orders, but that the operations of one file, or on one name, follow each other: in all that are
 *     possible where these are few, else one operation overtakes others. (All files have their old bytes then, or all
 *     their new ones.)
 *   - of each file's bytes not yet synced, any sectors (512 bytes) reached
 *     the disk, and the file's length may be any between at a sector's border; where it was cut on the way, what was
 *     behind that may be gone
 *   - what was synced is there
 *   - a directory that was made is an entry of the one above; without that entry it is not there, nor is what is in it
 *   - a rename from one directory to another is two operations, one in each: the file may be in both, or in neither
 *
 * With more than two files unsynced at once, not all combinations of all
 * their torn forms are built: each is torn in turn, the others all old or all new.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fs.h"

#define CRASH_NOTE ((FsCall)100) /* a step of the script's own, not of the disk */

/* Promises on which the world outside may rely: bits, a number each. */
typedef struct CrashNotes {
    uint64_t acknowledged; /* messages that were taken */
    uint64_t tried;        /* recipients that were delivered to */
    uint64_t settled;      /* recipients whose mark is said to be durable */
    uint64_t preserved;    /* messages said to be set aside durably */
    uint64_t doomed;       /* messages that an operator is deleting: they may come or not */
    uint64_t deleted;      /* messages said to be deleted */
    uint64_t held;         /* messages that a runner acts on, which claimed them durably */
} CrashNotes;

/* Is all that a promises promised by b, too? A judge who is content with b is content with a then. */
bool crashnotes_promise_less(const CrashNotes *a, const CrashNotes *b);

typedef struct CrashOp {
    FsCall call;
    unsigned place, to_place; /* the directory, and that of `to` */
    const char *name, *to; /* interned */
    int file;              /* what is written or synced: its number; of a directory: crash_dir_file() */
    off_t offset;
    GBytes *data;
    CrashNotes notes;      /* added by a CRASH_NOTE */
    const char *site;      /* of a sync: where in the code (crashsite.h); NULL: aside */
} CrashOp;

typedef struct CrashLog {
    GArray *ops;  /* of CrashOp */
    guint first;  /* where the part to be judged begins; all before is on the disk */
    guint changes; /* where that part begins that mutations may change */
    guint killed;  /* where a process was killed: cuts before it are not built */
    int die_in;   /* calls until the process dies; -1: it lives */
    const char *die_at; /* the text of a call, which is the first of these; NULL: none is known by its text */
    int die_further;
    int fail_in;  /* calls of fail_call until one fails; -1: none does */
    FsCall fail_call;
    bool orderly; /* no other orders in a directory */
    bool aside;   /* what is synced now is no matter of this program's: another one shows that it is needed */
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

/* The directories, by number: the queues, the spool, and any that is made while calls are recorded, each after the one
 * that it is in. NULL: none has this number yet. Paths begin below the spool's, which is ".". */
const char *crash_place_path(unsigned place);
unsigned crash_place_above(unsigned place); /* which it is in */

/* The number that stands for a directory in the one above. */
#define CRASH_NO_FILE (-1)
#define crash_dir_file(place) (-2 - (int)(place))

CrashLog *crashlog_new(void);
void crashlog_free(CrashLog *log);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CrashLog, crashlog_free)

/* Between these two the calls are recorded. */
void crashlog_record(CrashLog *log);
void crashlog_stop(void);
void crashlog_begin(CrashLog *log);
void crashlog_begin_changes(CrashLog *log);
void crashlog_note(CrashLog *log, CrashNotes notes);

/* NULL, or the path of a file that is not as the log has it; g_free(). */
char *crashlog_misses(const CrashLog *log, const char *spool);

/* "sync dir out", "rename in .bak .done": static until the next call. */
const char *crashlog_text(const CrashOp *op);

/* The process dies so many calls after the first that text names, which is made if there are any; 0: before it. */
void crashlog_die_at(CrashLog *log, const char *text, int further);

/* True when both concern files, and not the same. */
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
    bool fresh;       /* the log as it is does not lead to it; only said of those of a changed log, if wanted */
} CrashState;

/* Begins with a state that is on the disk. */
void crashlog_load(CrashLog *log, const CrashState *state);

typedef bool CrashVisit(void *data, const CrashState *state); /* false: enough */

/* A change made to the log before the states are built. */
typedef enum CrashChange {
    CRASH_AS_IS,
    CRASH_DROP,    /* the operation at `at` is left out; `to` is the same */
    CRASH_SWAP,    /* it changes places with that at `to` */
    CRASH_LATER,   /* it comes after that at `to` */
    CRASH_EARLIER, /* that at `to` comes before it */
} CrashChange;

typedef struct CrashMutation {
    CrashChange change;
    guint at, to;
    bool compare; /* CrashState.fresh is wanted */
} CrashMutation;

/* Builds the states; a mutation's only while it makes a difference. False
 * when the change makes none at all, as for a sync with nothing to sync. */
bool crashlog_states(CrashLog *log, CrashMutation mutation, CrashVisit *visit, void *data);

/* All processes are killed when the log, changed so, has made `upto` operations; what is recorded from then on goes on
 * from there. *state is what they leave, with nothing lost; crashstate_clear(). */
CrashLog *crashlog_killed(const CrashLog *log, CrashMutation mutation, guint upto, CrashState *state);
void crashstate_clear(CrashState *state);

/* False when steps cannot change places so: one makes what another needs. */
bool crashlog_can(const CrashLog *log, CrashMutation mutation);
