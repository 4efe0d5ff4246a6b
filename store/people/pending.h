/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep requests that wait for an answer: to join or leave a list, to change an address, or to set options. The person
 * answers with a token that was sent by mail, or a moderator answers and names the request by its number.
 *
 * A token is 128 random bits, written as 26 lower-case letters and digits. The database keeps only the token's SHA-256.
 * The letter that brings a token to the person is in the outbox and the spool until it is sent, so nobody but the
 * programs may read these. A token is worth nothing once it was used or has expired. There is one request for each
 * kind, list and address: a new one takes the place of the old one and keeps its number. A request that has expired
 * by the `now` of a call is treated as if it were not there.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/mailbox.h"
#include "store/store_type.h"

typedef enum PendingKind { PENDING_JOIN, PENDING_LEAVE, PENDING_CHANGE_ADDRESS, PENDING_SET } PendingKind;
typedef enum PendingWelcome { WELCOME_AS_LIST, WELCOME_YES, WELCOME_NO } PendingWelcome;
typedef enum PendingWaitsFor { PENDING_PERSON, PENDING_MODERATOR } PendingWaitsFor;
/* Return the word for it, static. */
const char *pending_kind_text(PendingKind kind);
const char *pending_waits_for_text(PendingWaitsFor waits_for);

/* Why a token is not good, so that a letter or page can tell the person; remembered for TOKEN_FATE_KEPT. */
typedef enum TokenFate {
    TOKEN_UNKNOWN,
    TOKEN_USED,
    TOKEN_EXPIRED,  /* too old, or the request was withdrawn */
    TOKEN_REPLACED, /* a newer letter about the same request has another token */
} TokenFate;
#define TOKEN_FATE_KEPT (60 * 86400 * CLOCK_SECOND)

typedef struct Pending {
    int64_t number; /* for people; never used twice */
    PendingKind kind;
    char *list_id, *display_name;
    const Mailbox *address;
    unsigned facts; /* what is known about the request: flags of lists/people/subscription.h */
    int way;        /* LEAVE: by which way the person goes (LeaveWay of lists/people/leave.h); else 0 */
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

/* Make a random token and store nothing; pending_put() keeps it. FAIL_LATER: the system has no random bytes. */
#define PENDING_TOKEN_CHARS 26
bool pending_token_new(char token[PENDING_TOKEN_CHARS + 1], GError **error);
/* Return whether text has the form of a token, in any case of letters. A token is one of pending_token_new(), or one of
 * GNU Mailman (40 hex digits): requests that were brought in from there keep their tokens (lists/moving/). */
bool pending_token_is_one(const char *text);

/* Add the request, or replace the request of the same kind, list and address, whose token is good no more. pending
 * stays the caller's; its number is set on return. token NULL: no token is good for the request. FAIL_NEVER: the
 * address is not valid; FAIL_MISSING: there is no such list. */
bool pending_put(Store *store, Pending *pending, const char *token, GError **error);

/* Return a request by its number or by its token; pending_free(). FAIL_MISSING: there is none, or it has expired. */
Pending *pending_find(Store *store, int64_t number, int64_t now, GError **error);
Pending *pending_find_token(Store *store, const char *token, int64_t now, GError **error);
/* Set *pending to the request that has kind, list_id and address of like (pending_free()), or to NULL where there is
 * none, which is no error. Other fields of like are not read. */
bool pending_find_like(Store *store, const Pending *like, int64_t now, Pending **pending, GError **error);

/* Find out what became of a token that neither pending_find_token() nor departure_find_token() finds. */
bool pending_token_fate(Store *store, const char *token, int64_t now, TokenFate *fate, GError **error);

/* Set these flags in facts of the request too; the other flags stay. */
bool pending_add_facts(Store *store, int64_t number, unsigned facts, GError **error);
/* Remove the request, and remember fate for its token, if it has one. True also where there is no such request. */
bool pending_remove(Store *store, int64_t number, TokenFate fate, GError **error);

/* Call each for every request in order of its number, of one list or (list_id NULL) of all. each must not write to the
 * store; it returns false to stop, and pending_each() then returns true. */
typedef bool PendingEach(const Pending *pending, void *data);
bool pending_each(Store *store, const char *list_id, int64_t now, PendingEach *each, void *data, GError **error);

/* Return the List-Ids of lists with requests that wait for a moderator; g_strfreev(). */
char **pending_lists(Store *store, int64_t now, GError **error);

/* Count the requests of all lists that wait for a moderator. *oldest is when the first of them was made; 0: none. */
bool pending_count(Store *store, int64_t now, int64_t *count, int64_t *oldest, GError **error);

/* Remove the requests that have expired by now, and drop the fates of tokens that are older than TOKEN_FATE_KEPT.
 * *removed (may be NULL) is how many requests went. */
bool pending_expire(Store *store, int64_t now, int64_t *removed, GError **error);
