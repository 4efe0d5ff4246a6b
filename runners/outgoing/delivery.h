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
 *
 * Each group of recipients that met the same fate in one transaction gets one line in the log, in the words operators
 * know:
 */
#include <glib.h>
#include <stdbool.h>

#include "mail/copy.h"
#include "net/smtp_client.h"
#include "runners/outgoing/destination.h"
#include "runners/posts/copy_sign.h"
#include "switchboard/entry.h"

typedef struct Transport Transport;

/* FateAbout says what a refusal is about. All but FATE_OF_RECIPIENT are for the site's own relay alone (judge.h). */
typedef enum FateAbout {
    FATE_OF_RECIPIENT,
    FATE_OF_ANYBODY, /* the words do not say */
    FATE_OF_SENDER,  /* the domain of the envelope sender, or who we are */
    FATE_OF_MESSAGE,
} FateAbout;

/* Fate is the result for some recipients of a batch. Recipients with the same fate share one, so that the log can sum
 * them up. */
typedef struct Fate {
    SmtpResult result; /* its texts are the fate's own */
    size_t count;
    FateAbout about; /* of a refusal that was made a deferral, because it is the operator's matter */
    bool again;      /* the refusal was not about these recipients: they go again at once (judge.h) */
    bool waits;      /* the refusal was not about these recipients: they wait for the destination (judge.h) */
} Fate;

#define BATCH_NO_FATE UINT32_MAX

/* Recipients of one delivery that one transaction takes: all of one domain, or all for one relay. A batch waits in
 * memory with its peer (scheduler.h), goes out over a session, and comes back with a fate for each recipient. While it
 * is out it counts as busy for its destination. */
typedef struct Batch {
    struct Delivery *delivery;
    struct Job *job;
    struct Nexthop *nexthop;
    GList link;              /* in its peer */
    size_t count, room;      /* recipients in it, and the most that it can hold */
    Recipient *recipients;   /* their bytes belong to the entry */
    uint32_t *fate_of;       /* index into fates, by recipient; NULL until it goes out for the first time */
    GArray *fates;           /* of Fate */
    bool unstarted;          /* nothing was tried, so it is sent again at once */
    bool behind;             /* it failed because of the batch before it in its flight (SmtpResult) */
    char *sender;            /* of a copy (delivery.h); NULL: the delivery's */
    SmtpBody *body;
    bool careful;            /* it may have been delivered before, so it goes alone and step by step */
    unsigned unsettled;      /* attempts in a row that settled nothing and were repeated at once */
    unsigned unconnected;    /* attempts in a row that found no connection and were repeated at once */
    char *avoid;             /* the mail host that has deferred it in this attempt; NULL: none has */
    char *host;              /* the mail host that it went to */
    bool other_host;         /* there is another mail host to try */
    char *relay;             /* the server that it went to, for the log */
    unsigned conn_use;
    int64_t begun, connect_us, finished; /* monotonic; connect_us: how long it took to connect */
} Batch;

/* A back-off says how long refused mail waits before it is tried again, and when it is given up. Without a schedule it
 * waits as long as it is old, within min_us and max_us. A schedule is a row of waits. The mail's age tells which of
 * them is next: a step is over when the mail is as old as the sum of the waits up to it. The last step repeats.
 *
 * By chance a wait is a little longer, so that mails which failed together do not come back all at once. It is never
 * shorter, because a server that greylists counts the time, and refuses a mail that comes a second early. */
typedef struct Backoff {
    int64_t min_us;
    int64_t max_us;
    int64_t lifetime_us; /* an attempt at this age or later is the last */
    unsigned jitter;     /* percent, the most by which a wait is longer */
    const int64_t *steps; /* us: the schedule, borrowed */
    size_t count;         /* of steps; 0: there is no schedule */
} Backoff;

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
    size_t cursor;      /* offset of the next unread recipient */
    bool exhausted;     /* all are read */
    bool withdrawn;     /* no more is read or sent in this attempt; the entry goes back as it was */
    bool asked;         /* an operator's command about this entry waits until the entry is back in its queue */
    GPtrArray *jobs;    /* of Job, owned: one for each transport it uses */
    size_t batches;     /* waiting or out */
    size_t in_core;     /* recipients in these batches */
    size_t read;        /* recipients read so far, done ones not counted */
    size_t slots;       /* recipients that it may have in memory beyond the minimum (reader.h) */
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

static inline bool delivery_over(const Delivery *delivery)
{
    return (delivery->exhausted || delivery->withdrawn) && delivery->batches == 0;
}

/* Cut a recipient line, as it was read from the entry, down to the address: lines for copies hold more. */
void delivery_address(const Delivery *delivery, Recipient *recipient);

/* Describe the transaction of a batch. A copy is made here; it belongs to the batch. asks_reports: servers that know
 * DSN are asked to report failures. */
void delivery_describe(Batch *batch, bool asks_reports, SmtpTransaction *transaction);

/* Make an empty batch with room for this many recipients; delivery and next hop are borrowed. */
Batch *batch_new(struct Delivery *delivery, struct Nexthop *nexthop, size_t room);
void batch_free(Batch *batch);
/* Add a recipient (copied); there must be room. */
static inline void batch_add(Batch *batch, const Recipient *recipient)
{
    batch->recipients[batch->count++] = *recipient;
}

/* Forget the fates of an earlier attempt. Call it before a batch goes out, ahead of any batch_set_fate(). */
void batch_begin(Batch *batch);
/* Record the fate of one recipient. */
void batch_set_fate(Batch *batch, size_t index, const SmtpResult *result);
/* Record the same fate for all recipients that have none. */
void batch_set_rest(Batch *batch, const SmtpResult *result);
/* Keep the first `most` recipients (fewer than it has), and return a new batch with the others. */
Batch *batch_cut(Batch *batch, size_t most);
/* Move the recipients whose fate says `again` into a new batch; return NULL when there are none. The old batch may be
 * empty afterwards. */
Batch *batch_split(Batch *batch);
/* Return the fate of a recipient, borrowed. */
static inline const Fate *batch_fate(const Batch *batch, size_t index)
{
    g_assert(batch->fate_of[index] != BATCH_NO_FATE);
    return &g_array_index(batch->fates, Fate, batch->fate_of[index]);
}

/* Return how long mail of this age waits, in us. chance is a random number, 0 <= chance < 1. */
int64_t backoff_delay(const Backoff *backoff, int64_t age_us, double chance);
/* Return the longest wait that backoff_delay() may give. */
int64_t backoff_longest(const Backoff *backoff);
/* Return true when mail of this age is not to be tried again. */
static inline bool backoff_expired(const Backoff *backoff, int64_t age_us)
{
    return age_us >= backoff->lifetime_us;
}

/* Write the lines of a batch that has come back with its fates. every_recipient: each recipient gets a line of its
 * own. The addresses of all recipients are written into the trail (base/trail/trail.h) in either case. */
void report_batch(const Batch *batch, bool every_recipient);

/* Write one line for this number of recipients that are put off untried, because no connection can be had. */
void report_deferral(const Delivery *delivery, size_t recipients, const char *reason);
