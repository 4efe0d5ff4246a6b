/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Export a site, or some lists of it, as lines of JSON (doc/export.md), and import such a file by moving.h.
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

/* Write all that is chosen, in one transaction, so other writers to the store wait meanwhile. *lines is the number of
 * lines written. After false the file is not complete. */
bool leaving_write(Store *store, const LeavingChoice *choice, FILE *to, uint64_t *lines, GError **error);

typedef struct LeavingFile LeavingFile;
/* Begin to read an export: read its first line. file is borrowed. NULL with FAIL_CONFIG: it is no export, or has
 * another version. */
LeavingFile *leaving_open(FILE *file, GError **error);
void leaving_free(LeavingFile *from);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LeavingFile, leaving_free)
const char *leaving_source(const LeavingFile *from); /* for moving_new() */

/* Import all of the file. The caller then calls moving_finish(), or drops the import after a look at its notes, where
 * it is one transaction. FAIL_CONFIG: the file is damaged or ends early; the message names the line. */
bool leaving_move(LeavingFile *from, Moving *moving, GError **error);
