/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Claim the entries of one slice of one queue for its runner. An inbox keeps an index of the entries that are ready or
 * will be, in the order of their due times. An entry that nobody put off is ready whatever the clock says. The time in
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
    bool put_off;    /* all entries of the queue were put off on purpose, so none is opened to see whether it was */
} Wakeup;

/* Return the way of waking that [spool] wakeup and poll_interval configure. */
Wakeup wakeup_configured(const Config *config);

/* Recover the slice (recover.h), then watch and list it. While the directory of some queue is gone, nothing is
 * recovered: claimed entries of a dead process wait. Entries that are ready can be claimed all the same. */
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

/* Return true when the process is to end as soon as it holds no entry, because only a start recovers the entries of a
 * directory. It is so when the last inbox_refresh() found another directory under the queue's name, or found the
 * directory back that recovery missed. */
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
 * while. Return false only when the system failed in another way; entries then has those that were claimed before. */
bool inbox_claim(Inbox *inbox, size_t limit, bool durable, GPtrArray *entries, GError **error);

/* From now on let inbox_claim() stop once the messages of the entries it has claimed have this many bytes. */
void inbox_bound_octets(Inbox *inbox, size_t octets);

/* No entry of this queue is put off for longer than that many microseconds. One that is due later was put off while the
 * clock was ahead, and is ready. Whoever puts entries off has to keep to it, else they are claimed again at once. */
void inbox_bound_wait(Inbox *inbox, int64_t longest);

/* One entry on its way through the steps of inbox_claim(), for a runner that makes the middle ones in another thread.
 * Each claim must go through all steps:
 *
 *   inbox_pick()   takes up to limit due names out of the index, as claims (of Claim)
 *   claim_begin()  renames and opens the file, and has the disk begin to read. Begin all before the first is made
 *   claim_make()   reads and verifies. This and claim_begin() may run in any thread
 *   inbox_take()   appends the entry to entries, or does what inbox_claim() does with one that cannot be had
 *
 * inbox_take() returns false as inbox_claim() does. inbox_bound_octets() has no effect here. */
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
 * the index, and in the directory only when the index does not hold all names. NULL without error: there is none, or it
 * was damaged and moved to corrupt/. FAIL_LATER: it may be there and cannot be claimed now. */
Entry *inbox_claim_hash(Inbox *inbox, const uint8_t hash[HASH_SIZE], int64_t due, GError **error);

/* Put a claimed entry back by its name, as inbox_release() does, when its Entry was freed already. */
bool inbox_release_name(Inbox *inbox, const EntryName *name, int64_t due, GError **error);

/* Put a claimed entry back into the queue by one rename, which is not synced. due is its new time; 0: the one it had.
 * The Entry is freed, also after false. */
bool inbox_release(Inbox *inbox, Entry *entry, int64_t due, GError **error);

/* Set a claimed entry aside for a person, as .psv, by one rename, which is synced. It needs no space on the disk. The
 * Entry is freed, also after false. */
bool inbox_preserve(Inbox *inbox, Entry *entry, GError **error);
