/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Replace one address by another (its pseudonym) in texts and mails, wherever it stands: in header fields, encoded
 * words, bodies in quoted-printable and base64, mails inside of mails, and in the forms that programs write it in:
 *
 *   anne@example.org   anne%40example.org   anne&#64;example.org   cats-bounces+anne=example.org@lists.example.com
 *
 * The address is found in any case of letters, but not as a part of a longer address (joanne@example.org). A field
 * From, Sender, Reply-To, To or Cc that holds this address alone also loses the person's name. Message-ID, In-Reply-To
 * and References stay, because threads depend on them, and so do files in base64 that are no text. Signatures over what
 * was replaced become invalid. Every other byte stays. Nothing fails.
 */
#include <glib.h>
#include <stddef.h>

typedef struct Pseudonym {
    const char *address, *pseudonym; /* valid addresses */
} Pseudonym;

/* Append the text, and return how often the address stood in it; out NULL: only count. */
size_t pseudonym_text(const Pseudonym *names, const char *text, size_t length, GString *out);
/* Do the same as pseudonym_text() for a whole mail, which may be any bytes. */
size_t pseudonym_mail(const Pseudonym *names, const char *octets, size_t length, GString *out);
