/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Look names up in the DNS for code that judges a message and must not wait. The code asks for a name; the caller who
 * gave it the Names answers from memory, or says NAMES_PENDING and begins to ask. Then the code gives up at once, and
 * is called again, from the beginning, when the answer is there.
 */
#include <glib.h>

typedef enum NamesAnswer {
    NAMES_FOUND,
    NAMES_NONE,    /* the name has no such record, or does not exist */
    NAMES_TROUBLE, /* no name server answered, or it answered nonsense */
    NAMES_PENDING, /* nobody knows now */
} NamesAnswer;

typedef struct Names {
    /* The TXT records of name (ASCII); *texts, set with NAMES_FOUND alone, is NULL-terminated, and borrowed until the
     * next call. */
    NamesAnswer (*text)(void *data, const char *name, const char *const **texts);
    /* Does name exist, with records of any type or names below it (RFC 8020)? */
    NamesAnswer (*exists)(void *data, const char *name);
    void *data;
} Names;
