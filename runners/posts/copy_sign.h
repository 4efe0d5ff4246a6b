/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write and read how out is to sign the copies of an entry, in its metadata (KEY_SIGN). The runner pipeline writes it,
 * the runner out reads it. The pipeline signs a message that is the same for all. Out signs copies that differ when it
 * makes them, and whatever it converts for a server without 8BITMIME, because that breaks the signatures of the
 * pipeline.
 *
 *   {"domain": "lists.example.com", "dkim": true, "octets": 512,
 *    "chain": "pass", "instance": 1, "results": "lists.example.com; ..."}
 *
 * "octets" is the length of the fields that the pipeline has put at dkim_keys_place(); it is absent when there are
 * none. The last three are there when the mail is sealed, too (mail/auth/arc.h).
 */
#include <jansson.h>

#include "mail/auth/dkim_keys.h"

typedef struct CopySign {
    Signing signing; /* domain NULL: nothing is to be signed */
    ArcSeal seal;
    size_t octets;   /* of the fields that the message has already; may be more than it has, if the entry is damaged */
} CopySign;

/* Write into meta how copies are signed; octets is the length of the fields that the pipeline has put into the
 * message. */
void copy_sign_write(json_t *meta, const Signing *signing, size_t octets);

/* Read from meta how copies are signed; the texts of meta are borrowed. *sign points into itself, so it must not be
 * moved in memory. The caller sets the time of the seal. */
void copy_sign_read(const json_t *meta, CopySign *sign);
