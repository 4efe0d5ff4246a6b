/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Another address takes the place of one in texts and mails, wherever it stands: in header fields, encoded words,
 * bodies in quoted-printable and base64, mails inside of mails, and in the forms that programs write it in:
 *
 *   anne@example.org   anne%40example.org   anne&#64;example.org   cats-bounces+anne=example.org@lists.example.com
 *
 * In any case of letters, and not as a part of a longer address (joanne@example.org). A field From, Sender, Reply-To,
 * To or Cc that names it alone loses the name that stands there, too. Message-ID, In-Reply-To and References stay, as
 * threads hang on them; files that came in base64 and are no text stay as they are. Whatever is replaced is not what
 * was signed any more. Every other byte stays. Nothing fails.
 */
#include <glib.h>
#include <stddef.h>

typedef struct Pseudonym {
    const char *address, *pseudonym; /* valid addresses */
} Pseudonym;

/* Append the text, and return how often the address stood in it; out NULL: only count. */
size_t pseudonym_text(const Pseudonym *names, const char *text, size_t length, GString *out);
/* The same for a mail of any bytes. */
size_t pseudonym_mail(const Pseudonym *names, const char *octets, size_t length, GString *out);
