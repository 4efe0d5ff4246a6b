/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A small world of runners for the proof of crash_states-t: messages that
 * come from a fixed plan, runners that do what the plan says, and a judge
 * that compares what came of it with what was promised.
 *
 * Queue in: the plan's children, or to be set aside. Queues out and retry: each
 * recipient is delivered to, bounced (a bounces entry stored once), or, in
 * out only, put off into retry. Of two messages one takes the other (T8a), which is written into the ledger. What
 * lies in archive, bounces, corrupt is an end; scripts may let a runner of bounces bring its entries into archive.
 */
#include "switchboard/claim.h"
#include "switchboard/hop.h"
#include "t/switchboard/crashlog.h"

#define CRASH_MESSAGES 19
#define CRASH_RECIPIENTS 26

/* The wall clock, in seconds. It stands where it is told to, so that names, and with them all that is chosen by the
 * hash of a state, are the same in each run; 0: it goes. A drain moves it ahead of that, a step each round, because
 * what crashed its runner waits. */
extern int64_t crash_clock_stands, crash_clock;
#define CRASH_ROUND_S 10
#define CRASH_SCRIPT_S 100 /* no script takes so long */

typedef struct CrashResult CrashResult;

typedef struct CrashWorld {
    char *path;
    Spool *spool;
    CrashLog *log; /* while a script runs: what happens is noted there */
    bool other_outcome; /* the plan's first version is in force */
    bool strays;        /* children without a parent are set aside, no fault */
    bool worn;          /* one more crash would set an entry aside: none is killed beyond what the script kills */
    bool makes_queue;   /* CRASH_NEW is served, too: into archive; and each drain opens the spool anew */
    bool retries;       /* an operator brings back what is set aside */
    bool ledger;        /* what is done with a message is written into the ledger */
    int ledger_fd;      /* while a batch of in is worked */
    Inbox *bounces;     /* of a runner that claims each bounce as soon as it is stored */
    GPtrArray *entries; /* of Entry: the batch; one that was put back is not looked at again */
    uint8_t delivered[CRASH_RECIPIENTS], put_off[CRASH_RECIPIENTS];
    unsigned preserved;
    GBytes *damaged; /* bytes of the message that was damaged */
    /* A runner of out and retry until nothing is in hand, other than the one below; false when the process must end. */
    bool (*serve_out)(struct CrashWorld *world, Slice slice, unsigned *worked);
    /* The functions that drain a state and judge the result: those below, or another world's. */
    CrashResult *(*drain)(struct CrashWorld *world, const CrashState *state);
    char *(*judge)(const CrashResult *result, const CrashNotes *notes);
} CrashWorld;

void crashworld_init(CrashWorld *world);
void crashworld_clear(CrashWorld *world);

/* Removes every entry, and forgets what happened. */
void crashworld_wipe(CrashWorld *world);

/* Another process opens the spool. */
void crashworld_restart(CrashWorld *world);

/* For scripts. Messages are stored as one group; recipients of the plan
 * have numbers of their own, whatever the message. */
void crashworld_store(CrashWorld *world, const int *messages, size_t count);
void crashworld_damage(CrashWorld *world); /* one byte of what was stored last goes bad */
bool crashworld_try_store(CrashWorld *world, int message, bool once); /* promises nothing */
Inbox *crashworld_inbox(CrashWorld *world, const char *queue, Slice slice);

/* Claims what is due, decides, commits. False when the process must end. *worked counts
 * entries. */
bool crashworld_work(CrashWorld *world, Inbox *inbox, Hop *hop, unsigned *worked);

/* The result of draining a state, however it was drained. */
struct CrashResult {
    uint8_t delivered[CRASH_RECIPIENTS], bounced[CRASH_RECIPIENTS];
    uint8_t archived[CRASH_MESSAGES], corrupt[CRASH_MESSAGES], kept[CRASH_MESSAGES];
    uint8_t recorded[CRASH_MESSAGES]; /* in the ledger */
    bool preserved_again, ledger;
    uint64_t in_corrupt; /* messages that are there */
    uint64_t free; /* messages that a command could have taken before any runner started */
    uint64_t moved; /* messages that had two names in a mailbox before any runner started */
    char *fault; /* what must not be in whatever state: strays, left files, errors */
};

/* Into a world that was wiped. */
void crashworld_put_on_disk(CrashWorld *world, const CrashState *state);

/* Puts the state on the disk, starts all runners, waits until nothing is left
 * to do, and looks. How many slices there are now and who starts first depends on the state. */
CrashResult *crashworld_drain(CrashWorld *world, const CrashState *state);
void crashresult_free(CrashResult *result);

/* NULL, or what was promised and not kept; g_free(). */
char *crashworld_judge(const CrashResult *result, const CrashNotes *notes);

/* The acts of an operator (crashoperator.c). The first releases all that is in hold, and is no script: false when it
 * ended before it was done. The scripts do each of O1 to O7; the last three die on the way and are settled
 * by a runner. */
bool crashoperator_release(CrashWorld *world, unsigned *worked);
bool crashoperator_retry_all(CrashWorld *world, unsigned *worked); /* all that is set aside in in; no script, too */
void crashoperator_lose_parent(CrashWorld *world, const char *queue); /* no script: somebody unlinks what is decided */
void crashoperator_hold(CrashWorld *world);
void crashoperator_again(CrashWorld *world);
void crashoperator_delete(CrashWorld *world);
void crashoperator_unlink(CrashWorld *world);
void crashoperator_leftovers(CrashWorld *world);
void crashoperator_no_command(CrashWorld *world);
void crashoperator_undone(CrashWorld *world);
void crashoperator_undone_deleted(CrashWorld *world);
void crashoperator_undone_deleted_out(CrashWorld *world);
void crashoperator_undone_unlinked(CrashWorld *world);
void crashoperator_undone_corrupt(CrashWorld *world);
void crashoperator_leftovers_corrupt(CrashWorld *world);
void crashoperator_corrupt_stays(CrashWorld *world);
void crashoperator_stray(CrashWorld *world);
void crashoperator_left_stray(CrashWorld *world);
void crashoperator_retry(CrashWorld *world);
void crashoperator_retry_unread(CrashWorld *world);
void crashoperator_retry_decided(CrashWorld *world);
void crashoperator_retry_undone(CrashWorld *world);
void crashoperator_leftovers_unlinked(CrashWorld *world);
void crashoperator_preserved(CrashWorld *world);
void crashoperator_corrupt(CrashWorld *world);
void crashoperator_unread(CrashWorld *world);
void crashoperator_killed_claiming(CrashWorld *world);
void crashoperator_killed_deciding(CrashWorld *world);
void crashoperator_killed_publishing(CrashWorld *world);
void crashoperator_killed_releasing(CrashWorld *world);

/* A database as T5a means it: runners of in write each message that they work
 * on into it, once; what they wrote goes along with the syncs of their hop. */
int crashledger_open(CrashWorld *world); /* makes it where there is none; close() */
bool crashledger_note(int fd, int number);
bool crashledger_knows(int fd, int number);
void crashledger_script(CrashWorld *world); /* of a hop with a child and of one without (T5a) */
void crashledger_count(CrashWorld *world, uint8_t counts[CRASH_MESSAGES]);
