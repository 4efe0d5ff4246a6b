/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Claim the entries of one slice of one queue for its runner. An inbox keeps an index of the entries that are ready or
 * will be, in the order of their due times. An entry that nobody put off is ready whatever the clock says: the time in
 * its name is that of its arrival, and lies ahead when the clock was set back since. inotify keeps the index up to
 * date; where inotify is refused, the directory is listed every poll_interval.
 *
 * The directory is listed once at the start. It is listed again only when the kernel dropped events, or when the index
 * was full (INBOX_INDEX_MAX names) and had to leave later names out. doc/performance.md has figures.
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
    bool put_off;    /* all entries of the queue were put off on purpose: none is opened to see that */
} Wakeup;

/* Return the way of waking that [spool] wakeup and poll_interval configure. */
Wakeup wakeup_configured(const Config *config);

/* Recover the slice (recover.h), then watch and list it. While the directory of some queue is gone, nothing is
 * recovered: what is there waits, and what comes later can be claimed. */
Inbox *inbox_open(Spool *spool, const char *queue, Slice slice, Wakeup wakeup, GError **error);
void inbox_free(Inbox *inbox);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Inbox, inbox_free)

Queue *inbox_queue(const Inbox *inbox);

/* Return how many entries a former process of this slice had in hand when it died; inbox_open() has put them back. */
size_t inbox_left_in_hand(const Inbox *inbox);

/* Return the descriptor to poll(2) for reading between claims; -1 when the inbox polls the directory. */
int inbox_fd(const Inbox *inbox);

/* Bring the index up to date: read the events, and list the directory again if needed. While the directory is gone the
 * index is empty. */
bool inbox_refresh(Inbox *inbox, GError **error);

/* Return true when the last inbox_refresh() found another directory under the queue's name, or the directory back that
 * recovery missed: the process is to end when it holds nothing, because only a start recovers what is there. */
bool inbox_needs_start(const Inbox *inbox);

/* Return the microseconds until the next entry is due or the directory is to be listed again; 0 when there is work now,
 * -1 when only events can bring any. */
int64_t inbox_wait(const Inbox *inbox, int64_t now);

/* Return how many known entries are due by now. *oldest is the due time of the first; 0 when there is none. */
size_t inbox_backlog(const Inbox *inbox, int64_t now, int64_t *oldest);

/* Claim up to limit due entries in order: rename .msg to .bak, open, verify, and append them to entries, which owns
 * them. A damaged entry is logged and moved whole to corrupt/; one that the system cannot read is put back for a
 * minute; one that vanished is skipped. With durable, the directory is synced before the function returns, so that no
 * power cut can undo the claims. When the system refuses to rename, that is logged, and nothing more is claimed for a
 * while. Returns false only when the system failed in another way; entries then has what was claimed before. */
bool inbox_claim(Inbox *inbox, size_t limit, bool durable, GPtrArray *entries, GError **error);

/* From now on let inbox_claim() stop once the messages of the entries it has claimed have this many bytes. */
void inbox_bound_octets(Inbox *inbox, size_t octets);

/* inbox_claim() in steps, for a runner that has a thread for those between:
 *
 *   inbox_pick()   takes up to limit due names out of the index; claims is of Claim
 *   claim_begin()  renames and opens, and has the disk begin to read: of many at a time, if all are begun before the
 *                  first is made
 *   claim_make()   reads, verifies. Both in any thread: they need nothing but the claim and the queue's directory
 *   inbox_take()   appends the entry to entries, or does what inbox_claim() does with one that cannot be had
 *
 * Each claim must go through all of them. inbox_take() returns false as inbox_claim() does. inbox_bound_octets() has no
 * effect here. */
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

/* Claim the ready entry of this slice with that hash, due or not. It is looked for under the due time first, then in
 * the index, and in the directory only when the index does not hold all names. Returns NULL without error when there is
 * none, or when it was damaged and moved to corrupt/. FAIL_LATER: it may be there and cannot be claimed now. */
Entry *inbox_claim_hash(Inbox *inbox, const uint8_t hash[HASH_SIZE], int64_t due, GError **error);

/* Put back a claimed entry, as inbox_release() does, by its name, when its Entry was freed already. */
bool inbox_release_name(Inbox *inbox, const EntryName *name, int64_t due, GError **error);

/* Put a claimed entry back into the queue, due at a new time or, with 0, as it was: one rename, S3 to S2, not synced.
 * It frees the entry, also when it fails. */
bool inbox_release(Inbox *inbox, Entry *entry, int64_t due, GError **error);

/* Set a claimed entry aside for a person: one rename, S3 to S5, synced. It needs no space on the disk, and frees the
 * entry, also when it fails. */
bool inbox_preserve(Inbox *inbox, Entry *entry, GError **error);
