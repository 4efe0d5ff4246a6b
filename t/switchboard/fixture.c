/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/switchboard/fixture.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

void fixture_set_up(Fixture *fixture, gconstpointer data)
{
    (void)data;
    g_autoptr(GError) error = NULL;
    fixture->path = g_dir_make_tmp("switchboard-XXXXXX", &error);
    g_assert_no_error(error);
    fixture->spool = spool_open(fixture->path, &error);
    g_assert_no_error(error);
}

static void remove_tree(const char *path)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *child = g_build_filename(path, name, NULL);
        if (g_file_test(child, G_FILE_TEST_IS_DIR) && !g_file_test(child, G_FILE_TEST_IS_SYMLINK))
            remove_tree(child);
        else
            g_unlink(child);
    }
    g_rmdir(path);
}

void fixture_tear_down(Fixture *fixture, gconstpointer data)
{
    static const char *const beside[] = {".conf", ".db", ".db-wal", ".db-shm", ".sock"};
    (void)data;
    spool_free(fixture->spool);
    remove_tree(fixture->path);
    for (size_t i = 0; i < G_N_ELEMENTS(beside); i++) {
        g_autofree char *path = g_strconcat(fixture->path, beside[i], NULL);
        g_unlink(path);
    }
    g_free(fixture->path);
}

void fixture_reopen(Fixture *fixture)
{
    g_autoptr(GError) error = NULL;
    spool_free(fixture->spool);
    fixture->spool = spool_open(fixture->path, &error);
    g_assert_no_error(error);
}

Draft *fixture_draft(const char *queue, const char *list, const char *message)
{
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, list);
    Draft *draft = draft_new(queue, meta);
    g_autoptr(GBytes) octets = g_bytes_new(message, strlen(message));
    draft_add_message(draft, octets);
    return draft;
}

static const char *next_address(void *data, GError **error)
{
    (void)error;
    const char *const **at = data;
    return **at ? *(*at)++ : NULL;
}

void fixture_add_recipients(Draft *draft, const char *const *addresses)
{
    const char *const **at = g_new(const char *const *, 1);
    *at = addresses;
    draft_set_recipients(draft, next_address, at, g_free);
}

char *fixture_store(Fixture *fixture, const char *queue, const char *message)
{
    Intake intake = {.draft = fixture_draft(queue, "test.example.com", message)};
    g_assert_true(intake_store(fixture->spool, &intake, 1, false));
    char *text = g_malloc(NAME_SIZE);
    name_format(draft_name(intake.draft), text);
    draft_free(intake.draft);
    return text;
}

void fixture_put(Fixture *fixture, Draft *draft)
{
    Intake intake = {.draft = draft};
    g_assert_true(intake_store(fixture->spool, &intake, 1, false));
    draft_free(draft);
}

Inbox *fixture_inbox(Fixture *fixture, const char *queue)
{
    g_autoptr(GError) error = NULL;
    Inbox *inbox = inbox_open(fixture->spool, queue, (Slice){0, 1}, (Wakeup){0}, &error);
    g_assert_no_error(error);
    return inbox;
}

GPtrArray *fixture_claim(Inbox *inbox)
{
    g_autoptr(GError) error = NULL;
    GPtrArray *entries = g_ptr_array_new();
    g_assert_true(inbox_refresh(inbox, &error));
    g_assert_true(inbox_claim(inbox, 1000, false, entries, &error));
    g_assert_no_error(error);
    return entries;
}

Entry *fixture_claim_one(Inbox *inbox)
{
    g_autoptr(GPtrArray) entries = fixture_claim(inbox);
    g_assert_cmpuint(entries->len, ==, 1);
    return entries->pdata[0];
}

Entry *fixture_open(Fixture *fixture, const char *queue)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *file = fixture_files(fixture, queue, ".msg");
    Entry *entry = entry_open(spool_queue(fixture->spool, queue, NULL), file, &error);
    g_assert_no_error(error);
    return entry;
}

char *fixture_text(Entry *entry)
{
    g_autoptr(GBytes) octets = entry_message(entry);
    return g_strndup(g_bytes_get_data(octets, NULL), g_bytes_get_size(octets));
}

void fixture_lose(Fixture *fixture, const char *queue, const char *suffix)
{
    g_autofree char *file = fixture_files(fixture, queue, suffix);
    g_autofree char *path = fixture_file_path(fixture, queue, file);
    g_assert_cmpint(g_unlink(path), ==, 0);
}

RecoverReport fixture_recover(Fixture *fixture, const char *queue, bool thorough)
{
    RecoverReport report = {0};
    g_autoptr(GError) error = NULL;
    g_assert_true(recover_slice(spool_queue(fixture->spool, queue, NULL), (Slice){0, 1}, thorough, &report, &error));
    g_assert_no_error(error);
    return report;
}

static gint compare(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static GPtrArray *list_files(Fixture *fixture, const char *queue, const char *suffix)
{
    g_autofree char *path = g_build_filename(fixture->path, queue, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)) != NULL)
        if (g_str_has_suffix(name, suffix))
            g_ptr_array_add(files, g_strdup(name));
    g_ptr_array_sort(files, compare);
    return files;
}

char *fixture_files(Fixture *fixture, const char *queue, const char *suffix)
{
    g_autoptr(GPtrArray) files = list_files(fixture, queue, suffix);
    g_ptr_array_add(files, NULL);
    return g_strjoinv(",", (char **)files->pdata);
}

unsigned fixture_count(Fixture *fixture, const char *queue, const char *suffix)
{
    g_autoptr(GPtrArray) files = list_files(fixture, queue, suffix);
    return files->len;
}

char *fixture_file_path(Fixture *fixture, const char *queue, const char *file)
{
    return g_build_filename(fixture->path, queue, file, NULL);
}

void fixture_set_state(Fixture *fixture, const char *from, const char *to)
{
    g_autofree char *file = fixture_files(fixture, "in", from);
    g_autofree char *stem = g_strndup(file, NAME_LENGTH);
    g_autofree char *wanted = g_strconcat(stem, to, NULL);
    g_autofree char *old = fixture_file_path(fixture, "in", file);
    g_autofree char *new = fixture_file_path(fixture, "in", wanted);
    g_assert_cmpint(g_rename(old, new), ==, 0);
}

typedef struct Record {
    GString *calls;
    FsCall call;
    int others, error;
} Record;

static Record recording;

static int record(const FsEvent *event, void *data)
{
    static const char letters[] = "cwptrumfd";
    Record *log = data;
    g_string_append_c(log->calls, letters[event->call]);
    return log->error && event->call == log->call && log->others-- == 0 ? log->error : 0;
}

void fixture_record(FsCall call, int others, int error)
{
    GString *calls = recording.calls ? recording.calls : g_string_new(NULL);
    recording = (Record){g_string_truncate(calls, 0), call, others, error};
    fs_set_hook(record, &recording);
}

const char *fixture_recorded(void)
{
    fs_set_hook(NULL, NULL);
    return recording.calls->str;
}
