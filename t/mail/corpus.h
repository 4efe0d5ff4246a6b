/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Let a test look at many mails. t/tools/make-mail made them below the build directory; if LISTRUNNER_CORPUS is set,
 * the mails of that folder come besides. corpus_each() is the function to call.
 */
#include <glib.h>
#include <string.h>

/* Take one mail, borrowed for the call; name is the path of its file. */
typedef void CorpusEach(GBytes *mail, const char *name, void *data);

/* Find the places of a folder ("lists", "mime", "partial", "bounces"), one for each source of mail; ends the test when
 * one is absent. g_strfreev(). */
static inline char **corpus_paths(const char *folder)
{
    const char *build = g_getenv("top_builddir"), *outside = g_getenv("LISTRUNNER_CORPUS");
    GPtrArray *paths = g_ptr_array_new();
    g_ptr_array_add(paths, g_build_filename(build ? build : ".", "t", "made-mail", folder, NULL));
    if (outside && *outside)
        g_ptr_array_add(paths, g_build_filename(outside, folder, NULL));
    for (unsigned at = 0; at < paths->len; at++)
        if (!g_file_test(paths->pdata[at], G_FILE_TEST_IS_DIR))
            g_error("%s is not there: \"make t/made-mail/made\" makes it below the build directory",
                    (char *)paths->pdata[at]);
    g_ptr_array_add(paths, NULL);
    return (char **)g_ptr_array_free(paths, FALSE);
}

/* Return the mail with CRLF for bare line feeds, as it came off the wire; g_bytes_unref(). */
static inline GBytes *corpus_wire(GBytes *mail)
{
    gsize length;
    const char *text = g_bytes_get_data(mail, &length);
    GString *wire = g_string_sized_new(length + length / 16);
    for (gsize at = 0; at < length; at++) {
        if (text[at] == '\n' && (at == 0 || text[at - 1] != '\r'))
            g_string_append_c(wire, '\r');
        g_string_append_c(wire, text[at]);
    }
    return g_string_free_to_bytes(wire);
}

/* Call `each` for every mail of an mbox, without its From_ line. Return their number. */
static inline unsigned corpus_mbox(const char *text, gsize length, const char *name, CorpusEach *each, void *data)
{
    unsigned count = 0;
    const char *end = text + length, *at = text;
    while (at < end) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        const char *start = feed ? feed + 1 : end, *next = start;
        while (next < end) {
            const char *line = memmem(next, (size_t)(end - next), "\n\nFrom ", 7);
            next = line ? line + 2 : end;
            break;
        }
        g_autoptr(GBytes) mail = g_bytes_new(start, (size_t)(next - start));
        each(mail, name, data);
        count++;
        at = next;
    }
    return count;
}

/* Call `each` for every mail of a file or directory. Return their number. */
static inline unsigned corpus_walk(const char *path, CorpusEach *each, void *data)
{
    unsigned count = 0;
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    if (dir) {
        for (const char *name; (name = g_dir_read_name(dir));) {
            g_autofree char *inner = g_build_filename(path, name, NULL);
            count += corpus_walk(inner, each, data);
        }
        return count;
    }
    g_autofree char *text = NULL;
    gsize length = 0;
    if (g_str_has_suffix(path, ".json") || g_str_has_suffix(path, ".md") ||
        !g_file_get_contents(path, &text, &length, NULL))
        return 0;
    if (g_str_has_suffix(path, ".mbox"))
        return corpus_mbox(text, length, path, each, data);
    g_autoptr(GBytes) mail = g_bytes_new(text, length);
    each(mail, path, data);
    return 1;
}

/* Call `each` for every mail of a folder, as corpus_paths() names it. Return their number. */
static inline unsigned corpus_each(const char *folder, CorpusEach *each, void *data)
{
    unsigned count = 0;
    g_auto(GStrv) paths = corpus_paths(folder);
    for (char **path = paths; *path; path++)
        count += corpus_walk(*path, each, data);
    return count;
}
