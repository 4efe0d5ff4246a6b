/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find out from the mails that a host sends itself (store/hosts/canary.h) which part of their way does not work. The
 * parts are the relay's addresses of IPv4 and those of IPv6, and each slice of the queues out and in. A mail goes
 * through one of each, and in time all combinations have their turn. When a mail does not come back, each part of its
 * way through which a later mail came is cleared. If a single part is left, that one is to blame.
 *
 *   ipv6, out 0, in 1    came back            is to blame: in 2
 *   ipv4, out 1, in 2    did not come back    (ipv4, out 1 came back later with in 3 and in 0)
 *   ipv4, out 0, in 3    came back
 *
 * While nothing comes back at all, the whole way is missing, and no part is blamed. A part of which there is only one
 * is not told from the whole way.
 *
 * Over which kind of address mails come in by LMTP is the MTA's choice, and known when they have come. Where they come
 * over both kinds, and then for long over one alone, the other one is missing (canary_came()).
 *
 * Slices of other queues are no part of that way: an entry is put into them that does nothing. One that is not taken is
 * to blame itself.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "store/store_type.h"

typedef enum CanaryPart { CANARY_WHOLE, CANARY_FAMILY, CANARY_OUT, CANARY_IN, CANARY_BY_LMTP, CANARY_OTHER } CanaryPart;

/* A part of the way, or all of it. Times are microseconds since 1970, 0: never. */
typedef struct CanaryState {
    CanaryPart part;
    char name[40];         /* "way", "ipv4", "ipv6", "out", "in", "lmtp ipv4", or of CANARY_OTHER the queue */
    int64_t slice;         /* of a queue; else -1 */
    int64_t sent_at;       /* of the last mail */
    int64_t back_at;       /* when one came back last */
    int64_t missing_since; /* when the first one was sent that did not come back because of it; 0: it works */
} CanaryState;

/* Return all that is known of this host, of CanaryState, the whole way first; empty where no mail was sent.
 * g_array_unref(); NULL with the error of the store. */
GArray *canary_state(Store *store, const char *host, GError **error);

/* Return what canary_state() returns, from rows (of Canary) that were read already. */
GArray *canary_state_of(const GPtrArray *rows);

/* Note over which kind of address a mail for the list came in that peer (KEY_PEER) handed in by LMTP, as the runner in
 * sees it. Do nothing when it is none of these mails, or came over neither kind, or with [watch] both_families = no.
 * The error is that of the store. */
bool canary_door_note(Store *store, const Config *config, const char *list_id, const char *peer, int64_t now,
                      GError **error);
