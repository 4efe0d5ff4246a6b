/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/archive/index_writer.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/archive/archive_catch_up.h"
#include "lists/archive/archived_post.h"

#define RETRY (5 * CLOCK_SECOND)
#define LOOK (60 * CLOCK_SECOND)    /* whether the index was replaced */
#define PORTION (CLOCK_SECOND / 20) /* of catching up, between two looks for entries */
#define HELD_MAX ((size_t)32 << 20) /* bytes of mails of one batch; what is more is caught up with */

struct IndexWriter {
    char *directory;
    ArchiveIndex *index; /* NULL: it cannot be used */
    int log;
    GPtrArray *posts; /* of ArchivedPost, of the batch at hand */
    size_t held;      /* bytes */
    bool behind;      /* the archive has what the index may lack */
    ArchiveCatchUp *catch_up;
    int64_t retry_at; /* monotonic */
    char *trouble;
};

IndexWriter *index_writer_new(const char *directory, bool looks)
{
    IndexWriter *self = g_new0(IndexWriter, 1);
    self->directory = g_strdup(directory);
    self->posts = g_ptr_array_new_with_free_func((GDestroyNotify)archived_post_free);
    self->behind = looks;
    self->log = -1;
    return self;
}

static void close_index(IndexWriter *self)
{
    g_clear_pointer(&self->catch_up, archive_catch_up_free);
    g_clear_pointer(&self->index, archive_index_free);
    self->log = -1;
}

void index_writer_free(IndexWriter *self)
{
    if (!self)
        return;
    close_index(self);
    g_ptr_array_unref(self->posts);
    g_free(self->trouble);
    g_free(self->directory);
    g_free(self);
}

const char *index_writer_trouble(const IndexWriter *self)
{
    return self->trouble;
}

/* The index could not be written: from now on it lacks something. */
static void give_up(IndexWriter *self, const GError *fault)
{
    bool damaged = g_error_matches(fault, FAIL, FAIL_CONFIG);
    log_error("archive=%s result=not-indexed reason=\"%s\"%s", self->directory, fault->message,
              damaged ? ": it is set aside and made again" : "");
    close_index(self);
    self->behind = true;
    self->retry_at = damaged ? 0 : clock_monotonic() + RETRY;
    g_autoptr(GError) problem = NULL;
    if (damaged && !archive_index_set_aside(self->directory, &problem)) {
        log_error("archive=%s result=not-set-aside reason=\"%s\"", self->directory, problem->message);
        self->retry_at = clock_monotonic() + RETRY;
    }
    g_free(self->trouble);
    self->trouble = g_strdup_printf("the index of the archive %s lacks posts, which are archived and will be added: %s",
                                    self->directory, fault->message);
}

/* Opens the index, anew when another one is in its place. False: it cannot be used now. */
static bool is_open(IndexWriter *self)
{
    g_autoptr(GError) fault = NULL;
    if (self->index && archive_index_present(self->index, &fault))
        return true;
    if (self->index) {
        log_warn("archive=%s %s", self->directory, fault->message);
        g_clear_error(&fault);
        close_index(self);
        self->behind = true;
    }
    if (clock_monotonic() < self->retry_at)
        return false;
    self->index = archive_index_open(self->directory, true, &fault);
    if (self->index && archive_index_leave_sync(self->index, &self->log, &fault))
        return true;
    give_up(self, fault);
    return false;
}

void index_writer_add(IndexWriter *self, const IndexedMail *mail)
{
    if (!self->index && clock_monotonic() < self->retry_at) {
        self->behind = true;
        return;
    }
    if (self->held + mail->length > HELD_MAX) {
        self->behind = true;
        return;
    }
    g_ptr_array_add(self->posts, archived_post_new(mail->list, mail->file, mail->arrival, mail->octets, mail->length));
    self->held += mail->length;
}

void index_writer_abandon(IndexWriter *self)
{
    g_ptr_array_set_size(self->posts, 0);
    self->held = 0;
}

static int compare_posts(gconstpointer one, gconstpointer other)
{
    const ArchivePost *a = &(*(ArchivedPost *const *)one)->post, *b = &(*(ArchivedPost *const *)other)->post;
    return (a->arrival > b->arrival) - (a->arrival < b->arrival);
}

static bool add_all(IndexWriter *self, GError **error)
{
    bool done = archive_index_begin(self->index, error), added;
    if (!done)
        return false;
    g_ptr_array_sort(self->posts, compare_posts);
    for (guint i = 0; done && i < self->posts->len; i++)
        done = archive_index_add(self->index, &((ArchivedPost *)self->posts->pdata[i])->post, &added, error);
    if (done)
        return archive_index_commit(self->index, error);
    archive_index_rollback(self->index);
    return false;
}

int index_writer_commit(IndexWriter *self)
{
    g_autoptr(GError) fault = NULL;
    int log = -1;
    if (self->posts->len > 0 && is_open(self)) {
        if (add_all(self, &fault))
            log = self->log;
        else
            give_up(self, fault);
    } else if (self->posts->len > 0) {
        self->behind = true;
    }
    index_writer_abandon(self);
    return log;
}

int64_t index_writer_idle(IndexWriter *self)
{
    g_autoptr(GError) fault = NULL;
    bool more = true;
    if (!is_open(self))
        return MAX(self->retry_at - clock_monotonic(), 0) + CLOCK_SECOND / 10;
    if (!self->behind)
        return LOOK;
    if (!self->catch_up)
        self->catch_up = archive_catch_up_new(self->directory, NULL, &fault);
    if (!self->catch_up || !archive_catch_up_some(self->catch_up, self->index, PORTION, &more, &fault)) {
        give_up(self, fault);
        return CLOCK_SECOND / 10;
    }
    if (more)
        return 0;
    ArchiveCaught figures = archive_catch_up_figures(self->catch_up);
    if (figures.added > 0)
        log_info("archive=%s result=caught-up posts=%" G_GUINT64_FORMAT, self->directory, figures.added);
    g_clear_pointer(&self->catch_up, archive_catch_up_free);
    self->behind = false;
    if (self->trouble)
        log_info("archive=%s result=index-whole-again", self->directory);
    g_clear_pointer(&self->trouble, g_free);
    return LOOK;
}
