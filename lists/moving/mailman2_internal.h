/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Share a list of Mailman 2.1 among the files that read it. */
#include "lists/moving/mailman2.h"
#include "lists/moving/pickle.h"

typedef struct Mailman2 {
    Moving *moving;
    const char *directory;
    const PickleValue *config;
    const char *charset; /* of texts that are bytes */
    char *list_id, *address;
    GHashTable *options, *names, *languages, *statuses, *bounces, *topics; /* of members: pickle_table() */
} Mailman2;

/* Return the charset of Mailman's texts in a language; "": UTF-8. */
const char *mailman2_charset(const char *language);
/* Return an integer, or a float rounded up; fallback where the value is neither. */
int64_t mailman2_number(const PickleValue *value, int64_t fallback);
/* Return seconds since 1970 as a time; 0: it is none. */
int64_t mailman2_time(const PickleValue *value);
/* Return text in UTF-8, as it is where it is valid, else of the list's charset, with LF for CRLF. NULL: it is no text.
 * g_free() */
char *mailman2_text(const Mailman2 *from, const PickleValue *value);

/* Add the list's settings (of MovingSetting), and tell of those that have no equal here. */
void mailman2_settings(Mailman2 *from, GPtrArray *settings);
/* Import the list's bans and header filters. */
bool mailman2_bans(Mailman2 *from, GError **error);
bool mailman2_filters(Mailman2 *from, GError **error);
