/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The pages of an archive: declarations that their files share. What they show comes from the index of the first
 * archiver that has one (store/archive_index.h) and from its maildirs.
 *
 * A list's archive is /archive/NAME, by the name of list_archive_name(); all links below it are made of
 * Message-ID-Hashes and of times. Who reads a public archive without being a member sees no domains of addresses.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "runners/web/mail_html.h"
#include "runners/web/web.h"
#include "runners/web/view_cache.h"
#include "store/archive_index.h"
#include "store/archive_old.h"
#include "store/archive_search.h"
#include "store/list.h"

typedef struct WebArchive {
    const char *directory; /* of the archiver */
    ArchiveIndex *index;   /* NULL: not open */
    GHashTable *public;    /* from the number to the List-Id of each list that all may search; NULL: not read */
    int64_t public_until;  /* when public is read anew; monotonic */
    ViewCache *views;      /* of messages */
    ArchiveOld *old;       /* old addresses; NULL: not open */
    int64_t search_free;   /* when the time that strangers' searches took is paid off; monotonic */
} WebArchive;

/* NULL: the site has no archive to be shown. */
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
    bool member;        /* sees addresses */
} ArchiveReading;

void archive_reading_clear(ArchiveReading *reading);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ArchiveReading, archive_reading_clear)

/* Look who may read the list's archive that the first part of the path names. false: the call was answered.
 * Begin with {0}, and clear *reading in either case. */
bool archive_read(WebCall *call, ArchiveReading *reading);
/* The same for the archive of this name. */
bool archive_read_named(WebCall *call, const char *name, ArchiveReading *reading);
/* The same for a list in whose archive somebody found something. FAIL_MISSING: there is none that he may read. */
bool archive_read_list(WebCall *call, const char *list_id, ArchiveReading *reading, GError **error);
/* Open the index. NULL: the call was answered. */
ArchiveIndex *archive_open(WebCall *call);
/* Answer 503, or 404 for what is not there; error is taken. The index is opened anew for the next call, since it may be
 * what is wrong. */
void archive_fail(WebCall *call, GError *error);

/* Find the message that the second part of the path names by its hash; NULL: the call was answered. With shown, the
 * call is answered (404 or 410) for a message that is hidden or removed; without, that message is returned. */
ArchiveMessage *archive_find(const ArchiveReading *reading, bool shown);
/* Its bytes; NULL as above. */
GBytes *archive_load(const ArchiveReading *reading, const ArchiveMessage *message);
/* How its text is made into HTML. files, "/base/archive/NAME/HASH/file/", has to outlive *how. */
void archive_how(const ArchiveReading *reading, const ArchiveMessage *message, char **files, MailHtml *how);

/* ---- views ---- */

/* A text as whoever reads may see it, not escaped; g_free(). */
char *archive_masked(const ArchiveReading *reading, const char *text);
/* Fields that each page of a list's archive has: list, path, title. */
json_t *archive_view(const ArchiveReading *reading, const char *title);
/* A message in a list of them: subject, who, when, its place. */
json_t *archive_line(const ArchiveReading *reading, const ArchiveMessage *message);
/* The same of the message at the top of a thread. */
json_t *archive_top(const ArchiveReading *reading, const ArchiveThread *thread);
/* The path of a place between rows for the next page: "1764312000.HASH". g_free() */
char *archive_place_text(int64_t date, const char *hash);
/* Read it; id is that of the message, or of its thread. Anything else is no place: false. */
bool archive_place_read(const ArchiveReading *reading, const char *text, bool thread, ArchivePlace *place);
/* "November 2026"; g_free(). */
char *archive_month_title(const WebCall *call, int year, int month);

/* Answer with a page. Caches may share it when whoever reads is no member. */
void archive_page(const ArchiveReading *reading, const char *name, json_t *view);

/* ---- functions of one file that the table of routes in another has ---- */

void archive_get_message(ArchiveReading *reading);
/* As a compressed mbox, of which dates are from `from` to before `to`. */
void archive_get_month_mails(ArchiveReading *reading, int64_t from, int64_t to);
void archive_get_thread(WebCall *call);
void archive_get_feed(WebCall *call);
void archive_get_thread_feed(WebCall *call);
void archive_get_thread_mails(WebCall *call);
void archive_get_raw(WebCall *call);
void archive_get_file(WebCall *call);
void archive_get_search(WebCall *call);
void archive_get_search_all(WebCall *call);
