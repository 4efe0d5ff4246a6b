/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Record canaries: mails that a host sends to itself through its MTA, to see that mail goes out and comes in
 * (runners/watch). There is one row for each way that such a mail can take, with the last mail sent and the last that
 * came back. lists/site/canary_state.h concludes from the rows whether mail is stuck. Times are microseconds since
 * 1970. Errors are those of the store.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* The way that a canary takes: through one slice of the queue `out`, and back through one slice of the queue `in`. A
 * canary may also be an entry that is put into some other queue to see that its slices are worked. Then family is
 * CANARY_QUEUE followed by the queue's name, out is the slice, and in is 0. */
typedef struct CanaryWay {
    const char *family; /* the kind of address by which the relay is reached: "ipv4", "ipv6"; "": whichever it has */
    int64_t out, in;    /* numbers of the slices */
} CanaryWay;

#define CANARY_QUEUE "queue "

/* Over which kind of address canaries come in by LMTP is the choice of the MTA. So there is one row for each kind over
 * which any came, whose family is CANARY_DOOR followed by "ipv4" or "ipv6", whose slices are 0, and which has no mail.
 * sent_at is since when they come over it without a long break, back_at when the last one did, and missing_since the
 * same as back_at once it is missing. */
#define CANARY_DOOR "lmtp "

typedef struct Canary {
    char *family;
    int64_t out, in;
    char *mail;            /* the last mail: its Message-ID (lists/site/round_trip.h), or the entry's name */
    int64_t sent_at;       /* when the last mail was sent */
    int64_t back_at;       /* when a mail came back last; 0: none did yet */
    int64_t missing_since; /* when the first mail was sent after which none came back; 0: none is missing */
} Canary;

void canary_free(Canary *canary);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Canary, canary_free)

/* Note that a mail was sent this way; it counts as missing until canary_back(). The row is made if there is none. */
bool canary_sent(Store *store, const char *host, const CanaryWay *way, const char *mail, int64_t now, GError **error);

/* Note that the last mail that went this way came back, so that none is missing there. */
bool canary_back(Store *store, const char *host, const CanaryWay *way, int64_t now, GError **error);

/* Return all ways of the host by family and slices, of Canary, freed with the array. */
GPtrArray *canary_all(Store *store, const char *host, GError **error);

/* Note that a canary came in by LMTP over a kind of address, "ipv4" or "ipv6".
 *
 * The other kind is missing from now on when canaries came over it for longer than `usual` (us), and since then for
 * longer than that over this kind alone. A kind over which none came for longer than `usual` begins anew: an MTA that
 * prefers one kind uses the other only while it must, and after a time in which nothing came at all, one canary says
 * nothing of the kind that it did not take. When a kind comes back that was missing, the other one is forgotten until a
 * canary comes over it. */
bool canary_came(Store *store, const char *host, const char *family, int64_t now, int64_t usual, GError **error);

/* Forget over which kinds of address canaries came in by LMTP. */
bool canary_forget_doors(Store *store, const char *host, GError **error);

/* Return the queue's name (borrowed) where the way is that of an entry; NULL: it is that of a mail. */
const char *canary_queue(const Canary *canary);

/* Is it the row of a way that a mail takes there and back, and neither of CANARY_QUEUE nor of CANARY_DOOR? */
bool canary_is_mail(const Canary *canary);

/* Count no mail as missing on the ways of mails whose missing_since is later than after. */
bool canary_excuse(Store *store, const char *host, int64_t after, GError **error);

/* Forget one way. */
bool canary_forget_way(Store *store, const char *host, const CanaryWay *way, GError **error);

/* Remove the rows of mails whose out is at least outs, or whose in is at least ins: slices that are no more. With outs
 * and ins 0, remove all rows of the host, also those of entries. */
bool canary_forget(Store *store, const char *host, int64_t outs, int64_t ins, GError **error);

/* Remove the rows of mails of all families except these two, which may be the same. */
bool canary_keep_families(Store *store, const char *host, const char *one, const char *other, GError **error);
