/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Read the word ENTRY of a command line, by which a person names an entry of a queue. It is the entry's name, with or
 * without suffix, or the first digits of the hash in the name (switchboard/name.h). */
#include <glib.h>
#include <stdbool.h>

#include "switchboard/name.h"

/* Fewer digits of a hash would name too many. */
#define ENTRY_WORD_DIGITS_MIN 6

typedef struct EntryWord {
    const char *text;
    const char *digits; /* the beginning of a hash, or NULL */
    EntryName name;     /* else the whole name */
} EntryWord;

/* Read a word of the command line into *word, which borrows text. False with a usage error: it is neither the name of
 * an entry nor enough digits of a hash. */
bool entry_word_parse(const char *text, EntryWord *word, GError **error);
/* Return whether the word means the entry of this name. */
bool entry_word_means(const EntryWord *word, const EntryName *name);
