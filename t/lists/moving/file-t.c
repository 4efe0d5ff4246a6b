/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Root reads no file on the word of whoever owns the directory of a list. */
#include "lists/moving/file.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/fs.h"
#include "t/store/fixture.h"
#include "t/suite.h"

typedef struct Place {
    char *top, *list, *secret;
} Place;

static char *below(const char *directory, const char *name)
{
    return g_build_filename(directory, name, NULL);
}

static void put(const char *directory, const char *name, const char *text)
{
    g_autofree char *path = below(directory, name);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void set_up(Place *place, const void *data)
{
    (void)data;
    GError *error = NULL;
    place->top = g_dir_make_tmp("file-t.XXXXXX", &error);
    assert_ok(place->top != NULL, error);
    place->list = below(place->top, "list");
    place->secret = below(place->top, "secret");
    g_autofree char *text = below(place->list, "text"), *own = below(place->secret, "folder");
    g_assert_cmpint(g_mkdir_with_parents(text, 0755) | g_mkdir_with_parents(own, 0755), ==, 0);
    put(text, "trailer", "-- \nour list\n");
    put(place->secret, "trailer", "root's\n");
    put(own, "trailer", "root's\n");
}

static void tear_down(Place *place, const void *data)
{
    (void)data;
    fs_remove_tree(place->top, NULL);
    g_free(place->top);
    g_free(place->list);
    g_free(place->secret);
}

static char *read_text(const Place *place, const char *name, GError **error)
{
    g_autofree char *path = below(place->list, name);
    g_autoptr(GBytes) bytes = moving_read_file(place->list, path, error);
    return bytes ? g_strndup(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes)) : NULL;
}

static void test_own(Place *place, const void *data)
{
    GError *error = NULL;
    g_autofree char *text = read_text(place, "text/trailer", &error),
                    *twice = read_text(place, "text//trailer", &error);
    g_assert_cmpstr(text, ==, "-- \nour list\n");
    g_assert_cmpstr(twice, ==, text);
    g_assert_null(read_text(place, "text/nothing", &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_null(read_text(place, "nothing/trailer", &error));
    assert_failed(FAIL_MISSING, error);
    /* The operator may name the directory by a link. */
    g_autofree char *link = below(place->top, "link"), *path = below(link, "text/trailer");
    g_assert_cmpint(symlink(place->list, link), ==, 0);
    g_autoptr(GBytes) bytes = moving_read_file(link, path, &error);
    assert_ok(bytes != NULL, error);
    g_autofree char *folder = below(place->list, "text");
    g_autoptr(GPtrArray) names = moving_names(place->list, folder, &error);
    g_assert_cmpuint(names->len, ==, 1);
    g_assert_cmpstr(names->pdata[0], ==, "trailer");
}

static void test_links(Place *place, const void *data)
{
    GError *error = NULL;
    struct stat status;
    g_autofree char *file = below(place->secret, "trailer"), *own = below(place->list, "file");
    static const char *const bad[] = {"file", "hop/trailer", "hop/folder/trailer", "../secret/trailer",
                                      "text/../../secret/trailer", "gone", "fifo", "text"};
    g_autofree char *hop = below(place->list, "hop"), *gone = below(place->list, "gone"),
                    *fifo = below(place->list, "fifo");
    g_assert_cmpint(symlink(file, own) | symlink("../secret", hop) | symlink("nowhere", gone), ==, 0);
    g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
    for (size_t at = 0; at < G_N_ELEMENTS(bad); at++) {
        g_autofree char *path = below(place->list, bad[at]);
        g_assert_null(read_text(place, bad[at], &error));
        assert_failed(FAIL_NEVER, error);
        g_assert_false(moving_stat(place->list, path, &status));
    }
    g_assert_null(moving_names(place->list, hop, &error));
    assert_failed(FAIL_NEVER, error);
}

SUITE("moving/file")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/moving/file/own files", Place, NULL, set_up, test_own, tear_down);
    g_test_add("/moving/file/links, pipes and ways up", Place, NULL, set_up, test_links, tear_down);
    return g_test_run();
}
