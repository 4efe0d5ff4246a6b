/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A delivery is one claimed entry while it is delivered. Its recipients are read from the entry some at a time
 * (reader.h) and made into batches; what it has for one transport is a job of the scheduler's. So of a
 * million recipients only a bounded number is in memory.
 *
 * It is over (delivery_over) when every recipient has been read and no batch waits or is out. Recipients that were
 * deferred still stand as "to do" in the file then, and the delivery has counted them.
 */
#include <glib.h>
#include <stdbool.h>

#include "runners/outgoing/batch.h"
#include "runners/outgoing/content.h"
#include "runners/outgoing/scheduler.h"
#include "switchboard/entry.h"

typedef struct Transport Transport;

/* After so many attempts that left doubt a recipient counts as refused: no server makes us send more copies. */
#define DOUBTS_MAX 3

typedef struct Delivery {
    Entry *entry;
    unsigned source;    /* index of the inbox it came from */
    Content content;
    bool favoured;      /* mail of our own, that somebody waits for */
    Transport *chosen;  /* by the list, or the default */
    size_t cursor;      /* offset of the next unread recipient */
    bool exhausted;     /* all are read */
    bool withdrawn;     /* no more is read or sent in this attempt; what is left goes back as it was */
    bool asked;         /* an operator's command waits for the entry under its name */
    GPtrArray *jobs;    /* of Job, owned: one for each transport it uses */
    size_t batches;     /* waiting or out */
    size_t in_core;     /* recipients of those */
    size_t read;        /* recipients read so far, done ones not counted */
    size_t slots;       /* recipients that it may have in memory beyond the minimum (pool.h) */
    int64_t last_read;  /* clock_steady() */
    GList reading, hunger; /* in the reader */
    bool listed, hungry;
    size_t sent, refused, deferred, parked;
    unsigned doubts;    /* attempts before this one after which nobody knew whether it was delivered */
    GHashTable *doubtful; /* set of offsets of recipients of whom nobody knows this time; NULL: none */
    bool over_doubted;  /* a recipient was refused for too many doubts, and the bounce could not be stored */
    GArray *places;     /* of Place: destinations for which recipients wait; NULL: none, or too many */
    bool scattered;     /* too many */
    GArray *parts;      /* of RetryPart (retry_parts.h): of each draft that it becomes, in their order; NULL: none */
    bool dirty;         /* marks were written since the last sync */
    char *last_reply;   /* of the last deferral */
    int64_t claimed;    /* wall clock */
    int64_t queued;     /* the same by clock_steady() */
    GList held;         /* in the list of all deliveries, in the order of claiming */
} Delivery;

/* A destination for which recipients wait, and when to look again (wall clock). */
typedef struct Place {
    Destination *destination;
    int64_t due;
    bool tried; /* some were refused for the destination's sake */
} Place;

/* Recipients of a delivery that wait for more destinations than these wait together, by the law of their transport: no
 * post becomes thousands of entries because the network is down. */
#define PLACES_MAX 32

/* Some of its recipients wait for the destination; the later time counts. */
void delivery_wait_for(Delivery *delivery, Destination *destination, int64_t due, bool tried);
const Place *delivery_place(const Delivery *delivery, const Destination *destination);

/* Nobody knows whether these got it. */
void delivery_doubt(Delivery *delivery, size_t offset);

/* Consumes entry; keys (of DkimKey) are borrowed. Fails (FAIL_NEVER) when it is nothing that could be delivered; the
 * entry stays the caller's then. */
Delivery *delivery_new(Entry *entry, unsigned source, const GPtrArray *keys, GError **error);
void delivery_free(Delivery *delivery);

/* The next recipient that is still to do; false at the end. */
bool delivery_next(Delivery *delivery, Recipient *recipient);

/* What is behind the @ of an address as content_address() leaves it; "" when there is none. */
const char *delivery_domain(const Recipient *recipient, size_t *length);

bool delivery_over(const Delivery *delivery);

/* Recipients not yet read, estimated from their octets. */
size_t delivery_unread(const Delivery *delivery);
