/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/old_archive.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/moving/file.h"
#include "lists/moving/old_page.h"
#include "mail/date.h"
#include "mail/header.h"
#include "mail/message.h"
#include "mail/text/subject.h"

#define BATCH 1000           /* pages of one transaction */
#define ZONE_MAX (26 * 3600) /* seconds between two zones */
#define ZONE_STEP 900        /* seconds */

typedef struct OldArchiveReading {
    const OldArchive *from;
    OldCounts *counts;
    int64_t number; /* of the list in the index; 0: it has no posts */
    unsigned batch;
} OldArchiveReading;

/* The hash of the one message of this subject and time, in any zone; *hash is NULL when there is none, or several. */
static bool find_by_subject(OldArchiveReading *self, const OldPage *page, char **hash, GError **error)
{
    bool reply;
    unsigned found = 0;
    *hash = NULL;
    if (self->number == 0 || !page->subject || page->date == 0)
        return true;
    const ArchivePage around = {.from = (page->date - ZONE_MAX) * CLOCK_SECOND,
                                .to = (page->date + ZONE_MAX + 1) * CLOCK_SECOND,
                                .oldest_first = true,
                                .limit = ARCHIVE_PAGE_MAX};
    g_autoptr(GPtrArray) messages = archive_index_messages(self->from->index, self->number, &around, error);
    g_autofree char *topic = base_subject(page->subject, &reply);
    for (guint i = 0; messages && i < messages->len; i++) {
        const ArchiveMessage *message = messages->pdata[i];
        g_autofree char *own = base_subject(message->subject, &reply);
        if ((message->date / CLOCK_SECOND - page->date) % ZONE_STEP != 0 || strcmp(own, topic) != 0)
            continue;
        found++;
        g_free(*hash);
        *hash = g_strdup(message->hash);
    }
    if (found > 1)
        g_clear_pointer(hash, g_free);
    return messages != NULL;
}

/* Find the message of a page; *hash is NULL when nobody can. */
static bool find_message(OldArchiveReading *self, const OldPage *page, char **hash, bool *here, GError **error)
{
    g_autofree char *by_subject = NULL;
    *hash = page->message_id ? message_id_hash(page->message_id) : NULL;
    *here = false;
    if (*hash && self->number > 0) {
        g_autoptr(GError) problem = NULL;
        g_autoptr(ArchiveMessage) message = archive_index_message(self->from->index, self->number, *hash, &problem);
        *here = message != NULL;
        if (!message && !fail_unless(error, FAIL_MISSING, &problem))
            return false;
    }
    if (*here)
        return true;
    if (!find_by_subject(self, page, &by_subject, error))
        return false;
    if (by_subject) {
        g_free(*hash);
        *hash = g_steal_pointer(&by_subject);
        *here = true;
    }
    return true;
}

static bool take_file(OldArchiveReading *self, const char *path, const char *file, GError **error)
{
    bool here;
    const OldArchive *from = self->from;
    g_autoptr(GError) why = NULL;
    g_auto(OldPage) page = {0};
    g_autofree char *key = old_address_file_key(from->kind, file), *hash = NULL;
    if (!key)
        return true;
    g_autoptr(GBytes) bytes = moving_read_file(from->path, path, &why);
    if (!bytes) { /* the others can be read all the same */
        self->counts->unknown++;
        from->tell(file, why->message, from->data);
        return true;
    }
    if (from->kind == OLD_EZMLM) {
        int zone;
        g_autoptr(Message) mail = message_new(bytes);
        g_autofree char *subject = message_value(mail, "Subject"), *date = message_value(mail, "Date");
        page.message_id = message_id(mail);
        page.subject = header_decode(subject ? subject : "");
        if (date && !date_parse(date, &page.date, &zone))
            page.date = 0;
    } else {
        size_t length;
        const char *octets = g_bytes_get_data(bytes, &length);
        old_page_read(octets ? octets : "", length, &page);
    }
    if (!find_message(self, &page, &hash, &here, error))
        return false;
    if (!hash) {
        self->counts->unknown++;
        from->tell(file, "it has no Message-ID, and no one message here has its subject and time", from->data);
    } else {
        self->counts->pages++;
        self->counts->missing += !here;
        if (!archive_old_put(from->old, old_kind_text(from->kind), from->archive, key, hash, error))
            return false;
    }
    if (++self->batch % BATCH != 0)
        return true;
    from->progress(self->counts->pages, from->data);
    return archive_old_commit(from->old, error) && archive_old_begin(from->old, error);
}

static bool take_all(OldArchiveReading *self, FTS *walk, GError **error)
{
    FTSENT *entry;
    size_t above = strlen(self->from->path);
    while ((errno = 0, entry = fts_read(walk)) != NULL) {
        const char *file = entry->fts_path + above;
        file += strspn(file, "/");
        if (entry->fts_info == FTS_F && !take_file(self, entry->fts_accpath, file, error))
            return false;
        if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS) {
            errno = entry->fts_errno;
            return fail_errno(error, errno == ENOENT ? FAIL_MISSING : FAIL_LATER, "%s", entry->fts_path);
        }
    }
    return errno == 0 || fail_errno(error, FAIL_LATER, "%s", self->from->path);
}

bool old_archive_read(const OldArchive *from, OldCounts *counts, GError **error)
{
    OldArchiveReading self = {.from = from, .counts = counts};
    char *const paths[] = {(char *)from->path, NULL};
    g_autoptr(GError) problem = NULL;
    g_autoptr(ArchiveList) list = archive_index_list(from->index, from->list, &problem);
    if (!list && !fail_unless(error, FAIL_MISSING, &problem))
        return false;
    self.number = list ? list->number : 0;
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    if (!walk)
        return fail_errno(error, FAIL_LATER, "%s", from->path);
    bool done = archive_old_begin(from->old, error);
    if (done) {
        done = take_all(&self, walk, error) && archive_old_commit(from->old, error);
        if (!done)
            archive_old_rollback(from->old);
    }
    fts_close(walk);
    return done;
}
