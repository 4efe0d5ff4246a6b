/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A site, or some lists of it, as lines of JSON (doc/export.md), and back. Nothing is kept of what was written or read.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lists/moving/moving.h"

#define LEAVING_VERSION 1
#define LEAVING_LINE_MAX ((size_t)256 * 1024 * 1024) /* bytes: a post in BASE64 */

typedef struct LeavingChoice {
    char *const *lists; /* ids; NULL: the whole site */
    bool no_secrets;    /* leave out hashes of passwords, and tokens */
} LeavingChoice;

/* Write all that is chosen. Writers to the store wait meanwhile. *lines: how many were written. */
bool leaving_write(Store *store, const LeavingChoice *choice, FILE *to, uint64_t *lines, GError **error);

typedef struct LeavingFile LeavingFile;
/* Read the first line. FAIL_CONFIG: no such file, or of another version. file is borrowed. */
LeavingFile *leaving_open(FILE *file, GError **error);
void leaving_free(LeavingFile *from);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LeavingFile, leaving_free)
const char *leaving_source(const LeavingFile *from); /* for moving_new() */

/* Bring all in, but for moving_finish(), so that the caller can look at the notes first where all is one transaction.
 * FAIL_CONFIG: the file is damaged or ends early; the message names the line. */
bool leaving_move(LeavingFile *from, Moving *moving, GError **error);
