/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The pages of an old archive, or of ezmlm its mails, are read from their directory, and it is noted which message
 * each one showed (store/archive_old.h). A page is known by its Message-ID. Where it has none, or none that is in the
 * archive here, the one message of that subject and time is taken, if there is one.
 *
 * Directories are as the program keeps them: DIR/2019-March/001234.html (pipermail), DIR/msg00123.html and below
 * (MHonArc), DIR/2019-03/msg00012.html (Sympa), DIR/1/23 (ezmlm). Other files are passed over, and so are symbolic
 * links. It may be read again at any time.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "lists/moving/old_address.h"
#include "store/archive_index.h"
#include "store/archive_old.h"

typedef struct OldArchive {
    OldKind kind;
    const char *path;    /* of the old pages */
    ArchiveIndex *index; /* in which messages are looked for */
    const char *list;    /* the list's directory there */
    ArchiveOld *old;     /* to which it is noted, */
    const char *archive; /* for the archive of this name */
    /* Called for a page of which nothing can be known. */
    void (*tell)(const char *file, const char *why, void *data);
    void (*progress)(uint64_t pages, void *data);
    void *data;
} OldArchive;

typedef struct OldCounts {
    uint64_t pages;   /* that were noted, */
    uint64_t missing; /* of which the archive here lacks so many messages now */
    uint64_t unknown; /* that were not */
} OldCounts;

/* FAIL_MISSING: there is no such directory. FAIL_LATER: it, or the store, cannot be read; what was noted stays. */
bool old_archive_read(const OldArchive *from, OldCounts *counts, GError **error);
