/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Read the keys of the sections [dkim.NAME], and put DKIM signatures and an ARC seal on mail that leaves. */
#include <glib.h>

#include "base/config.h"
#include "mail/auth/arc.h"

/* Read the key files of all sections that are enabled and whole. Return an array of DkimKey that frees them. A key that
 * cannot be read is told in the log and left out, because mail without a signature is better than none. */
GPtrArray *dkim_keys_read(const Config *config);

/* The signatures and the seal that a message is to get. */
typedef struct Signing {
    const char *domain;  /* of the list */
    bool dkim;           /* each key that fits the domain (dkim_key_fits()) signs */
    const ArcSeal *seal; /* the first key that fits and may seal does so; NULL: no seal */
} Signing;

/* Return true when some key fits a signature or the seal of this Signing. */
bool dkim_keys_fit(const GPtrArray *keys, const Signing *signing);

/* Return the message, which is as it leaves, with the signatures and the seal before its other fields; a new reference.
 * A key that cannot sign is told in the log, with `about` before it, and left out. */
GBytes *dkim_keys_sign(const GPtrArray *keys, const Signing *signing, GBytes *octets, const char *about);

/* Return only the fields that dkim_keys_sign() would put into the message, with CRLF, "" where there are none;
 * g_free(). Neither function seals a message that has lost the fields of its ARC chain (arc_seal()). */
char *dkim_keys_fields(const GPtrArray *keys, const Signing *signing, GBytes *octets, const char *about);
/* Return the offset in the message at which these fields belong: before its other fields, and behind a first line that
 * is no field (mail/message.h). */
size_t dkim_keys_place(const Message *message);
