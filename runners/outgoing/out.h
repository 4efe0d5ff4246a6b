/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Hold the state of a process of the runner out. out.c (the loop), setup.c (start and end), choose.c (what to claim)
 * and requests.c (the operator's orders) share it.
 */
#include <event2/event.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/child.h"
#include "base/config.h"
#include "base/delays.h"
#include "lists/hosts/limit_share.h"
#include "runners/outgoing/claims.h"
#include "runners/outgoing/clog.h"
#include "runners/outgoing/finish.h"
#include "runners/outgoing/control_server.h"
#include "runners/outgoing/saved_state.h"
#include "runners/outgoing/reader.h"
#include "runners/outgoing/transport.h"
#include "runners/process.h"
#include "switchboard/claim.h"

typedef struct Out {
    struct event_base *base;
    const Child *child;
    const Config *config;
    Slice slice;
    Spool *spool;
    Inbox *inboxes[SOURCES];
    struct event *watches[SOURCES];
    struct event *wake, *master, *timer, *claimed;
    Hop *hop;
    MxResolver *resolver;
    ReplyTable *replies;
    TransportShared shared;
    GPtrArray *transports;  /* of Transport; the first one is served first in this turn */
    Transport *standard;    /* the default */
    Routes *routes;
    GPtrArray *keys;        /* of DkimKey: they sign copies that differ */
    Reader reader;
    Marks marks;
    Finish finish;
    GQueue held;        /* of Delivery, oldest first */
    GQueue over;        /* of Delivery: to be finished in the next turn */
    size_t entries_max; /* held at a time */
    Claims claims;
    GArray *recalled;   /* of Parked: to be claimed before they are due */
    size_t ended;       /* deliveries that ended since the last claims began */
    int64_t claimed_at; /* monotonic: when the last claims began */
    size_t notices;     /* deliveries in held that came from SOURCE_NOTICE */
    unsigned first;     /* the source that claims first in the next turn */
    unsigned turns;
    bool every_recipient;
    Clog clog;
    Delays delays; /* of the recipients since the start */
    SavedState saved;
    LimitShare *share;
    int64_t share_at;    /* monotonic: when the share is looked at again */
    int64_t remember_at; /* monotonic */
    ControlServer *control;    /* NULL: it could not be made */
    bool stopping;
    int64_t stop_at;    /* monotonic */
    GHashTable *asked;   /* hash in digits -> int64_t *: until then (monotonic) a command may take the entry */
    GArray *kept_back[SOURCES]; /* of Claim: picked, and asked for */
    int64_t asked_until; /* monotonic: the last of those times */
    uint64_t progress;
    int64_t heartbeat_us, beat_at, beaten, sweep_at;
} Out;

/* setup.c: make all parts; owner is called by the transports. False: the process cannot work. Call out_tear_down() in
 * either case. */
bool out_set_up(Out *out, const Process *process, const TransportOwner *owner, GError **error);
void out_tear_down(Out *out);

/* Return a transport by its name, borrowed; NULL: there is none. */
Transport *out_find_transport(const Out *out, const char *name);

/* choose.c: what to claim next. */
/* The loop claims fewer entries than this itself, since that is done sooner than a thread begins. While few deliveries
 * are held, one turn claims at most this many more than are held, so that the first mail does not wait for a
 * backlog. */
#define OUT_ASIDE_MIN 8
size_t out_busy(const Out *out); /* connections with mail under way */
/* Return how many entries of all sources may be claimed now. */
size_t out_claim_quota(const Out *out);
/* Return how many entries of one source may be claimed now: places are kept for the other kinds of mail. */
size_t out_source_quota(const Out *out, unsigned source);
/* Return how long to wait before entries are claimed again, in us. */
int64_t out_claim_pause(const Out *out);
/* Return true when the loop has something else to do than to claim: mail is under way, or can be sent. */
bool out_engaged(const Out *out);
/* Pick entries of all sources to be claimed next (claims.h). */
void out_pick_all(Out *out);
