/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read what a mail that the MTA copied to a shadow (shadow.h) is: a post on its way to the live server, a copy or a
 * letter of the live server, or nothing that concerns a post of a list that is known here (doc/shadow.md).
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

/* One thing that a mail is; a copy for a list that is a member of another is two. */
typedef struct ShadowPiece {
    ShadowSense sense;
    char *list_id;
    char *message_id;  /* of the post, without brackets; made up where it has none */
    char *recipient;   /* of a post, as given */
    char **recipients; /* of a copy, those that are known */
    bool unknown;      /* of a copy: there are others */
} ShadowPiece;
void shadow_piece_free(ShadowPiece *piece);

/* Append to pieces (of ShadowPiece) what the mail is; nothing where it concerns no post. */
bool shadow_mail_read(Store *store, const ShadowMail *mail, GPtrArray *pieces, GError **error);
