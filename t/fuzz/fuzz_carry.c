/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Any bytes as lines of an export, behind lines with a list and a user, into a real database: they come, are told, or
 * end the import with a reason; all is undone with its transaction. The same bytes as a whole file are refused or read.
 */
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "lists/moving/leaving.h"
#include "store/moving/carry.h"
#include "t/fuzz/fuzz.h"

static const char begin[] =
    "{\"row\":\"listrunner-export\",\"version\":1,\"site\":\"a\",\"made_at\":1}\n"
    "{\"row\":\"domain\",\"mail_host\":\"x.example\",\"description\":\"\"}\n"
    "{\"row\":\"list\",\"list\":\"a.x.example\",\"address\":\"a@x.example\",\"created_at\":1,\"last_post_at\":0,"
    "\"post_id\":1,\"held_last\":0,\"archive\":0,\"settings\":{\"description\":\"d\"}}\n";

static Store *store;
static char *directory;

static void close_store(void)
{
    static const char *const files[] = {"a.db", "a.db-wal", "a.db-shm"};
    store_free(store);
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = g_build_filename(directory, files[i], NULL);
        g_unlink(path);
    }
    g_rmdir(directory);
    g_free(directory);
}

static void open_store(void)
{
    int fd;
    directory = g_dir_make_tmp("fuzz-carry.XXXXXX", NULL);
    require(directory != NULL);
    g_autofree char *path = g_build_filename(directory, "a.db", NULL);
    store = store_open("sqlite", path, true, NULL);
    require(store && store_leave_sync(store, &fd, NULL));
    atexit(close_store);
}

static void tell(MovingNote note, const char *place, const char *key, const char *text, void *data)
{
    require(note < MOVING_NOTES && place && key && *text);
    ++*(uint64_t *)data;
}

static void bring(const void *bytes, size_t size)
{
    uint64_t told = 0;
    g_autoptr(GError) error = NULL;
    const WorkSite work = {.site_owner = "o@x.example", .hostname = "x.example", .delimiter = '+'};
    const MovingSite into = {
        .store = store, .there = store, .site = &work, .of_site = size % 2, .at_once = true, .tell = tell,
        .data = &told};
    FILE *file = fmemopen((void *)bytes, MAX(size, 1), "r");
    require(file != NULL);
    g_autoptr(LeavingFile) from = leaving_open(file, &error);
    require(from || (error && error->message));
    if (from) {
        g_autoptr(Moving) moving = moving_new(&into, leaving_source(from));
        require(leaving_move(from, moving, &error) || (error && !g_error_matches(error, FAIL, FAIL_LATER)));
        for (MovingNote note = MOVING_LEFT_OUT; note < MOVING_NOTES; note++)
            told -= moving_notes(moving, note);
        require(told == 0);
    }
    fclose(file);
    g_auto(GStrv) lists = carry_lists(store, NULL, NULL);
    require(lists && !*lists);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!store)
        open_store();
    g_autoptr(GByteArray) file = g_byte_array_new();
    g_byte_array_append(file, (const guint8 *)begin, sizeof begin - 1);
    g_byte_array_append(file, data, (guint)size);
    bring(file->data, file->len);
    bring(data, size);
    return 0;
}
