/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Requests to join or leave a list, to change an address or to set options, that wait for an answer: of the person,
 * who was sent a token by mail, or of a moderator, who names the request by its number.
 *
 * A token is 128 random bits, written as 26 lower-case letters and digits. A request holds only its SHA-256. The letter
 * that brings it to the person is in the outbox and in the spool until it is sent, and what a database has deleted may
 * lie in its file for a while; so the database and the spool are for the eyes of the programs alone, and a token is
 * worth nothing once it was used or has expired. There is one request for each kind, list and address: a new one takes
 * the place of the old one and keeps its number. A request that has expired is treated as if it were not there.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "store/store_type.h"

typedef enum PendingKind { PENDING_JOIN, PENDING_LEAVE, PENDING_CHANGE_ADDRESS, PENDING_SET } PendingKind;
typedef enum PendingWelcome { WELCOME_AS_LIST, WELCOME_YES, WELCOME_NO } PendingWelcome;
typedef enum PendingWaitsFor { PENDING_PERSON, PENDING_MODERATOR } PendingWaitsFor;
const char *pending_kind_text(PendingKind kind);
const char *pending_waits_for_text(PendingWaitsFor waits_for);

/* Why a token is not good, so that who brings it can be told; kept for TOKEN_FATE_KEPT. */
typedef enum TokenFate {
    TOKEN_UNKNOWN,
    TOKEN_USED,
    TOKEN_EXPIRED,  /* too old, or the request was withdrawn */
    TOKEN_REPLACED, /* by that of a newer letter */
} TokenFate;
#define TOKEN_FATE_KEPT (60 * 86400 * CLOCK_SECOND)

typedef struct Pending {
    int64_t number; /* for people; never used twice */
    PendingKind kind;
    char *list_id, *address, *display_name;
    unsigned facts; /* of lists/workflow.h */
    int way;        /* LEAVE: by which way the person goes (LeaveWay of lists/leave.h); else 0 */
    PendingWaitsFor waits_for;
    int64_t made_at;
    int64_t asked_at; /* when the last letter about it was sent */
    int64_t expires_at;
    int delivery_mode, delivery_status; /* to join with; -1: as it comes */
    bool as_user;                       /* to join as the user, by the address that is preferred */
    PendingWelcome welcome;             /* whether who joins is welcomed */
    char *detail; /* CHANGE_ADDRESS: the address that takes the place; SET: what to set; else NULL */
} Pending;

void pending_free(Pending *pending);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Pending, pending_free)

/* Make a token. FAIL_LATER: the system has no random bytes. */
#define PENDING_TOKEN_CHARS 26
bool pending_token_new(char token[PENDING_TOKEN_CHARS + 1], GError **error);
/* Has text the form of a token, in any case of letters? That is ours, or that of GNU Mailman (40 hex digits), whose
 * requests keep theirs when a site moves in (lists/moving/). */
bool pending_token_is_one(const char *text);

/* Add the request or replace the one that is there; number is set on return. token NULL: none is good for it.
 * FAIL_NEVER: the address is not valid; FAIL_MISSING: there is no such list. */
bool pending_put(Store *store, Pending *pending, const char *token, GError **error);

/* FAIL_MISSING: there is none, or it has expired by now. */
Pending *pending_find(Store *store, int64_t number, int64_t now, GError **error);
Pending *pending_find_token(Store *store, const char *token, int64_t now, GError **error);
/* The same for the one with kind, list_id and address of like; where there is none, *pending is NULL and that is no
 * error. */
bool pending_find_like(Store *store, const Pending *like, int64_t now, Pending **pending, GError **error);

/* Find out what became of a token that neither pending_find_token() nor departure_find_token() finds. */
bool pending_token_fate(Store *store, const char *token, int64_t now, TokenFate *fate, GError **error);

/* Add to what is known about the request. */
bool pending_add_facts(Store *store, int64_t number, unsigned facts, GError **error);
/* fate is that of its token, if it has one. */
bool pending_remove(Store *store, int64_t number, TokenFate fate, GError **error);

/* Call each for every request in order of its number, of one list or (list_id NULL) of all; each returns false to
 * stop, and must not write to the store. */
typedef bool PendingEach(const Pending *pending, void *data);
bool pending_each(Store *store, const char *list_id, int64_t now, PendingEach *each, void *data, GError **error);

/* The lists with requests that wait for a moderator: List-Ids; g_strfreev(). */
char **pending_lists(Store *store, int64_t now, GError **error);

/* How many wait for a moderator on all lists, and since when the oldest (0: none). */
bool pending_count(Store *store, int64_t now, int64_t *count, int64_t *oldest, GError **error);

/* Remove what has expired; *removed (may be NULL) is how many. */
bool pending_expire(Store *store, int64_t now, int64_t *removed, GError **error);
