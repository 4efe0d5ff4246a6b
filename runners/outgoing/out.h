/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The runner's parts in one place: what out.c (the loop) and setup.c (start and end) share.
 */
#include <event2/event.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/child.h"
#include "base/config.h"
#include "base/delays.h"
#include "lists/limit_share.h"
#include "runners/outgoing/claims.h"
#include "runners/outgoing/clog.h"
#include "runners/outgoing/finish.h"
#include "runners/outgoing/control_server.h"
#include "runners/outgoing/marks.h"
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
    GPtrArray *transports;  /* the first is picked from first in this turn */
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
    size_t ended;       /* since the last claims began */
    int64_t claimed_at; /* monotonic: when they did */
    size_t notices;     /* held, of SOURCE_NOTICE */
    unsigned first;     /* the source that claims first in the next turn */
    unsigned turns;
    bool every_recipient;
    Clog clog;
    Delays delays; /* of the recipients since the start */
    SavedState saved;
    LimitShare *share;
    int64_t share_at;    /* monotonic: when it is looked at again */
    int64_t remember_at; /* monotonic */
    ControlServer *control;    /* NULL: it could not be made */
    bool stopping;
    int64_t stop_at;    /* monotonic */
    GHashTable *asked;   /* hash in digits -> int64_t *: until then (monotonic) a command may take the entry */
    GArray *kept_back[SOURCES]; /* of Claim: picked, and asked for */
    int64_t asked_until; /* monotonic: the last of those times */
    uint64_t progress;
    int64_t heartbeat_us, beat_at, beaten, sweep_at, tidy_at;
} Out;

/* setup.c. owner is what transports call. False: nothing can be done; out_tear_down() is due all the same. */
bool out_set_up(Out *out, const Process *process, const TransportOwner *owner, GError **error);
void out_tear_down(Out *out);

Transport *out_find_transport(const Out *out, const char *name);

/* choose.c: what to claim next. */
/* Fewer are claimed sooner than a thread begins to. Of few at hand no more than that are claimed besides those once
 * more: what is sent first does not wait for a backlog. */
#define OUT_ASIDE_MIN 8
size_t out_busy(const Out *out); /* connections with mail under way */
/* How many entries may be claimed now, of all kinds, or of one; and how long until it is time for that (us). */
size_t out_claim_quota(const Out *out);
size_t out_source_quota(const Out *out, unsigned source);
int64_t out_claim_pause(const Out *out);
/* There is something else to do than to claim: something is under way, or can be sent. */
bool out_engaged(const Out *out);
void out_pick_all(Out *out);
