/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/web/catalogue.h"

#include <string.h>

#include "base/fail.h"

struct Catalogue {
    GHashTable *texts; /* msgid -> msgstr */
};

typedef struct CatalogueReader {
    Catalogue *catalogue;
    GString *key, *text, *open; /* open: the one of the two that further lines go on with; NULL: none */
    bool is_fuzzy, next_is_fuzzy;
} CatalogueReader;

void catalogue_free(Catalogue *catalogue)
{
    if (!catalogue)
        return;
    g_hash_table_unref(catalogue->texts);
    g_free(catalogue);
}

const char *catalogue_text(const Catalogue *catalogue, const char *text)
{
    const char *found = catalogue ? g_hash_table_lookup(catalogue->texts, text) : NULL;
    return found ? found : text;
}

/* The entry before is whole. */
static void finish(CatalogueReader *reader)
{
    if (reader->key->len > 0 && reader->text->len > 0 && !reader->is_fuzzy)
        g_hash_table_insert(reader->catalogue->texts, g_strdup(reader->key->str), g_strdup(reader->text->str));
    g_string_truncate(reader->key, 0);
    g_string_truncate(reader->text, 0);
    reader->open = NULL;
}

/* Append what a line has in quotation marks. */
static bool add_quoted(CatalogueReader *reader, const char *quoted)
{
    size_t length = strlen(quoted);
    if (!reader->open || length < 2 || *quoted != '"' || quoted[length - 1] != '"')
        return false;
    g_autofree char *inside = g_strndup(quoted + 1, length - 2);
    g_autofree char *text = g_strcompress(inside);
    g_string_append(reader->open, text);
    return true;
}

static bool read_line(CatalogueReader *reader, char *line)
{
    g_strstrip(line);
    if (*line == '#') {
        reader->next_is_fuzzy = reader->next_is_fuzzy || (line[1] == ',' && strstr(line, "fuzzy"));
        return true;
    }
    if (g_str_has_prefix(line, "msgid ")) {
        finish(reader);
        reader->is_fuzzy = reader->next_is_fuzzy;
        reader->next_is_fuzzy = false;
        reader->open = reader->key;
        return add_quoted(reader, g_strchug(line + strlen("msgid ")));
    }
    if (g_str_has_prefix(line, "msgstr ") && reader->open == reader->key) {
        reader->open = reader->text;
        return add_quoted(reader, g_strchug(line + strlen("msgstr ")));
    }
    return !*line || add_quoted(reader, line);
}

Catalogue *catalogue_read(const char *path, GError **error)
{
    g_autofree char *whole = NULL;
    g_autoptr(GError) fault = NULL;
    if (!g_file_get_contents(path, &whole, NULL, &fault)) {
        fail(error, g_error_matches(fault, G_FILE_ERROR, G_FILE_ERROR_NOENT) ? FAIL_MISSING : FAIL_LATER, "%s",
             fault->message);
        return NULL;
    }
    g_autoptr(Catalogue) catalogue = g_new0(Catalogue, 1);
    catalogue->texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(GString) key = g_string_new(NULL), text = g_string_new(NULL);
    CatalogueReader reader = {.catalogue = catalogue, .key = key, .text = text};
    g_auto(GStrv) lines = g_strsplit(whole, "\n", -1);
    bool good = g_utf8_validate(whole, -1, NULL) || fail(error, FAIL_CONFIG, "%s is not in UTF-8", path);
    for (unsigned i = 0; good && lines[i]; i++)
        good = read_line(&reader, lines[i]) ||
               fail(error, FAIL_CONFIG,
                    "%s, line %u: allowed are comments, msgid \"...\", msgstr \"...\" and further \"...\" of these",
                    path, i + 1);
    finish(&reader);
    return good ? g_steal_pointer(&catalogue) : NULL;
}
