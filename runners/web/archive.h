/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare what the pages of the archive share. The pages show what the first archiver with an index has stored: its
 * index (store/archive/archive_index.h) and its maildirs. If another host keeps that archive, readers are sent there.
 *
 * A list's archive is /archive/NAME, by the name of list_archive_name(); all links below it are made of
 * Message-ID-Hashes and of times. A reader of a public archive who is no member of the list sees addresses without
 * their domains.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "runners/web/mail_html.h"
#include "runners/web/web.h"
#include "runners/web/view_cache.h"
#include "store/archive/archive_index.h"
#include "store/archive/archive_old.h"
#include "store/archive/archive_search.h"
#include "store/lists/list.h"

typedef struct WebArchive {
    const char *directory; /* of the archiver */
    const char *host;      /* the other host that keeps the archive; NULL: this one does */
    ArchiveIndex *index;   /* NULL: not open */
    GHashTable *public;    /* from the number to the List-Id of each list that all may search; NULL: not read */
    int64_t public_until;  /* when public is read anew; monotonic */
    ViewCache *views;      /* of messages */
    ArchiveOld *old;       /* old addresses; NULL: not open */
    int64_t search_free;   /* when the time that strangers' searches took is paid off; monotonic */
} WebArchive;

/* Make the state of the archive's pages. NULL: the site has no archiver with an index. */
WebArchive *web_archive_new(const Config *config);
void web_archive_free(WebArchive *archive);

/* One list's archive, read by somebody. */
typedef struct ArchiveReading {
    WebCall *call;
    ArchiveIndex *index;
    List *list;
    ArchiveList *found; /* NULL: nothing was posted yet */
    char *name;         /* of the archive */
    char *directory;    /* its maildir, below the archiver's directory */
    char *path;         /* "/base/archive/NAME", as links have it */
    bool member;        /* the reader has a role on the list, and sees whole addresses */
} ArchiveReading;

void archive_reading_clear(ArchiveReading *reading);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ArchiveReading, archive_reading_clear)

/* Open the archive that the first part of the path names, if the reader may read it. false: the call was answered.
 * Begin with {0}, and clear *reading in either case. */
bool archive_read(WebCall *call, ArchiveReading *reading);
/* Open the archive of this name, as archive_read() does that of the path. */
bool archive_read_named(WebCall *call, const char *name, ArchiveReading *reading);
/* Open the archive of a list without answering the call, for a search over several lists. FAIL_MISSING: there is no
 * such list, or the reader may not read its archive. */
bool archive_read_list(WebCall *call, const char *list_id, ArchiveReading *reading, GError **error);
/* Return whether this host keeps the archive. false: the call was answered, by 302 to the same path below the web_url
 * of the host that does, or 503 where that host is away, has no pages, or has the web_url of this one. */
bool archive_is_here(WebCall *call);
/* Return the index, borrowed, opened anew where it was replaced. NULL: the call was answered. */
ArchiveIndex *archive_open(WebCall *call);
/* Answer a failure (taken): 404 for FAIL_MISSING and FAIL_NEVER, else 503. Unless it is FAIL_MISSING, the index is
 * closed, and the next call opens it anew, since the index may be at fault. */
void archive_fail(WebCall *call, GError *error);

/* ---- views ---- */

/* Return a text as the reader may see it: addresses masked for one who is no member. It is not escaped; g_free(). */
char *archive_masked(const ArchiveReading *reading, const char *text);
/* Return a view with the fields that each page of a list's archive has, such as list, archive and title. title NULL:
 * the name of the list alone. */
json_t *archive_view(const ArchiveReading *reading, const char *title);
/* Return the view of a message as one row of a page: its hash, subject, author and time. */
json_t *archive_line(const ArchiveReading *reading, const ArchiveMessage *message);

/* Answer with the template NAME filled with view (taken). Caches may share the page if the reader is no member. */
void archive_page(const ArchiveReading *reading, const char *name, json_t *view);
