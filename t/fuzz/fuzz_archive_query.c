/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A search of any bytes over an index of a few messages: it never fails but for being empty; what was understood means
 * the same when it is read again; a message is found by its own text, and its snippet says what the text says. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "store/archive/archive_search.h"
#include "t/fuzz/fuzz.h"

static char *directory;
static ArchiveIndex *archive;

static void remove_directory(void)
{
    g_autofree char *path = archive_index_path(directory), *own = g_path_get_dirname(path);
    archive_index_free(archive);
    unlink(path);
    rmdir(own);
    rmdir(directory);
}

static void add(int number, const char *text, size_t length)
{
    g_autofree char *name = g_strdup_printf("m%d", number);
    g_autofree char *subject = g_utf8_make_valid(text, (gssize)MIN(length, 50));
    const ArchivePost post = {.list = "l",
                              .file = name,
                              .hash = name,
                              .spare_hash = name,
                              .name = "Anne",
                              .address = "anne@example.org",
                              .subject = subject,
                              .topic = subject,
                              .text = text,
                              .text_length = length,
                              .arrival = 1700000000000000 + number};
    bool added;
    require(archive_index_add(archive, &post, &added, NULL) && added);
}

static void make(void)
{
    directory = g_dir_make_tmp("fuzz-XXXXXX", NULL);
    archive = archive_index_open(directory, true, NULL);
    require(archive != NULL);
    atexit(remove_directory);
    add(1, "late frost in the garden", 24);
    add(2, "all list l1 OR NOT NEAR subject text", 36);
}

static void search(const char *text, bool ranked)
{
    static const int64_t lists[] = {1, 2};
    g_autoptr(GError) error = NULL;
    g_autoptr(ArchiveQuery) query = archive_query_new(text);
    g_auto(ArchiveFound) found = {0};
    const ArchiveSearch search = {.lists = lists, .list_count = 2, .limit = 5, .ranked = ranked, .addresses = ranked};
    bool done = archive_index_search(archive, query, &search, &found, &error);
    require(done == !archive_query_is_empty(query) && (done || g_error_matches(error, FAIL, FAIL_NEVER)));
}

static void check_snippet(const ArchiveQuery *query, const char *text, size_t length)
{
    g_autoptr(GPtrArray) pieces = archive_query_snippet(query, text, length, 60);
    for (guint i = 0; i < pieces->len; i++) {
        const ArchivePiece *piece = pieces->pdata[i];
        require(*piece->text && g_utf8_validate(piece->text, -1, NULL));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!archive)
        make();
    g_autofree char *text = g_strndup((const char *)data, size);
    g_autoptr(ArchiveQuery) query = archive_query_new(text);
    g_autofree char *understood = archive_query_text(query);
    g_autoptr(ArchiveQuery) again = archive_query_new(understood);
    g_autofree char *same = archive_query_text(again);
    require(g_utf8_validate(understood, -1, NULL));
    require(strlen(understood) > ARCHIVE_QUERY_MAX || strcmp(same, understood) == 0);
    search(text, false);
    search(text, true);
    check_snippet(query, (const char *)data, size);
    /* As the text of a message. It is rolled back, so that the index stays small. */
    require(archive_index_begin(archive, NULL));
    add(3, (const char *)data, size);
    archive_index_rollback(archive);
    return 0;
}
