/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Do the steps that DKIM (RFC 6376, sections 3.2, 3.4 to 3.6 and 6.1; RFC 8301, RFC 8463) and ARC (RFC 8617) share:
 * read lists of tags, make canonical forms, read keys from the DNS, check signatures. All that is read may be anybody's
 * nonsense: then the answer is NULL, false or DKIM_INVALID. The work grows with the length of message and field, not
 * with their product. For this folder only.
 */
#include <glib.h>
#include <stdbool.h>

#include "mail/auth/names.h"
#include "mail/message.h"

/* Read the value of a field, "a=rsa-sha256; d=example.org; b=...": name -> value, both without blanks and folds around,
 * freed with the table. NULL: this is no such list, a tag stands in it twice, or it has a NUL. */
GHashTable *dkim_tags_of(const Field *field);

/* Return true when the list, whose words have colons between them, has the word. A list NULL has every word, and with
 * `any` a list that has "*" does. */
bool dkim_list_has(const char *list, const char *word, bool any);

/* Take the blanks and folds out of a value that may be folded anywhere (b=, bh=, h=, p=), in its place. */
char *dkim_squeeze(char *value);

/* Append the field in canonical form, with CRLF at its end. relaxed false: the form "simple". without_signature: the
 * value of its tag b= is left out. */
void dkim_append_field(GString *out, const Field *field, bool relaxed, bool without_signature);

/* Append the fields with these names (of h=, ended by NULL), in canonical form. A name that stands there n times means
 * the n lowest fields of that name; where there are fewer, nothing is appended for the rest (RFC 6376, 5.4.2). */
void dkim_append_named(GString *out, const Message *message, char **names, bool relaxed);

/* Return the text, which is a whole field, "Name: value", as a Field. The text is borrowed. */
Field dkim_field_of(const GString *text);

/* Return the SHA-256 of the body in canonical form, of its first limit bytes (-1: all), in base64; g_free(). Bare line
 * feeds count as CRLF. *length, unless NULL, is the length of that form. */
char *dkim_body_hash(GBytes *body, bool relaxed, int64_t limit, int64_t *length);

/* ---- the check of a signature ---- */

/* How a check ended. Of several keys the finding that is lowest here counts. */
typedef enum DkimFinding {
    DKIM_FITS,
    DKIM_BROKEN,  /* this is not the text that was signed, or not by this key */
    DKIM_WEAK,    /* rsa-sha1, or an RSA key of less than 1024 bits, which nobody may believe (RFC 8301) */
    DKIM_INVALID, /* the field is not as it must be, has expired, or there is no key for it */
    DKIM_UNKNOWN, /* no name server gave the key */
    DKIM_WAITS,   /* the answer of the DNS is still to come: check again then (mail/auth/names.h) */
} DkimFinding;

/* Ask for the records at s=._domainkey.d=, as Names.text does. NAMES_NONE also when these tags make no name. */
NamesAnswer dkim_ask_key(GHashTable *tags, const Names *names, const char *const **records);

/* Check that b= is the signature of the text (in canonical form) by one of the keys at s=._domainkey.d=: by RSA and
 * SHA-256, or for an Ed25519 key over the SHA-256 (RFC 8463). *reason, static, says why not; NULL: it fits. */
DkimFinding dkim_check_text(GHashTable *tags, const GString *text, const Names *names, const char **reason);

/* A signature over a message: DKIM-Signature or ARC-Message-Signature. All borrowed. */
typedef struct DkimSigned {
    const Message *message;
    const Field *field;
    GHashTable *tags; /* of the field */
    int64_t time;     /* us since 1970; x= must not be before */
    bool whole;       /* l= must cover the whole body */
} DkimSigned;

/* Check header and body by a=, c=, h=, bh=, l=, x= and the key. *reason, static, says why not; NULL: it fits. */
DkimFinding dkim_check_message(const DkimSigned *claim, const Names *names, const char **reason);
