/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The mail corpus for tests: ../shared/corpus beside the top source
 * directory. Tests skip where it is absent.
 */
#include <glib.h>
#include <string.h>

typedef void CorpusEach(GBytes *mail, const char *name, void *data);

/* NULL and a skip of the test in progress when there is no corpus. g_free(). */
static inline char *corpus_path(const char *folder)
{
    const char *top = g_getenv("top_srcdir");
    char *path = g_build_filename(top ? top : ".", "..", "shared", "corpus", folder, NULL);
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
        return path;
    g_free(path);
    g_test_skip("no corpus beside the source tree");
    return NULL;
}

/* Bare line feeds become CRLF: as the mail came off the wire. */
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

/* Each mail of an mbox, without its From_ line. */
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
