/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * A runner outside the tree: counts the posts of each list, exactly once.
 *
 * Each instance keeps one file a list, LIST.I-of-N in `x_directory`: a line
 * "count 12", then the hashes of the entries it counted last. The sum over a
 * list's files is its number of posts.
 *
 * The switchboard hands an entry out again when a process died before its
 * batch was committed. So what is felt outside (here: the file) must be on
 * the disk before handle() or end_batch() returns, and must tell what was done: an
 * entry whose hash stands in one of the list's files is not counted again. Only
 * the last batch can come again, perhaps to another instance after a rescale, so two batches
 * of hashes are enough.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "runners/runner.h"

typedef struct Tally {
    char *file;
    uint64_t count;
    GQueue hashes; /* oldest first */
    bool changed;
} Tally;

typedef struct Counter {
    int directory_fd;
    guint hashes_max;
    int64_t started_at;
    GHashTable *tallies; /* list → Tally */
} Counter;

static void tally_free(void *data)
{
    Tally *tally = data;
    g_queue_clear_full(&tally->hashes, g_free);
    g_free(tally->file);
    g_free(tally);
}

/* The text of a file in the directory, NULL with FAIL_MISSING when there is none. */
static char *read_file(const Counter *counter, const char *name, GError **error)
{
    auto_fd fd = fs_open(counter->directory_fd, name, false, error);
    if (fd < 0)
        return NULL;
    g_autoptr(GString) text = g_string_new(NULL);
    char block[8192];
    ssize_t got;
    while ((got = read(fd, block, sizeof block)) > 0)
        g_string_append_len(text, block, got);
    if (got < 0) {
        fail_errno(error, FAIL_LATER, "read %s", name);
        return NULL;
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* A list id may hold a slash. */
static char *safe_name(const char *list)
{
    g_autofree char *name = g_uri_escape_string(list, "@+=", TRUE);
    return *name == '.' ? g_strconcat("%2E", name + 1, NULL) : g_steal_pointer(&name);
}

static Tally *tally_of(Runner *runner, const char *list, GError **error)
{
    Counter *counter = runner_data(runner);
    Tally *tally = g_hash_table_lookup(counter->tallies, list);
    if (tally != NULL)
        return tally;
    g_autofree char *name = safe_name(list);
    Slice slice = runner_slice(runner);
    g_autofree char *file = g_strdup_printf("%s.%u-of-%u", name, slice.index, slice.count);
    g_autoptr(GError) problem = NULL;
    g_autofree char *text = read_file(counter, file, &problem);
    if (text == NULL && !g_error_matches(problem, FAIL, FAIL_MISSING)) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return NULL;
    }
    tally = g_new0(Tally, 1);
    tally->file = g_steal_pointer(&file);
    g_auto(GStrv) lines = g_strsplit(text != NULL ? text : "count 0", "\n", -1);
    tally->count = g_str_has_prefix(lines[0], "count ") ? strtoull(lines[0] + 6, NULL, 10) : 0;
    for (char **line = lines + 1; lines[0] != NULL && *line != NULL; line++) {
        if (**line != '\0')
            g_queue_push_tail(&tally->hashes, g_strdup(*line));
    }
    g_hash_table_insert(counter->tallies, g_strdup(list), tally);
    return tally;
}

/* Does hash stand in any file of the list, whichever instance wrote it? */
static bool counted_before(const Counter *counter, const char *list, const char *hash, bool *found, GError **error)
{
    g_autofree char *name = safe_name(list);
    g_autofree char *stem = g_strconcat(name, ".", NULL);
    int fd = openat(counter->directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (directory == NULL)
        return fail_errno(error, FAIL_LATER, "list the directory");
    bool good = true;
    *found = false;
    for (struct dirent *item; good && !*found && (item = readdir(directory)) != NULL;) {
        if (!g_str_has_prefix(item->d_name, stem) || g_str_has_suffix(item->d_name, ".new"))
            continue;
        g_autofree char *text = read_file(counter, item->d_name, error);
        good = text != NULL;
        *found = good && strstr(text, hash) != NULL;
    }
    closedir(directory);
    return good;
}

static bool count_handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    Counter *counter = runner_data(runner);
    char hash[HASH_DIGITS + 1];
    name_hash_format(entry_name(entry)->hash, hash);
    Tally *tally = tally_of(runner, entry_list(entry), error);
    if (tally == NULL)
        return false;
    bool found = g_queue_find_custom(&tally->hashes, hash, (GCompareFunc)strcmp) != NULL;
    /* An entry that arrived after we began cannot have been in another process's hands. */
    if (!found && entry_arrival(entry) < counter->started_at &&
        !counted_before(counter, entry_list(entry), hash, &found, error))
        return false;
    if (!found) {
        tally->count++;
        tally->changed = true;
        g_queue_push_tail(&tally->hashes, g_strdup(hash));
        while (g_queue_get_length(&tally->hashes) > counter->hashes_max)
            g_free(g_queue_pop_head(&tally->hashes));
    }
    log_info("%s list=%s count=%" PRIu64 " result=%s", entry_trace(entry), entry_list(entry), tally->count,
             found ? "known" : "counted");
    return true; /* no children: the entry ends here */
}

/* Written aside, synced, renamed: the file is the old one or the new one, never half of each. */
static bool tally_write(const Counter *counter, const Tally *tally, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_printf(text, "count %" PRIu64 "\n", tally->count);
    for (GList *item = tally->hashes.head; item != NULL; item = item->next)
        g_string_append_printf(text, "%s\n", (const char *)item->data);
    g_autofree char *aside = g_strconcat(tally->file, ".new", NULL);
    unlinkat(counter->directory_fd, aside, 0); /* left by a crash */
    auto_fd fd = fs_create(counter->directory_fd, aside, error);
    return fd >= 0 && fs_write(fd, text->str, text->len, error) && fs_sync_file(fd, error) &&
           fs_rename(counter->directory_fd, aside, tally->file, error);
}

static bool count_end_batch(Runner *runner, GError **error)
{
    Counter *counter = runner_data(runner);
    GHashTableIter iter;
    void *value;
    bool good = true, changed = false;
    g_hash_table_iter_init(&iter, counter->tallies);
    while (good && g_hash_table_iter_next(&iter, NULL, &value)) {
        Tally *tally = value;
        if (!tally->changed)
            continue;
        good = tally_write(counter, tally, error);
        tally->changed = false;
        changed = true;
    }
    good = good && (!changed || fs_sync_dir(counter->directory_fd, error));
    if (!good)
        g_hash_table_remove_all(counter->tallies); /* the batch comes again: believe the files */
    return good;
}

static bool count_start(Runner *runner, GError **error)
{
    g_autofree char *section = g_strconcat("runner.", runner_name(runner), NULL);
    const char *path = config_extra(runner_config(runner), section, "x_directory");
    if (path == NULL)
        return fail(error, FAIL_CONFIG, "[%s] x_directory: is missing; it says where the counts are kept", section);
    auto_fd fd = fs_open_dir(AT_FDCWD, path, true, error);
    if (fd < 0)
        return false;
    Counter *counter = g_new0(Counter, 1);
    counter->directory_fd = auto_fd_steal(&fd);
    counter->hashes_max = 2 * (guint)config_integer(runner_config(runner), "spool", "batch_limit");
    counter->started_at = clock_now();
    counter->tallies = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, tally_free);
    runner_set_data(runner, counter);
    return true;
}

static void count_stop(Runner *runner)
{
    Counter *counter = runner_data(runner);
    if (counter == NULL)
        return;
    g_hash_table_unref(counter->tallies);
    close(counter->directory_fd);
    g_free(counter);
}

static const RunnerSpec count_runner = {
    .name = "count",
    .start = count_start,
    .handle = count_handle,
    .end_batch = count_end_batch,
    .stop = count_stop,
};

int main(int argc, char **argv)
{
    return runner_main(&count_runner, argc, argv);
}
