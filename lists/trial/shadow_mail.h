/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find out what a mail is that the MTA copied to a shadow (shadow.h). It may be a post on its way to the live server,
 * or a copy or a letter that the live server sent about a post. Only lists that the store knows count (doc/shadow.md).
 */
#include <glib.h>
#include <stdbool.h>

#include "store/store_type.h"

/* A mail as it came to the shadow. All is borrowed. */
typedef struct ShadowMail {
    const char *sender; /* of the envelope, "" for the null sender */
    char **recipients;  /* of the envelope */
    GBytes *octets;
    const char *bcc; /* the address that the MTA copies to, where that is in the envelope in place of the recipient:
                        alone, or with it, "shadow+anne=example.org@shadow.invalid"; NULL: the envelope is as it was */
    char delimiter;  /* [lmtp] verp_delimiter */
} ShadowMail;

typedef enum ShadowSense {
    SHADOW_POST,      /* to a list */
    SHADOW_COPY,      /* of a post, from the live server */
    SHADOW_HELD,      /* a letter that brings the moderators a post to decide about */
    SHADOW_REJECTED,  /* a letter that brings the author's post back */
    SHADOW_FORWARDED, /* a letter that brings the owners a post that is not for the list */
} ShadowSense;

/* One meaning of a mail. A mail may have several: a copy to a member that is a list itself is also a post to that
 * list. */
typedef struct ShadowPiece {
    ShadowSense sense;
    char *list_id;
    char *message_id;  /* of the post, without brackets; made up where it has none */
    char *token;       /* what a post and its copies have in common: message_id; on an anonymous list, whose copies have
                          others, the field Date */
    char *recipient;   /* of a post, as given */
    char **recipients; /* of a copy: the recipients that are known */
    bool unknown;      /* of a copy: it has recipients besides, whose addresses are not known */
} ShadowPiece;
void shadow_piece_free(ShadowPiece *piece);

/* Append to `pieces` a ShadowPiece for each meaning of the mail; none where it concerns no post. False: the store
 * failed. */
bool shadow_mail_read(Store *store, const ShadowMail *mail, GPtrArray *pieces, GError **error);
