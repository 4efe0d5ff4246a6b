/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/archive/archive_mark.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "base/fs.h"
#include "lists/archive/archive_maildir.h"
#include "lists/archive/archived_post.h"
#include "mail/message.h"

#define NOTE_MAX 1000 /* bytes */

static const char *const words[] = {
    [ARCHIVE_SHOWN] = "shown", [ARCHIVE_HIDDEN] = "hidden", [ARCHIVE_REMOVED] = "removed"};

/* Make the mail that takes the place of a removed post. */
static GBytes *husk_of(GBytes *octets, const char *note)
{
    static const char *const kept[] = {"Message-ID", "Date", "References", "In-Reply-To"};
    g_autoptr(Message) message = message_new(octets);
    GString *husk = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(kept); i++) {
        g_autofree char *value = message_value(message, kept[i]);
        if (value)
            g_string_append_printf(husk, "%s: %s\n", kept[i], value);
    }
    g_string_append_printf(husk, "Content-Type: text/plain; charset=utf-8\n\n%s\n", note);
    return g_string_free_to_bytes(husk);
}

/* Take a post out of the index and out of its file. */
static bool remove_post(ArchiveIndex *index, const char *directory, const char *list, const ArchiveMessage *message,
                        const char *note, GError **error)
{
    g_autoptr(GError) problem = NULL;
    g_autoptr(GBytes) octets = archive_maildir_load(directory, list, message->file, &problem);
    if (!octets && !g_error_matches(problem, FAIL, FAIL_MISSING))
        return fail_with(error, &problem);
    size_t length = 0;
    const char *data = octets ? g_bytes_get_data(octets, &length) : NULL;
    g_autoptr(ArchivedPost) post = octets ? archived_post_new(list, message->file, message->arrival, data, length)
                                          : NULL;
    /* Its words go first: once the file is another one, nobody knows them. */
    if (!archive_index_remove(index, message->id, post ? &post->post : NULL, note, error))
        return false;
    g_autoptr(GBytes) husk = octets ? husk_of(octets, note) : NULL;
    return !octets || archive_maildir_replace(directory, list, message->file, husk, error);
}

bool archive_mark_set(ArchiveIndex *index, const char *directory, const ArchiveMessage *message, ArchiveState state,
                      const char *note, GError **error)
{
    g_autofree char *list = archive_index_list_name(index, message->list, error);
    const char *reason = note ? note : "";
    if (!list)
        return false;
    if (message->state == ARCHIVE_REMOVED && state != ARCHIVE_REMOVED)
        return fail(error, FAIL_NEVER, "the message was removed");
    g_autofree char *path = archive_index_path(directory), *own = g_path_get_dirname(path);
    auto_fd top = fs_open_dir(AT_FDCWD, own, true, error);
    auto_fd all = top >= 0 ? fs_open_dir(top, "marks", true, error) : -1;
    auto_fd marks = all >= 0 ? fs_open_dir(all, list, true, error) : -1;
    if (marks < 0)
        return false;
    g_autoptr(GError) missing = NULL;
    if (fs_unlink(marks, message->file, &missing) ? !fs_sync_dir(marks, error)
                                                  : !fail_unless(error, FAIL_MISSING, &missing))
        return false;
    if (state == ARCHIVE_SHOWN)
        return archive_index_hide(index, message->id, false, NULL, error);
    g_autofree char *text = g_strdup_printf("%s\n%.*s\n", words[state], NOTE_MAX, reason);
    return fs_keep_once(marks, message->file, 0640, text, strlen(text), error) &&
           (state == ARCHIVE_HIDDEN ? archive_index_hide(index, message->id, true, reason, error)
                                    : remove_post(index, directory, list, message, reason, error));
}

/* The two lines of a mark, g_strfreev(); NULL in *lines: there is none, as for nearly all. */
static bool read_mark(const char *directory, const char *list, const char *file, char ***lines, GError **error)
{
    g_autofree char *index = archive_index_path(directory), *own = g_path_get_dirname(index), *text = NULL;
    g_autofree char *path = g_build_filename(own, "marks", list, file, NULL);
    g_autoptr(GError) fault = NULL;
    *lines = NULL;
    if (!g_file_get_contents(path, &text, NULL, &fault))
        return g_error_matches(fault, G_FILE_ERROR, G_FILE_ERROR_NOENT) ||
               fail(error, FAIL_LATER, "%s", fault->message);
    *lines = g_strsplit(text, "\n", 2);
    return true;
}

bool archive_mark_is_removed(const char *directory, const char *list, const char *file, bool *removed, GError **error)
{
    g_auto(GStrv) lines = NULL;
    if (!read_mark(directory, list, file, &lines, error))
        return false;
    *removed = lines && g_strcmp0(lines[0], words[ARCHIVE_REMOVED]) == 0;
    return true;
}

bool archive_mark_restore(ArchiveIndex *index, const char *directory, const ArchivePost *post, GError **error)
{
    g_auto(GStrv) lines = NULL;
    if (!read_mark(directory, post->list, post->file, &lines, NULL) || !lines)
        return true;
    const char *note = lines[0] && lines[1] ? g_strchomp(lines[1]) : "";
    bool removed = g_strcmp0(lines[0], words[ARCHIVE_REMOVED]) == 0;
    g_autoptr(ArchiveMessage) message = archive_index_message_by_file(index, post, error);
    if (!message)
        return false;
    return removed ? archive_index_remove(index, message->id, post, note, error)
                   : archive_index_hide(index, message->id, true, note, error);
}
