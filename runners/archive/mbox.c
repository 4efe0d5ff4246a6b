/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * One mbox a list under `path` (mail/mbox.h). How it is appended to exactly once is told in mbox_file.h.
 */
#include "lists/archive/archive_place.h"
#include "runners/archive/archiver.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "mail/mbox.h"
#include "runners/archive/mbox_file.h"

#define OPEN_MAX 64
#define OPEN_PART 16 /* of the descriptors; each list needs three */
#define PENDING_MAX (16 * 1024 * 1024) /* bytes of one list kept before a flush */
#define LOCK_WAIT (5 * CLOCK_SECOND)
#define LOCK_WAIT_HOLDING (50 * CLOCK_SECOND / 1000)

typedef struct MboxArchiver {
    int path_fd;
    GHashTable *files;  /* list → MboxFile */
    GPtrArray *touched; /* of MboxFile, locked, borrowed from files */
} MboxArchiver;

static void mbox_close(void *data)
{
    MboxArchiver *self = data;
    g_ptr_array_unref(self->touched);
    g_hash_table_unref(self->files);
    close(self->path_fd);
    g_free(self);
}

static void *mbox_open(Runner *runner, const char *section, GError **error)
{
    const char *path = archiver_setting(runner, section, "path", error);
    int fd = path != NULL ? fs_open_dir(AT_FDCWD, path, true, error) : -1;
    if (fd < 0)
        return NULL;
    MboxArchiver *self = g_new0(MboxArchiver, 1);
    self->path_fd = fd;
    self->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)mbox_file_free);
    self->touched = g_ptr_array_new();
    return self;
}

/* Takes the step with each file that was touched, then syncs what it left to sync. */
static bool each_touched(MboxArchiver *self, bool (*step)(MboxFile *file, GError **error), GError **error)
{
    g_autoptr(GArray) group = g_array_new(FALSE, TRUE, sizeof(FsSync));
    for (guint i = 0; i < self->touched->len; i++)
        if (!step(self->touched->pdata[i], error))
            return false;
    for (guint i = 0; i < self->touched->len; i++)
        mbox_file_syncs(self->touched->pdata[i], group);
    return fs_sync_group((FsSync *)(void *)group->data, group->len, error);
}

static bool mbox_flush(void *data, GError **error)
{
    MboxArchiver *self = data;
    bool good = self->touched->len == 0 ||
                (each_touched(self, mbox_file_begin, error) && each_touched(self, mbox_file_append, error));
    for (guint i = 0; i < self->touched->len; i++) {
        if (good)
            mbox_file_end(self->touched->pdata[i]);
        else
            mbox_file_abandon(self->touched->pdata[i]);
    }
    g_ptr_array_set_size(self->touched, 0);
    return good;
}

static gboolean is_idle(void *list, void *file, void *unused)
{
    (void)list, (void)unused;
    return !mbox_file_locked(file);
}

/* The list's file, locked. Who holds other locks does not wait for one: a flush gives them up, so two instances cannot
 * wait for each other. */
static MboxFile *locked_file_of(MboxArchiver *self, const char *list, GError **error)
{
    g_autoptr(GError) busy = NULL;
    MboxFile *file = g_hash_table_lookup(self->files, list);
    if (file == NULL) {
        if (g_hash_table_size(self->files) >= fs_files_allowed(OPEN_MAX, OPEN_PART))
            g_hash_table_foreach_remove(self->files, is_idle, NULL);
        g_autofree char *name = archive_file_name(list);
        file = mbox_file_open(self->path_fd, name, error);
        if (file != NULL)
            g_hash_table_insert(self->files, g_strdup(list), file);
    }
    if (file == NULL || mbox_file_locked(file))
        return file;
    bool holding = self->touched->len > 0;
    if (mbox_file_lock(file, holding ? LOCK_WAIT_HOLDING : LOCK_WAIT, &busy)) {
        g_ptr_array_add(self->touched, file);
        return file;
    }
    fail(error, holding && g_error_matches(busy, FAIL, FAIL_RACE) ? FAIL_RACE : FAIL_LATER, "%s", busy->message);
    return NULL;
}

static bool mbox_store(void *data, const ArchiveMail *mail, GError **error)
{
    MboxArchiver *self = data;
    bool known = false;
    MboxKey key = {.text = mail->key, .arrival = mail->arrival, .again = mail->again};
    MboxFile *file = locked_file_of(self, mail->place, error);
    if (file == NULL || !mbox_file_knows(file, &key, &known, error))
        return false;
    if (known)
        return true;
    if (mbox_file_pending(file) > PENDING_MAX)
        return fail(error, FAIL_RACE, "too much waits to be appended to the mbox of %s", mail->list);
    GString *text = g_string_sized_new(mail->length + 128);
    mbox_append(text, mail->sender, mail->arrival, mail->octets, mail->length);
    mbox_file_add(file, &key, text->str, text->len);
    g_string_free(text, TRUE);
    return true;
}

const ArchiverType archiver_mbox = {
    .name = "mbox",
    .open = mbox_open,
    .store = mbox_store,
    .flush = mbox_flush,
    .close = mbox_close,
};
