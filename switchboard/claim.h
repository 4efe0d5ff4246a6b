/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The inbox: one slice of one queue as its runner sees it. It knows which
 * entries are ready or will be, in order of due time, keeps that index up to date through
 * inotify (or by listing every poll_interval where inotify is refused), and
 * claims them.
 *
 * The directory is listed once at the start and again only when the kernel
 * dropped events or when the index, which is bounded (INBOX_INDEX_MAX
 * names), had to leave later names on disk; see doc/performance.md for
 * figures.
 */
#include <glib.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "switchboard/entry.h"
#include "switchboard/slice.h"
#include "switchboard/spool.h"

#define INBOX_INDEX_MAX 200000

typedef struct Inbox Inbox;

/* How an inbox learns of new entries: by inotify, unless it polls. Where inotify is refused it polls, too. */
typedef struct Wakeup {
    bool polls;
    int64_t poll_us; /* how often the directory is listed then; 0: once a second */
} Wakeup;

/* What [spool] wakeup and poll_interval say. */
Wakeup wakeup_configured(const Config *config);

/* Recovers the slice (recover.h), then watches and lists it. */
Inbox *inbox_open(Spool *spool, const char *queue, Slice slice, Wakeup wakeup, GError **error);
void inbox_free(Inbox *inbox);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Inbox, inbox_free)

Queue *inbox_queue(const Inbox *inbox);

/* What to poll(2) for readability between claims; -1 when polling. */
int inbox_fd(const Inbox *inbox);

/* Takes in what happened since: reads events, lists again if it must. */
bool inbox_refresh(Inbox *inbox, GError **error);

/* Microseconds from now until the next entry is due (and may be claimed) or the next listing is: 0 when
 * there is work now, -1 when there is nothing to wait for but events. */
int64_t inbox_wait(const Inbox *inbox, int64_t now);

/* Known entries due by now, and the due time of the first (0: none). */
size_t inbox_backlog(const Inbox *inbox, int64_t now, int64_t *oldest);

/* Claims up to limit due entries in order: renames .msg to .bak, opens,
 * verifies. A damaged one is moved to corrupt/ whole (copied durably, then
 * removed) with a line in the log, one that the system cannot read now is put
 * back for a minute, one that vanished is passed over. Claimed ones are
 * appended to entries, which owns them. With durable, the
 * directory is synced before the function returns, so that no power cut can
 * undo the claims (for work that is felt outside). False only when the
 * system failed; what was claimed until then is in entries all the same. */
bool inbox_claim(Inbox *inbox, size_t limit, bool durable, GPtrArray *entries, GError **error);

/* From now on a claim takes no more entries once the messages of those it took hold so many octets. */
void inbox_bound_octets(Inbox *inbox, size_t octets);

/* inbox_claim() in steps, for a runner that has a thread for those between:
 *
 *   inbox_pick()   takes up to limit due names out of the index; claims is of Claim
 *   claim_begin()  renames and opens, and has the disk begin to read: of many at a time, if all are begun before the
 *                  first is made
 *   claim_make()   reads, verifies. Both in any thread: they need nothing but the claim and the queue's directory
 *   inbox_take()   appends the entry to entries, or does what inbox_claim() does with one that cannot be had
 *
 * Each claim must go through all of them. inbox_take() says false as inbox_claim() does. No bound of octets counts. */
typedef struct Claim {
    Queue *queue;
    EntryName name;
    bool renamed;
    Entry *entry;
    GError *fault;
} Claim;

size_t inbox_pick(Inbox *inbox, size_t limit, GArray *claims);
void claim_begin(Claim *claim);
void claim_make(Claim *claim);
bool inbox_take(Inbox *inbox, Claim *claim, GPtrArray *entries, GError **error);

/* Claims the ready entry of this slice with that hash, due or not. It is looked for under the due time first, then
 * in the index, and in the directory only when the index does not hold all names. NULL without error: there is none
 * (or it was damaged, and set aside). FAIL_LATER: it is there, but cannot be renamed now. */
Entry *inbox_claim_hash(Inbox *inbox, const uint8_t hash[HASH_SIZE], int64_t due, GError **error);

/* inbox_release() of an entry that is claimed but was freed. */
bool inbox_release_name(Inbox *inbox, const EntryName *name, int64_t due, GError **error);

/* Puts a claimed entry back, due at a new time (or, with 0, as it was): one rename, S3 to
 * S2. Frees the entry. */
bool inbox_release(Inbox *inbox, Entry *entry, int64_t due, GError **error);

/* Sets a claimed entry aside for a person: one rename, S3 to S5, synced. Needs no
 * space on the disk. Frees the entry. */
bool inbox_preserve(Inbox *inbox, Entry *entry, GError **error);
