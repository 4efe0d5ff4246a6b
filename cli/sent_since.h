/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read from the trail (base/trail.h) the deliveries since a moment, for a spool that was restored to how it was then.
 * The trail is often on another disk than the spool, and then it knows what the spool has forgotten. A process that is
 * killed takes up to three seconds of it along.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct SentSince {
    /* Trace -> set of addresses, in lower case, for which delivery has ended, since then or shortly before: sent or
     * refused. A letter of our own may have the trace of the post that it is about, so letters are apart. */
    GHashTable *posts, *letters;
    GPtrArray *held; /* lines (of char *) about posts that were held */
    int64_t last;    /* time of the last line, us; 0: the trail has none since then */
} SentSince;

/* Read it all. An address of which the trail tells more than once counts once. FAIL_LATER: it cannot be read. */
bool sent_since_read(SentSince *sent, const char *directory, int64_t moment, GError **error);
void sent_since_clear(SentSince *sent);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SentSince, sent_since_clear)

/* Has delivery of this mail to the address ended? */
bool sent_since_has(const SentSince *sent, const char *trace, bool letter, const char *address, size_t length);
/* To how many addresses, if it is a post? */
unsigned sent_since_count(const SentSince *sent, const char *trace);
