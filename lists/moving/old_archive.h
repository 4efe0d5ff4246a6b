/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the pages of an old archive from their directory (for ezmlm, the mails), and note in the store which message
 * each page showed. So old addresses can lead to the new archive (store/archive/archive_old.h). A page names its
 * message by a Message-ID. If the archive here has no such message, the only one of that subject and time is taken.
 *
 * Directories are as the program keeps them: DIR/2019-March/001234.html (pipermail), DIR/msg00123.html and below
 * (MHonArc), DIR/2019-03/msg00012.html (Sympa), DIR/1/23 (ezmlm). Other files are passed over, and so are symbolic
 * links. It may be read again at any time.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "lists/moving/old_address.h"
#include "store/archive/archive_index.h"
#include "store/archive/archive_old.h"

typedef struct OldArchive {
    OldKind kind;
    const char *path;    /* of the old pages */
    ArchiveIndex *index; /* in which messages are looked for */
    const char *list;    /* the list's directory there */
    ArchiveOld *old;     /* the table into which pages are noted */
    const char *archive; /* the name of the archive here for which they are noted */
    /* Called for a page whose message cannot be found out, which is not noted. */
    void (*tell)(const char *file, const char *why, void *data);
    void (*progress)(uint64_t pages, void *data);
    void *data;
} OldArchive;

typedef struct OldCounts {
    uint64_t pages;   /* pages that were noted */
    uint64_t missing; /* of these, pages whose message the archive here does not have now */
    uint64_t unknown; /* pages that were not noted */
} OldCounts;

/* Read all pages of from->path, and note them, in batches that are committed one after another. FAIL_MISSING: there is
 * no such directory. FAIL_LATER: the directory or the store failed; pages of earlier batches stay noted. */
bool old_archive_read(const OldArchive *from, OldCounts *counts, GError **error);
