/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/archive/archive_pseudonym.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "lists/archive/archive_catch_up.h"
#include "lists/archive/archive_maildir.h"
#include "mail/mbox.h"
#include "store/archive/archive_index.h"

#define MARKER "pseudonyms"
#define LOCK_WAIT (30 * CLOCK_SECOND)
#define LOCK_STEP (10 * CLOCK_SECOND / 1000)
#define INTENT_STATE strlen("listrunner mbox 1 ") /* runners/archive/mbox_file.h: P while an append is under way */

static void count_mail(ArchivePseudonym *run)
{
    run->mails++;
    if (run->looked)
        run->looked(run->mails, run->data);
}

static size_t count_in(const ArchivePseudonym *run, const char *octets, size_t length)
{
    return pseudonym_mail(run->names, octets, length, NULL);
}

/* ---- maildir ---- */

/* Look for the address in the files of a list, and replace it. */
static bool run_list(ArchivePseudonym *run, const char *directory, const char *list, GError **error)
{
    g_autofree char *place = g_build_filename(directory, list, NULL), *index = archive_index_path(directory);
    g_autofree char *own = g_path_get_dirname(index);
    g_autoptr(ArchiveFiles) files = archive_files_read(directory, list, error);
    for (size_t at = 0; files && at < archive_files_count(files); at++) {
        g_autoptr(GError) gone = NULL;
        int64_t arrival;
        size_t length = 0;
        g_autofree char *file = archive_files_name(files, at, &arrival);
        g_autoptr(GBytes) octets = archive_files_load(files, at, &gone);
        if (!octets && g_error_matches(gone, FAIL, FAIL_LATER))
            return fail_with(error, &gone);
        const char *data = octets ? g_bytes_get_data(octets, &length) : NULL;
        size_t count = data ? count_in(run, data, length) : 0;
        if (count > 0)
            run->found(place, file, count, run->data);
        if (count > 0 && run->replace) {
            /* The marker says that the index has to be made again, before the first file is another one. */
            bool indexed = g_file_test(index, G_FILE_TEST_EXISTS);
            auto_fd beside = indexed ? fs_open_dir(AT_FDCWD, own, true, error) : -1;
            GString *other = g_string_sized_new(length + 64);
            pseudonym_mail(run->names, data, length, other);
            g_autoptr(GBytes) changed = g_string_free_to_bytes(other);
            if ((indexed && (beside < 0 || !fs_keep_once(beside, MARKER, 0640, "", 0, error))) ||
                !archive_maildir_replace(directory, list, file, changed, error))
                return false;
        }
        count_mail(run);
    }
    return files != NULL;
}

static bool run_maildir(ArchivePseudonym *run, const char *directory, GError **error)
{
    if (!g_file_test(directory, G_FILE_TEST_IS_DIR))
        return true;
    g_autoptr(GPtrArray) lists = archive_maildir_lists(directory, error);
    for (guint i = 0; lists && i < lists->len; i++)
        if (!run_list(run, directory, lists->pdata[i], error))
            return false;
    if (!lists || !run->replace)
        return lists != NULL;

    /* The index is made again, if that is to be done, be it since an earlier run that was cut short. */
    g_autofree char *index = archive_index_path(directory), *own = g_path_get_dirname(index);
    g_autofree char *marker = g_build_filename(own, MARKER, NULL);
    if (!g_file_test(marker, G_FILE_TEST_EXISTS))
        return true;
    if (g_file_test(index, G_FILE_TEST_EXISTS) && !archive_index_make_again(directory, NULL, NULL, error))
        return false;
    auto_fd beside = fs_open_dir(AT_FDCWD, own, true, error);
    return beside >= 0 && fs_unlink(beside, MARKER, error) && fs_sync_dir(beside, error);
}

/* ---- mbox ---- */

typedef struct PseudonymMbox {
    ArchivePseudonym *run;
    char *path;
    FILE *stream; /* one descriptor for all: closing another one of the file would give up the lock */
    int out;      /* -1: only look */
    bool found;
} PseudonymMbox;

static void mbox_clear(PseudonymMbox *mbox)
{
    if (mbox->stream)
        fclose(mbox->stream);
    g_free(mbox->path);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PseudonymMbox, mbox_clear)

/* The bytes from one offset to another. */
static bool read_range(const PseudonymMbox *mbox, uint64_t from, uint64_t to, GString *octets, GError **error)
{
    g_string_set_size(octets, to - from);
    for (size_t at = 0; at < octets->len;) {
        ssize_t got = pread(fileno(mbox->stream), octets->str + at, octets->len - at, (off_t)(from + at));
        if (got == 0 || (got < 0 && errno != EINTR))
            return fail(error, FAIL_LATER, "cannot read %s", mbox->path);
        at += (size_t)MAX(got, 0);
    }
    return true;
}

/* One mail, which begins at an offset of the file. One that is larger than is read stays as it is. */
static bool run_mail(PseudonymMbox *mbox, const MboxMail *mail, uint64_t begin, uint64_t number, GError **error)
{
    ArchivePseudonym *run = mbox->run;
    g_autoptr(GString) raw = g_string_new(NULL), sender = g_string_new(NULL);
    size_t count = 0;
    if (!read_range(mbox, begin, mail->offset, raw, error))
        return false;
    if (!mail->cut) { /* the sender of the From_ line counts, too */
        const char *line = raw->str + strspn(raw->str, "\r\n");
        const char *word = g_str_has_prefix(line, "From ") ? line + strlen("From ") : "";
        count = pseudonym_text(run->names, word, strcspn(word, " \n"), sender) +
                count_in(run, mail->octets->str, mail->octets->len);
    }
    mbox->found = mbox->found || count > 0;
    if (mbox->out < 0)
        count_mail(run);
    if (count > 0 && (mbox->out >= 0 || !run->replace)) {
        g_autofree char *detail = g_strdup_printf("%" G_GUINT64_FORMAT, number);
        run->found(mbox->path, detail, count, run->data);
    }
    if (mbox->out < 0)
        return true;
    if (count == 0)
        return fs_write(mbox->out, raw->str, raw->len, error);
    g_autoptr(GString) other = g_string_new(NULL), text = g_string_new(NULL);
    pseudonym_mail(run->names, mail->octets->str, mail->octets->len, other);
    mbox_append(text, sender->str, mail->from_time, other->str, other->len);
    return fs_write(mbox->out, text->str, text->len, error);
}

static bool run_mails(PseudonymMbox *mbox, GError **error)
{
    if (fseek(mbox->stream, 0, SEEK_SET) != 0)
        return fail_errno(error, FAIL_LATER, "cannot read %s", mbox->path);
    g_autoptr(MboxReader) reader = mbox_reader_new(mbox->stream);
    MboxMail mail;
    uint64_t begin = 0, number = 0;
    bool good;
    while ((good = mbox_reader_next(reader, &mail, error)) && mail.octets &&
           (good = run_mail(mbox, &mail, begin, ++number, error)))
        begin = mail.offset;
    return good;
}

/* Against the archiver, which looks at the name again when it has the lock. */
static bool lock(const PseudonymMbox *mbox, GError **error)
{
    int64_t deadline = clock_monotonic() + LOCK_WAIT;
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    while (fcntl(fileno(mbox->stream), F_SETLK, &whole) != 0) {
        if (errno != EACCES && errno != EAGAIN && errno != EINTR)
            return fail_errno(error, FAIL_LATER, "lock %s", mbox->path);
        if (clock_monotonic() >= deadline)
            return fail(error, FAIL_LATER, "%s is locked by another program", mbox->path);
        g_usleep(LOCK_STEP);
    }
    g_autofree char *intent = g_strconcat(mbox->path, ".intent", NULL), *text = NULL;
    size_t length = 0;
    g_file_get_contents(intent, &text, &length, NULL);
    return length <= INTENT_STATE || text[INTENT_STATE] != 'P' ||
           fail(error, FAIL_LATER, "%s: an append was cut short; the archiver mends that with the list's next post",
                mbox->path);
}

/* Look first, so that an mbox without the address is neither locked nor written; then write another file beside it, and
 * rename that. */
static bool run_mbox(ArchivePseudonym *run, int dir_fd, const char *directory, const char *name, GError **error)
{
    struct stat status;
    g_auto(PseudonymMbox) mbox = {.run = run, .path = g_build_filename(directory, name, NULL), .out = -1};
    g_autofree char *aside = g_strconcat(name, ".new", NULL);
    auto_fd fd = fs_open(dir_fd, name, true, error);
    if (fd < 0)
        return false;
    mbox.stream = fdopen(fd, "r");
    if (!mbox.stream)
        return fail_errno(error, FAIL_LATER, "cannot read %s", mbox.path);
    auto_fd_steal(&fd);
    if (!run_mails(&mbox, error))
        return false;
    if (!run->replace || !mbox.found)
        return true;
    if (!lock(&mbox, error))
        return false;
    fs_unlink(dir_fd, aside, NULL); /* of a call that was interrupted */
    auto_fd out = fs_create(dir_fd, aside, error);
    mbox.out = out;
    if (out < 0 || !run_mails(&mbox, error))
        return false;
    if (fstat(fileno(mbox.stream), &status) != 0 || fchmod(out, status.st_mode & 0777) != 0)
        return fail_errno(error, FAIL_LATER, "cannot give %s its mode", aside);
    return fs_sync_file(out, error) && fs_rename(dir_fd, aside, name, error) && fs_sync_dir(dir_fd, error);
}

static bool run_mboxes(ArchivePseudonym *run, const char *directory, GError **error)
{
    g_autoptr(GDir) names = g_dir_open(directory, 0, NULL);
    if (!names) /* nothing was archived yet */
        return true;
    auto_fd dir_fd = fs_open_dir(AT_FDCWD, directory, false, error);
    for (const char *name; dir_fd >= 0 && (name = g_dir_read_name(names));)
        if (g_str_has_suffix(name, ".mbox") && !run_mbox(run, dir_fd, directory, name, error))
            return false;
    return dir_fd >= 0;
}

/* ---- all ---- */

bool archive_pseudonym_run(ArchivePseudonym *run, const Config *config, GError **error)
{
    g_autofree const char **sections = config_family_sections(config, "archiver");
    for (const char **section = sections; *section; section++) {
        const char *path = config_string(config, *section, "path"), *type = config_string(config, *section, "type");
        bool maildir = g_strcmp0(type, "maildir") == 0, mbox = g_strcmp0(type, "mbox") == 0;
        if (!path || !(maildir || mbox))
            run->found(*section, type ? type : "", 0, run->data);
        else if (!(maildir ? run_maildir(run, path, error) : run_mboxes(run, path, error)))
            return false;
    }
    return true;
}
