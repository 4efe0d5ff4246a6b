/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Where an address stands in the database: in rows that are about it, and within texts. Whole tables are read for that,
 * so this is for one person at a time. Texts are only candidates: they have the address somewhere in them, in any case
 * of letters, perhaps as a part of a longer one. Errors are those of the store.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

typedef enum MentionKind {
    MENTION_KNOWN,   /* what a person is and has: addresses, memberships, requests, bounces, held posts */
    MENTION_TRACE,   /* what the person did, or was told; goes with the person (mention_forget()) */
    MENTION_KEPT,    /* bans, which stay when a person goes */
    MENTION_MESSAGE, /* text is a mail, which can be replaced (mention_put()) */
    MENTION_WORDS,   /* the same with a text that is JSON, or what the log of a list says */
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

/* Call each for every place, kind by kind, until it returns false; what it is given is borrowed for the call. kinds:
 * 1u << MENTION_..., joined by |. */
typedef bool MentionEach(const Mention *mention, void *data);
bool mention_each(Store *store, const char *address, unsigned kinds, MentionEach *each, void *data, GError **error);

/* Put another text in the place of one that mention_each() gave, of MENTION_MESSAGE or MENTION_WORDS. Not during
 * mention_each(). */
bool mention_put(Store *store, const char *place, int64_t number, GBytes *text, GError **error);

/* Remove the traces of an address. */
bool mention_forget(Store *store, const char *address, GError **error);
