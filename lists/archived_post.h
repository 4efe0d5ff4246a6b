/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* A mail of a maildir, read for the index of its archive (store/archive_index.h). */
#include <glib.h>
#include <stddef.h>
#include <stdint.h>

#include "store/archive_index.h"

typedef struct ArchivedPost {
    ArchivePost post; /* its texts belong to this */
    GPtrArray *texts;
} ArchivedPost;

/* Read a mail of any bytes. list is its directory, file its name there without flags; arrival 0: what the name says. */
ArchivedPost *archived_post_new(const char *list, const char *file, int64_t arrival, const char *octets, size_t length);
void archived_post_free(ArchivedPost *post);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchivedPost, archived_post_free)

/* The arrival that a maildir's file says by its name, which begins with seconds; 0: it does not. */
int64_t archived_post_arrival(const char *file);
