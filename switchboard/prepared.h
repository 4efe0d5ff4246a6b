/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Store entries together with a decision that is made elsewhere, such as the commit of a database (INTERNALS.md, state
 * S1u). A unit of entries is written under temporary names that carry the unit's tag, and synced. Then the caller makes
 * its decision durable under that tag. Then the entries are published: each temporary name becomes that of a ready
 * entry. So an entry is not published yet exactly as long as its temporary name is there.
 *
 *   prepared = prepared_new(spool)          a tag of its own, which is locked while this process lives
 *   prepared_write(prepared, drafts)        whole and synced, but not in the queues
 *   ...                                     the caller decides for prepared_tag(prepared), durably
 *   prepared_publish(prepared)              or prepared_withdraw(prepared), if it was decided otherwise
 *   prepared_free(prepared)                 unlocks; what was neither published nor withdrawn is left to be settled
 *
 * prepared_settle() does the rest for a writer that died. It takes no temporary whose writer lives, and asks for each
 * tag what was decided. The answer must be the same for ever after. An answer gives up an undecided tag, so that its
 * writer cannot decide otherwise later.
 *
 * A Prepared belongs to one thread. Errors are FAIL_LATER, unless stated otherwise.
 */
#include <glib.h>
#include <stdbool.h>

#include "switchboard/draft.h"
#include "switchboard/spool.h"

/* The file in the spool whose bytes are the locks of living writers. */
#define PREPARED_LOCK_FILE ".units"

typedef struct Prepared Prepared;

Prepared *prepared_new(Spool *spool, GError **error);
void prepared_free(Prepared *prepared);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Prepared, prepared_free)

/* Take the lock of a tag whose writer is dead, to finish what it began. There are no files with it. FAIL_RACE: the
 * writer lives, or another process has the lock. */
Prepared *prepared_adopt(Spool *spool, const char *tag, GError **error);

/* 32 random hex digits, borrowed. */
const char *prepared_tag(const Prepared *prepared);

/* Write the drafts (array of Draft, the caller's) and sync files and directories. When it fails, nothing of the unit is
 * left but what cannot be unlinked, and that is given up by prepared_settle(). FAIL_NEVER: a draft can never be
 * written. Call it once. */
bool prepared_write(Prepared *prepared, GPtrArray *drafts, GError **error);
/* The names of the queues that were written into, with blanks between, in the order of their first use; g_free(). */
char *prepared_queues(const Prepared *prepared);

/* Rename each entry to .msg. This is not synced: if a power cut undoes it, prepared_settle() repeats it, so the
 * decision must be kept until the directories were synced. A rename that the system refuses is logged, and made later
 * in the same way. */
void prepared_publish(Prepared *prepared);
/* Unlink the unit's files. One that cannot be unlinked is logged, and prepared_settle() unlinks it later. */
void prepared_withdraw(Prepared *prepared);

/* Set *committed to what was decided for a tag. When nothing was decided, first make it impossible that the tag is ever
 * decided, durably, and set false. Return false when it cannot be told now. */
typedef bool PreparedDecide(void *data, const char *tag, bool *committed, GError **error);

/* Is rest, which name_parse() returned, that of a prepared entry's temporary name? */
bool prepared_is_tag(const char *rest);

/* Publish or unlink the temporaries that dead writers left in the queue, as decide says. A tag for which that fails
 * does not keep the others from their turn; the first fault is returned. left (may be NULL; its keys are freed by it)
 * gets the tags that still have files: those of living writers and those that failed. Any number of processes may do
 * this at once. */
bool prepared_settle(Queue *queue, PreparedDecide *decide, void *data, GHashTable *left, GError **error);
