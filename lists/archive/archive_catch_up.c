/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/archive/archive_catch_up.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/archive/archive_maildir.h"
#include "lists/archive/archive_mark.h"
#include "lists/archive/archived_post.h"

#define ADDED_MAX 1000 /* in one transaction */
#define AGAIN_BUDGET CLOCK_SECOND

struct ArchiveCatchUp {
    char *directory;
    GPtrArray *lists;
    bool all;            /* lists that seem whole are passed over */
    guint at;            /* the list at hand */
    ArchiveFiles *files; /* its files; NULL: it was not begun */
    size_t next;
    ArchiveCaught figures;
};

ArchiveCatchUp *archive_catch_up_new(const char *directory, const char *list, GError **error)
{
    g_autoptr(GPtrArray) lists = list ? g_ptr_array_new_with_free_func(g_free)
                                      : archive_maildir_lists(directory, error);
    if (!lists)
        return NULL;
    if (list)
        g_ptr_array_add(lists, g_strdup(list));
    ArchiveCatchUp *self = g_new0(ArchiveCatchUp, 1);
    self->directory = g_strdup(directory);
    self->lists = g_steal_pointer(&lists);
    self->all = !list;
    return self;
}

void archive_catch_up_free(ArchiveCatchUp *self)
{
    if (!self)
        return;
    g_free(self->directory);
    g_ptr_array_unref(self->lists);
    archive_files_free(self->files);
    g_free(self);
}

ArchiveCaught archive_catch_up_figures(const ArchiveCatchUp *self)
{
    ArchiveCaught figures = self->figures;
    figures.list_files = self->files ? archive_files_count(self->files) : 0;
    figures.list_done = self->next;
    return figures;
}

/* Give the index the file at hand, unless it has it. */
static bool add_file(ArchiveCatchUp *self, ArchiveIndex *index, GError **error)
{
    const char *list = self->lists->pdata[self->at];
    int64_t arrival;
    bool known, added;
    g_autofree char *file = archive_files_name(self->files, self->next, &arrival);
    if (!archive_index_knows(index, list, file, arrival, &known, error))
        return false;
    if (known)
        return true;
    g_autoptr(GError) problem = NULL;
    g_autoptr(GBytes) bytes = archive_files_load(self->files, self->next, &problem);
    if (!bytes && g_error_matches(problem, FAIL, FAIL_LATER))
        return fail_with(error, &problem);
    if (!bytes) { /* it is gone, or no mail */
        log_debug("archive %s: %s", list, problem->message);
        return true;
    }
    size_t length;
    const char *octets = g_bytes_get_data(bytes, &length);
    g_autoptr(ArchivedPost) post = archived_post_new(list, file, arrival, octets, length);
    if (!archive_index_add(index, &post->post, &added, error) ||
        (added && !archive_mark_restore(index, self->directory, &post->post, error)))
        return false;
    self->figures.added += added;
    return true;
}

static void end_list(ArchiveCatchUp *self)
{
    g_clear_pointer(&self->files, archive_files_free);
    self->next = 0;
    self->at++;
    self->figures.lists++;
}

/* One step: begin the list at hand, or pass over it; give the index its next file; or end the list. */
static bool step(ArchiveCatchUp *self, ArchiveIndex *index, GError **error)
{
    const char *list = self->lists->pdata[self->at];
    if (!self->files && self->all) { /* one seems whole if the index has as many messages of it as there are files */
        uint64_t count;
        g_autoptr(GError) problem = NULL;
        if (!archive_maildir_count(self->directory, list, &count, error))
            return false;
        g_autoptr(ArchiveList) known = archive_index_list(index, list, &problem);
        if (!known && !fail_unless(error, FAIL_MISSING, &problem))
            return false;
        if ((known ? (uint64_t)known->posts : 0) == count) {
            end_list(self);
            return true;
        }
    }
    if (!self->files && !(self->files = archive_files_read(self->directory, list, error)))
        return false;
    if (self->next == archive_files_count(self->files)) {
        end_list(self);
        return true;
    }
    if (!add_file(self, index, error))
        return false;
    self->next++;
    self->figures.files++;
    return true;
}

bool archive_catch_up_some(ArchiveCatchUp *self, ArchiveIndex *index, int64_t budget, bool *more, GError **error)
{
    guint list = self->at;
    size_t next = self->next;
    ArchiveCaught figures = self->figures;
    uint64_t enough = figures.added + ADDED_MAX;
    bool done = true;
    *more = true;
    if (!archive_index_begin(index, error))
        return false;
    int64_t deadline = clock_monotonic() + budget;
    while (done && self->at < self->lists->len && self->figures.added < enough && clock_monotonic() < deadline)
        done = step(self, index, error);
    if (!done)
        archive_index_rollback(index);
    *more = !done || self->at < self->lists->len;
    if (done && archive_index_commit(index, error))
        return true;
    /* Work that was undone comes again. */
    if (self->at != list)
        g_clear_pointer(&self->files, archive_files_free);
    self->at = list;
    self->next = self->files ? next : 0;
    self->figures = figures;
    return false;
}

/* ---- making it again ---- */

static bool catch_up_all(ArchiveIndex *index, const char *directory, ArchiveTell *tell, void *data, GError **error)
{
    g_autoptr(ArchiveCatchUp) catch_up = archive_catch_up_new(directory, NULL, error);
    for (bool more = catch_up != NULL; more;) {
        if (!archive_catch_up_some(catch_up, index, AGAIN_BUDGET, &more, error))
            return false;
        ArchiveCaught figures = archive_catch_up_figures(catch_up);
        if (tell && !tell(&figures, data))
            return fail(error, FAIL_LATER, "making the index again was interrupted");
    }
    return catch_up != NULL;
}

bool archive_index_make_again(const char *directory, ArchiveTell *tell, void *data, GError **error)
{
    g_autoptr(ArchiveIndex) index = archive_index_open_new(directory, error);
    /* The second time finds what came meanwhile. The archiver sees that there is another file, and catches up. */
    return index && catch_up_all(index, directory, tell, data, error) &&
           catch_up_all(index, directory, NULL, NULL, error) && archive_index_publish(index, error);
}
