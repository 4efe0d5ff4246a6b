/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * How copies that differ are to be signed when they are made, in the metadata of an entry for out (KEY_SIGN): the
 * pipeline writes it, the runner out reads it.
 *
 *   {"domain": "lists.example.com", "dkim": true, "chain": "pass", "instance": 1, "results": "lists.example.com; ..."}
 *
 * The last three are there when each copy is to be sealed (mail/arc.h).
 */
#include <jansson.h>

#include "mail/dkim_keys.h"

typedef struct CopySign {
    Signing signing; /* domain NULL: nothing is to be signed */
    ArcSeal seal;
} CopySign;

/* Write it. */
void copy_sign_write(json_t *meta, const Signing *signing);

/* Read it. Texts are borrowed from meta; sign points into itself and must stay where it is. The caller sets the time of
 * the seal. */
void copy_sign_read(const json_t *meta, CopySign *sign);
