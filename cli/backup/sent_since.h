/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read from the trail (base/trail/trail.h) the deliveries since a moment, for a spool that was restored to how it was
 * then. The trail is often on another disk than the spool, so it knows what the spool has forgotten. It lacks up to
 * three seconds before a process that wrote it was killed.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct SentSince {
    /* The trace of a mail -> set of addresses, in lower case. For these, delivery has ended (sent or refused) since the
     * moment or up to ten minutes before. A letter of our own may have the trace of the post that it is about, so
     * letters are apart. */
    GHashTable *posts, *letters;
    GHashTable *taken; /* List-Id -> how many posts it took after the moment, accepted or held (GUINT_TO_POINTER) */
    GPtrArray *held; /* lines (of char *) about posts that were held after the moment */
    int64_t last;    /* time of the last line, us; 0: the trail has none after the moment */
} SentSince;

/* Fill *sent from the trail in this directory; clear it also after false. moment is in us. FAIL_LATER: the trail cannot
 * be read. */
bool sent_since_read(SentSince *sent, const char *directory, int64_t moment, GError **error);
void sent_since_clear(SentSince *sent);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SentSince, sent_since_clear)

/* Has delivery of the mail with this trace to the address ended? letter: it is a letter of our own, and no post. */
bool sent_since_has(const SentSince *sent, const char *trace, bool letter, const char *address, size_t length);
/* Return the number of addresses for which delivery of the post with this trace has ended. */
unsigned sent_since_count(const SentSince *sent, const char *trace);
