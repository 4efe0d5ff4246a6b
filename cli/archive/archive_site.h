/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Find a list's maildir and its index, for the verbs of `listrunner archive`. */
#include <glib.h>
#include <stdbool.h>

#include "cli/site.h"
#include "store/archive/archive_index.h"
#include "store/lists/list.h"

typedef struct ArchiveSite {
    const char *directory; /* of the archiver; borrowed from the configuration */
    char *list;            /* the list's directory there; NULL: no list was asked for */
    char *archive;         /* the archive's name (list_archive_name()); NULL: no list was asked for */
    List *of;              /* the list itself; NULL: no list was asked for */
} ArchiveSite;

void archive_site_clear(ArchiveSite *place);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ArchiveSite, archive_site_clear)

/* Fill *place, which is zero before. archiver names a section [archiver.NAME] that is enabled, of type maildir, and has
 * an index; NULL: the first such section is taken. list is a list to be found there; NULL: none. The process becomes
 * [site] user. Clear *place in any case. FAIL_CONFIG: there is no such archiver, or another host keeps its archive.
 * FAIL_MISSING: there is no such list. */
bool archive_site_find(ArchiveSite *place, Site *site, const char *archiver, const char *list, GError **error);

/* The value of the option --archiver, for all verbs of `listrunner archive`; NULL: it was not given. */
extern char *archive_option;
#define ARCHIVER_OPTION                                                                                   \
    {                                                                                                     \
        "archiver", 0, 0, G_OPTION_ARG_STRING, &archive_option, "of this section [archiver.NAME]", "NAME" \
    }
