/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make a small world of runners for the proof of crash_states-t (crashproof.h). It has messages of a fixed plan,
 * runners that do what the plan says, and a judge that compares what came of the messages with what was promised.
 *
 * A message in the queue in becomes the entries that the plan names, or is set aside. In out and retry each recipient
 * is delivered to, bounced (an entry in bounces is stored once), or, in out only, put off into retry. Of two messages
 * one takes the other (T8a of switchboard/INTERNALS.md), which is written into the ledger, a file that stands for a
 * database. Entries in archive, bounces and corrupt are at their end; scripts may let a runner of bounces bring its
 * entries into archive.
 */
#include "switchboard/claim.h"
#include "switchboard/hop.h"
#include "t/switchboard/crashlog.h"

#define CRASH_MESSAGES 19
#define CRASH_RECIPIENTS 26

/* The wall clock of the world, in seconds. crash_clock_stands is the time at which it stands; 0: it goes. While it
 * stands, names of entries are the same in each run, and so is all that is chosen by the hash of a state. A drain moves
 * it ahead by a step each round, because an entry that crashed its runner waits. */
extern int64_t crash_clock_stands, crash_clock;
#define CRASH_ROUND_S 10
#define CRASH_SCRIPT_S 100 /* no script takes so long */

typedef struct CrashResult CrashResult;

typedef struct CrashWorld {
    char *path;
    Spool *spool;
    CrashLog *log;      /* while a script runs, the log in which promises are noted */
    bool other_outcome; /* the earlier version of the rules is in force (Plan.other) */
    bool strays;        /* children without a parent may be set aside, which is no fault */
    bool worn;          /* one more crash would set an entry aside, so only the script itself kills */
    bool makes_queue;   /* a runner brings CRASH_NEW into archive, and each drain opens the spool anew */
    bool retries;       /* an operator brings back entries that are set aside */
    bool ledger;        /* runners of in write each message that they work on into the ledger */
    int ledger_fd;      /* while a batch of in is worked */
    Inbox *bounces;     /* of a runner that claims each bounce as soon as it is stored */
    GPtrArray *entries; /* of Entry: the batch; one that was put back is not looked at again */
    uint8_t delivered[CRASH_RECIPIENTS], put_off[CRASH_RECIPIENTS];
    unsigned preserved;
    GBytes *damaged; /* bytes of the message that was damaged */
    /* Work out and retry in place of the world's own runner, until nothing is in hand. False: the process must end. */
    bool (*serve_out)(struct CrashWorld *world, Slice slice, unsigned *worked);
    /* The functions that drain a state and judge the result: those below, or another world's. */
    CrashResult *(*drain)(struct CrashWorld *world, const CrashState *state);
    char *(*judge)(const CrashResult *result, const CrashNotes *notes);
} CrashWorld;

void crashworld_init(CrashWorld *world);
void crashworld_clear(CrashWorld *world);

/* Remove every entry, and forget what happened. */
void crashworld_wipe(CrashWorld *world);

/* Open the spool anew, as another process does. */
void crashworld_restart(CrashWorld *world);

/* For scripts: store messages of the plan as one group, and note that they were acknowledged. */
void crashworld_store(CrashWorld *world, const int *messages, size_t count);
/* Change a byte of the message that was stored last. */
void crashworld_damage(CrashWorld *world);
/* Store a message without a promise. */
bool crashworld_try_store(CrashWorld *world, int message, bool once);
Inbox *crashworld_inbox(CrashWorld *world, const char *queue, Slice slice);

/* Claim a batch of entries that are due, decide as the plan says, and commit. False: the process must end. *worked is
 * raised by the number of entries. */
bool crashworld_work(CrashWorld *world, Inbox *inbox, Hop *hop, unsigned *worked);

/* The result of draining a state: how often each recipient or message came to each end. */
struct CrashResult {
    uint8_t delivered[CRASH_RECIPIENTS], bounced[CRASH_RECIPIENTS];
    uint8_t archived[CRASH_MESSAGES], corrupt[CRASH_MESSAGES], kept[CRASH_MESSAGES];
    uint8_t recorded[CRASH_MESSAGES]; /* in the ledger */
    bool preserved_again, ledger;
    uint64_t in_corrupt; /* messages (bits) that are in the queue corrupt */
    uint64_t free; /* messages that a command could have taken before any runner started */
    uint64_t moved; /* messages that had two names in a mailbox before any runner started */
    char *fault;    /* something that must not be in any state, such as strays, left files and errors; NULL: nothing */
};

/* Write the files of a state into a world that was wiped. */
void crashworld_put_on_disk(CrashWorld *world, const CrashState *state);

/* Write the files of a state, start all runners, wait until nothing is left to do, and look at the result. The number
 * of slices and the order of the starts depend on the state. */
CrashResult *crashworld_drain(CrashWorld *world, const CrashState *state);
void crashresult_free(CrashResult *result);

/* Return a text that says which promise was not kept; g_free(). NULL: all were. */
char *crashworld_judge(const CrashResult *result, const CrashNotes *notes);

/* ---- acts of an operator (crashoperator.c), the transitions O1 to O7 of switchboard/INTERNALS.md ---- */

/* Three acts that scripts use, and that are no scripts. Release all that is in hold. False: it ended before that. */
bool crashoperator_release(CrashWorld *world, unsigned *worked);
/* Bring back all that is set aside in the queue in. False: it ended before that. */
bool crashoperator_retry_all(CrashWorld *world, unsigned *worked);
/* Store a message, have the process die when it is decided and its child is not yet published, and unlink it, as a
 * person might by hand. The judged part of the log begins behind that. */
void crashoperator_lose_parent(CrashWorld *world, const char *queue);
/* The scripts. */
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
void crashoperator_retry_undone(CrashWorld *world);
void crashoperator_leftovers_unlinked(CrashWorld *world);
void crashoperator_preserved(CrashWorld *world);
void crashoperator_corrupt(CrashWorld *world);
void crashoperator_unread(CrashWorld *world);
void crashoperator_killed_claiming(CrashWorld *world);
void crashoperator_killed_deciding(CrashWorld *world);
void crashoperator_killed_publishing(CrashWorld *world);
void crashoperator_killed_releasing(CrashWorld *world);

/* ---- the ledger, which stands for the database of T5a in switchboard/INTERNALS.md ---- */

/* Open the ledger, which is made where there is none; close(). Runners of in write each message that they work on into
 * it, once, and sync it together with their hop. */
int crashledger_open(CrashWorld *world);
/* Write a message into the ledger. */
bool crashledger_note(int fd, int number);
/* Does the ledger have the message? */
bool crashledger_knows(int fd, int number);
/* A script: a hop with a child and one without, each with the ledger. */
void crashledger_script(CrashWorld *world);
/* Count how often the ledger has each message. */
void crashledger_count(CrashWorld *world, uint8_t counts[CRASH_MESSAGES]);
