/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Where verbs of `listrunner archive` find a list's maildir and the index. */
#include <glib.h>
#include <stdbool.h>

#include "cli/site.h"
#include "store/archive_index.h"
#include "store/list.h"

typedef struct ArchiveSite {
    const char *directory; /* of the archiver; borrowed from the configuration */
    char *list;            /* the list's directory there; NULL: no list was asked for */
    char *archive;         /* the archive's name (list_archive_name()); NULL likewise */
    List *of;              /* the list itself; NULL likewise */
} ArchiveSite;

void archive_site_clear(ArchiveSite *place);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ArchiveSite, archive_site_clear)

/* Find the maildir archiver of that name, or (NULL) the first one, that is enabled and has an index; and the place of a
 * list there, if list is not NULL. The process becomes [site] user. FAIL_CONFIG: there is no such archiver,
 * or another host keeps its archive. FAIL_MISSING: there is no such list. */
bool archive_site_find(ArchiveSite *place, Site *site, const char *archiver, const char *list, GError **error);

/* The option --archiver, for all verbs of the group. */
extern char *archive_option;
#define ARCHIVER_OPTION                                                                                   \
    {                                                                                                     \
        "archiver", 0, 0, G_OPTION_ARG_STRING, &archive_option, "of this section [archiver.NAME]", "NAME" \
    }
