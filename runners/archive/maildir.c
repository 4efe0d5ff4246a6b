/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * One maildir a list under `path`. The file's name is made of the arrival
 * time and the mail's key, so that a repeat finds it there: in new, or, when a reader
 * moved it, in cur. A file is written in tmp, synced, and renamed to new with
 * the batch. (A power cut may leave the same file in tmp as well: a maildir's readers
 * ignore it there, and a repeat replaces it.)
 *
 * Looking through cur costs the more the longer the archive is. So an empty file of
 * the key's name is in `path`/.in-hand from before the mail may be seen in new until it
 * does not come again; cur is looked at only for a mail that has one. What a crash leaves there does no harm.
 *
 * With `index` what pages and searches read of the archive is written beside it (index_writer.h): it is a part of
 * this archiver because a row may only follow its file, and shares its last sync.
 */
#include "lists/archive/archive_place.h"
#include "runners/archive/archiver.h"
#include "runners/archive/index_writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"

#define OPEN_MAX 128
#define OPEN_PART 16 /* of the descriptors; each list needs three */
#define IN_HAND ".in-hand" /* no list's directory begins with a dot */

typedef struct Maildir {
    int top_fd, new_fd, cur_fd;
    bool in_use; /* by what waits for a flush */
} Maildir;

typedef struct PendingMail {
    Maildir *maildir;
    int fd;
    char *name;
} PendingMail;

typedef struct MaildirArchiver {
    int path_fd, in_hand_fd;
    GHashTable *maildirs; /* list → Maildir */
    GArray *pending;
    GHashTable *touched; /* descriptors of directories: to be synced before the hop */
    IndexWriter *index;  /* NULL: none is wanted */
} MaildirArchiver;

static void maildir_free(void *data)
{
    Maildir *maildir = data;
    close(maildir->top_fd);
    close(maildir->new_fd);
    close(maildir->cur_fd);
    g_free(maildir);
}

static void pending_clear(void *data)
{
    PendingMail *pending = data;
    close(pending->fd);
    g_free(pending->name);
}

static void maildir_close(void *data)
{
    MaildirArchiver *self = data;
    g_array_unref(self->pending);
    g_hash_table_unref(self->touched);
    g_hash_table_unref(self->maildirs);
    index_writer_free(self->index);
    close(self->path_fd);
    close(self->in_hand_fd);
    g_free(self);
}

static void *maildir_open(Runner *runner, const char *section, GError **error)
{
    const char *path = archiver_setting(runner, section, "path", error);
    auto_fd fd = path != NULL ? fs_open_dir(AT_FDCWD, path, true, error) : -1;
    /* Durable with the first list's directory, which comes before the first mail. */
    auto_fd in_hand = fd >= 0 ? fs_open_dir_unsynced(fd, IN_HAND, error) : -1;
    if (in_hand < 0)
        return NULL;
    MaildirArchiver *self = g_new0(MaildirArchiver, 1);
    self->path_fd = auto_fd_steal(&fd);
    self->in_hand_fd = auto_fd_steal(&in_hand);
    self->maildirs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, maildir_free);
    self->touched = g_hash_table_new(NULL, NULL);
    self->pending = g_array_new(FALSE, FALSE, sizeof(PendingMail));
    g_array_set_clear_func(self->pending, pending_clear);
    bool looks;
    if (archiver_wants_index(runner, section, &looks))
        self->index = index_writer_new(path, looks);
    return self;
}

static gboolean is_idle(void *list, void *maildir, void *unused)
{
    (void)list, (void)unused;
    return !((Maildir *)maildir)->in_use;
}

static Maildir *maildir_of(MaildirArchiver *self, const char *list, GError **error)
{
    Maildir *known = g_hash_table_lookup(self->maildirs, list);
    if (known != NULL)
        return known;
    if (g_hash_table_size(self->maildirs) >= fs_files_allowed(OPEN_MAX, OPEN_PART))
        g_hash_table_foreach_remove(self->maildirs, is_idle, NULL);
    g_autofree char *name = archive_file_name(list);
    auto_fd top = fs_open_dir(self->path_fd, name, true, error);
    auto_fd aside = top >= 0 ? fs_open_dir_unsynced(top, "tmp", error) : -1;
    auto_fd cur = aside >= 0 ? fs_open_dir_unsynced(top, "cur", error) : -1;
    /* One sync for the three. */
    auto_fd new_fd = cur >= 0 ? fs_open_dir(top, "new", true, error) : -1;
    if (new_fd < 0)
        return NULL;
    known = g_new0(Maildir, 1);
    known->top_fd = auto_fd_steal(&top);
    known->new_fd = auto_fd_steal(&new_fd);
    known->cur_fd = auto_fd_steal(&cur);
    g_hash_table_insert(self->maildirs, g_strdup(list), known);
    return known;
}

/* Has a reader moved it to cur, where its name has got flags? */
static bool was_read(const Maildir *maildir, const char *name)
{
    int fd = openat(maildir->top_fd, "cur", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *cur = fd >= 0 ? fdopendir(fd) : NULL;
    if (cur == NULL)
        return false;
    bool found = false;
    for (struct dirent *item; !found && (item = readdir(cur)) != NULL;)
        found = g_str_has_prefix(item->d_name, name);
    closedir(cur);
    return found;
}

static int create_afresh(int top_fd, const char *name, GError **error)
{
    g_autoptr(GError) problem = NULL;
    int fd = fs_create(top_fd, name, &problem);
    if (fd < 0 && g_error_matches(problem, FAIL, FAIL_EXISTS)) {
        /* Left over from a crash, perhaps half written. */
        g_clear_error(&problem);
        if (fs_unlink(top_fd, name, &problem))
            fd = fs_create(top_fd, name, &problem);
    }
    if (fd < 0)
        g_propagate_error(error, g_steal_pointer(&problem));
    return fd;
}

/* Notes that it is in hand; *before tells whether it was already. */
static bool take_in_hand(MaildirArchiver *self, const char *key, bool *before, GError **error)
{
    g_autoptr(GError) problem = NULL;
    auto_fd fd = fs_create(self->in_hand_fd, key, &problem);
    *before = fd < 0 && g_error_matches(problem, FAIL, FAIL_EXISTS);
    if (fd >= 0 || *before)
        return true;
    return fail_with(error, &problem);
}

static void touch(MaildirArchiver *self, int fd)
{
    g_hash_table_add(self->touched, GINT_TO_POINTER(fd));
}

static void index_mail(MaildirArchiver *self, const ArchiveMail *mail, const char *file)
{
    if (!self->index)
        return;
    g_autofree char *list = archive_file_name(mail->place);
    index_writer_add(self->index, &(IndexedMail){list, file, mail->arrival, mail->octets, mail->length});
}

static bool maildir_store(void *data, const ArchiveMail *mail, GError **error)
{
    MaildirArchiver *self = data;
    Maildir *maildir = maildir_of(self, mail->place, error);
    if (maildir == NULL)
        return false;
    maildir->in_use = true;
    g_autofree char *name =
        g_strdup_printf("%" G_GINT64_FORMAT ".%s.listrunner", mail->arrival / CLOCK_SECOND, mail->key);
    g_autofree char *aside = g_strconcat("tmp/", name, NULL);
    bool before;
    /* The process that put it there may have died before it was on the disk. */
    if (faccessat(maildir->new_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        touch(self, maildir->new_fd);
        index_mail(self, mail, name);
        return true;
    }
    if (!take_in_hand(self, mail->key, &before, error))
        return false;
    if (before && was_read(maildir, name)) {
        touch(self, maildir->cur_fd);
        index_mail(self, mail, name);
        return true;
    }
    auto_fd fd = create_afresh(maildir->top_fd, aside, error);
    if (fd < 0)
        return false;
    if (!fs_write(fd, mail->octets, mail->length, error)) {
        fs_unlink(maildir->top_fd, aside, NULL);
        return false;
    }
    index_mail(self, mail, name);
    PendingMail pending = {.maildir = maildir, .fd = auto_fd_steal(&fd), .name = g_steal_pointer(&name)};
    g_array_append_val(self->pending, pending);
    return true;
}

static bool maildir_flush(void *data, GError **error)
{
    MaildirArchiver *self = data;
    guint count = self->pending->len;
    g_autofree FsSync *group = g_new0(FsSync, count + 1);
    for (guint i = 0; i < count; i++)
        group[i].fd = g_array_index(self->pending, PendingMail, i).fd;
    group[count] = (FsSync){.fd = self->in_hand_fd, .directory = true};
    bool good = count == 0 || fs_sync_group(group, count + 1, error);
    for (guint i = 0; good && i < count; i++) { /* they are whole now: readers may see them */
        PendingMail *pending = &g_array_index(self->pending, PendingMail, i);
        g_autofree char *from = g_strconcat("tmp/", pending->name, NULL);
        g_autofree char *to = g_strconcat("new/", pending->name, NULL);
        good = fs_rename(pending->maildir->top_fd, from, to, error);
        if (good)
            touch(self, pending->maildir->new_fd);
    }
    /* Rows may be there for files that are not, after a power cut: these come again. */
    int log = good && self->index ? index_writer_commit(self->index) : -1;
    GHashTableIter iter;
    void *fd, *maildir;
    if (good) {
        g_autofree FsSync *touched = g_new0(FsSync, g_hash_table_size(self->touched) + 2);
        size_t syncs = 0;
        if (log >= 0)
            touched[syncs++] = (FsSync){.fd = log};
        g_hash_table_iter_init(&iter, self->touched);
        while (g_hash_table_iter_next(&iter, &fd, NULL))
            touched[syncs++] = (FsSync){.fd = GPOINTER_TO_INT(fd), .directory = true};
        good = fs_sync_group(touched, syncs, error);
    }
    if (!good && self->index)
        index_writer_abandon(self->index);
    g_array_set_size(self->pending, 0);
    g_hash_table_remove_all(self->touched);
    g_hash_table_iter_init(&iter, self->maildirs);
    while (g_hash_table_iter_next(&iter, NULL, &maildir))
        ((Maildir *)maildir)->in_use = false;
    return good;
}

static void maildir_settled(void *data, const char *key)
{
    MaildirArchiver *self = data;
    g_autoptr(GError) error = NULL;
    if (!fs_unlink(self->in_hand_fd, key, &error) && !g_error_matches(error, FAIL, FAIL_MISSING))
        log_warn("%s", error->message); /* it does no harm there */
}

static int64_t maildir_idle(void *data)
{
    MaildirArchiver *self = data;
    return self->index ? index_writer_idle(self->index) : -1;
}

static const char *maildir_trouble(void *data)
{
    MaildirArchiver *self = data;
    return self->index ? index_writer_trouble(self->index) : NULL;
}

const ArchiverType archiver_maildir = {
    .name = "maildir",
    .open = maildir_open,
    .store = maildir_store,
    .flush = maildir_flush,
    .settled = maildir_settled,
    .idle = maildir_idle,
    .trouble = maildir_trouble,
    .close = maildir_close,
};
