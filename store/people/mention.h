/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find every place in the database where an e-mail address stands, to tell a person what is kept, or to remove it:
 * rows that are about the address, and texts that may contain it. Whole tables are read for that, so use it for one
 * person at a time. A text is only a candidate, into which the caller has to look: it may hold the address as a part of
 * a longer one, and of MENTION_MESSAGE all posts of others are given. Errors are those of the store.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mailbox.h"
#include "store/store_type.h"

typedef enum MentionKind {
    MENTION_KNOWN,   /* what a person is and has: addresses, memberships, requests, bounces, held posts */
    MENTION_TRACE,   /* what the person did, or was told; goes with the person (mention_forget()) */
    MENTION_KEPT,    /* bans, and notes of sources of members, which stay when a person goes */
    MENTION_MESSAGE, /* text is a mail, which can be replaced (mention_put()) */
    MENTION_WORDS,   /* text is JSON or a value in the log of a list, which can be replaced (mention_put()) */
    MENTION_TEXT,    /* settings and texts of people who run lists, and mail under way */
} MentionKind;

typedef struct Mention {
    MentionKind kind;
    const char *place;   /* "session": a word for people */
    const char *list_id; /* NULL: of no list */
    const char *detail;  /* a few words that tell it from others of its place; "": none */
    int64_t number;      /* of the row, for mention_put(); 0: there is none */
    GBytes *text;        /* NULL: the row is about the address */
} Mention;

/* Call each for every place of these kinds (1u << MENTION_..., joined by |), until it returns false. The Mention is
 * borrowed for the call. */
typedef bool MentionEach(const Mention *mention, void *data);
bool mention_each(Store *store, const Mailbox *address, unsigned kinds, MentionEach *each, void *data, GError **error);

/* Replace a text of MENTION_MESSAGE or MENTION_WORDS; place and number are those that mention_each() gave. Call it
 * after mention_each() has returned. */
bool mention_put(Store *store, const char *place, int64_t number, GBytes *text, GError **error);

/* Remove all rows of MENTION_TRACE of an address. */
bool mention_forget(Store *store, const Mailbox *address, GError **error);
