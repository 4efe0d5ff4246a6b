/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Hold one claimed entry while it is delivered. The reader (reader.h) reads the recipients of a delivery some at a time
 * and makes batches of them. So only a bounded number of a million recipients is in memory. All batches of the delivery
 * for one transport are a job of that transport's scheduler.
 *
 * A delivery is over (delivery_over()) when every recipient has been read, or the delivery was withdrawn, and no batch
 * waits or is out. Recipients that were deferred still stand as "to do" in the file; the delivery has counted them.
 */
#include <glib.h>
#include <stdbool.h>

#include "mail/copy.h"
#include "net/smtp_client.h"
#include "runners/outgoing/batch.h"
#include "runners/outgoing/scheduler.h"
#include "runners/posts/copy_sign.h"
#include "switchboard/entry.h"

typedef struct Transport Transport;

/* Content holds what a delivery sends: the envelope sender and the message. They are the same for all recipients, or
 * each recipient has a copy made from the pieces of mail/copy.h. Of a copy only the parts that differ are made, when
 * its transaction begins. */
typedef struct Content {
    const char *sender; /* the envelope sender, of the entry's metadata */
    const char *xverp;  /* KEY_XVERP of the metadata; NULL: none */
    bool smtputf8;
    CopyPlan *plan;     /* each recipient has a copy of their own; NULL: all have the same */
    SmtpBody *body;     /* with a plan, the pattern of the copies */
    bool long_lines;    /* of more than 998 bytes, which are encoded for all servers */
    SmtpBody *seven;    /* for servers that take no 8-bit bytes; NULL: not asked for yet */
    SmtpBody *lines;    /* without long lines; NULL: not made yet */
    GBytes *message;
    const GPtrArray *keys; /* of DkimKey */
    CopySign sign;      /* how copies that differ, or are converted, are signed */
    const char *trace;
} Content;

typedef struct Delivery {
    Entry *entry;
    unsigned source;    /* index of the inbox it came from */
    Content content;
    const char *sender_domain; /* of the envelope sender, borrowed; "" for the null sender */
    bool favoured;      /* mail of our own for which somebody waits */
    Transport *chosen;  /* the list's transport, or the default */
    int family;         /* AF_INET, AF_INET6: of a relay's addresses only these are used; AF_UNSPEC: all */
    size_t cursor;      /* offset of the next unread recipient */
    bool exhausted;     /* all are read */
    bool withdrawn;     /* no more is read or sent in this attempt; the entry goes back as it was */
    bool asked;         /* an operator's command about this entry waits until the entry is back in its queue */
    GPtrArray *jobs;    /* of Job, owned: one for each transport it uses */
    size_t batches;     /* waiting or out */
    size_t in_core;     /* recipients in these batches */
    size_t read;        /* recipients read so far, done ones not counted */
    size_t slots;       /* recipients that it may have in memory beyond the minimum (pool.h) */
    int64_t last_read;  /* clock_steady() */
    GList reading, hunger; /* in the reader */
    bool listed, hungry;
    size_t sent, refused, deferred, parked;
    unsigned doubts;    /* attempts before this one after which nobody knew whether it was delivered */
    GHashTable *lost;   /* set of offsets: recipients whose transaction broke off in this attempt; NULL: none */
    GHashTable *spared; /* set of offsets: recipients whom nobody charges with this failure; NULL: none */
    GHashTable *doubtful; /* those of them that may have got the mail all the same; NULL: none */
    GArray *places;     /* of Place: destinations for which recipients wait; NULL: none, or too many */
    bool scattered;     /* there were more than PLACES_MAX */
    GArray *parts;      /* of finish.c: one for each draft that it becomes, in order; NULL: none */
    Transport *halted;  /* its relay has refused the message: it gets no more of it in this attempt; NULL: none has */
    unsigned copies_refused; /* transactions in which its relay has refused the message, in this attempt */
    char *halted_status, *halted_text, *halted_reply;
    SmtpPhase halted_at;
    bool dirty;         /* marks were written since the last sync */
    char *last_reply;   /* of the last deferral */
    const char *last_phase; /* of that; static. NULL: there was none */
    int64_t claimed;    /* wall clock */
    int64_t queued;     /* clock_steady(): when the mail arrived. What is at hand is served in that order */
    GList held;         /* in the list of all deliveries, in the order of claiming */
} Delivery;

/* A destination that recipients of a delivery wait for. */
typedef struct Place {
    Destination *destination;
    int64_t due; /* when to look again, by the wall clock */
    bool tried;  /* the destination has refused some of them */
} Place;

/* When the recipients of a delivery wait for more destinations than this, they wait together in one entry, with their
 * transport's back-off. So no post becomes thousands of entries because the network is down. */
#define PLACES_MAX 32

/* Note that recipients of the delivery wait for the destination until due. The later of two times counts. */
void delivery_wait_for(Delivery *delivery, Destination *destination, int64_t due, bool tried);
/* Return what was noted for the destination; NULL when nothing was. */
const Place *delivery_place(const Delivery *delivery, const Destination *destination);

/* Note that the recipient at this offset failed because of us, or of our relay; and return whether that is so. */
void delivery_spare(Delivery *delivery, size_t offset);
bool delivery_spared(const Delivery *delivery, size_t offset);

/* Note that the connection was lost while the mail went to the recipient at this offset. in_doubt: the server had all
 * of it, and may have delivered it. */
void delivery_lost(Delivery *delivery, size_t offset, bool in_doubt);
/* Return true when a recipient failed only because its connection was lost: in this attempt, or in one before
 * (doubts). */
bool delivery_blameless(const Delivery *delivery, size_t offset);

/* Begin to deliver an entry, which is consumed; keys (of DkimKey) are borrowed. source is the index of its inbox
 * (finish.h). NULL, with FAIL_NEVER: the entry can never be delivered, and stays the caller's. */
Delivery *delivery_new(Entry *entry, unsigned source, const GPtrArray *keys, GError **error);
/* Free the delivery and its entry. NULL is allowed. */
void delivery_free(Delivery *delivery);

/* Read the next recipient that is still to do. Returns false at the end. */
bool delivery_next(Delivery *delivery, Recipient *recipient);

/* Return the domain of a recipient's address, which is not ended by a zero byte; *length is 0 when there is none.
 * Borrowed from the recipient. */
const char *delivery_domain(const Recipient *recipient, size_t *length);

bool delivery_over(const Delivery *delivery);

/* Estimate the number of recipients not yet read from the length of their lines. */
size_t delivery_unread(const Delivery *delivery);

/* Return true when each recipient needs a transaction of their own. */
static inline bool delivery_single(const Delivery *delivery)
{
    return delivery->content.plan != NULL;
}

/* Cut a recipient line, as it was read from the entry, down to the address: lines for copies hold more. */
void delivery_address(const Delivery *delivery, Recipient *recipient);

/* Fill the transaction of a batch, but for its recipients and its data pointer. A copy is made here; it belongs to the
 * batch. */
void delivery_describe(Batch *batch, SmtpTransaction *transaction);

/* Ask servers that know DSN (RFC 3461) to send back failures alone and without the text, as letters about the entry of
 * this trace and the address that a member gave. The author of the post has no say in it: his mail has reached the
 * list. Mail without a sender is to cause no report. */
void delivery_ask_reports(const Batch *batch, SmtpTransaction *transaction);
