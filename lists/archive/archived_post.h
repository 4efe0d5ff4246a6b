/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Read a mail of an archive's maildir into the row that the archive's index has of it
 * (store/archive/archive_index.h). */
#include <glib.h>
#include <stddef.h>
#include <stdint.h>

#include "store/archive/archive_index.h"

typedef struct ArchivedPost {
    ArchivePost post; /* its strings are owned by texts */
    GPtrArray *texts;
} ArchivedPost;

/* Read a mail, whose bytes may be anything; never NULL. list is the list's directory in the archive, file the mail's
 * file name without flags. arrival is in microseconds since 1970; 0: take the time that the file name says. */
ArchivedPost *archived_post_new(const char *list, const char *file, int64_t arrival, const char *octets, size_t length);
void archived_post_free(ArchivedPost *post);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchivedPost, archived_post_free)

/* Return the time of arrival, microseconds since 1970, from a maildir's file name, which begins with the seconds and a
 * dot; 0: it does not begin so. */
int64_t archived_post_arrival(const char *file);
