/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/web/theme.h"

#include <string.h>

#include "base/fail.h"
#include "mail/text/mustache.h"

struct Catalogue {
    GHashTable *texts; /* msgid -> msgstr */
};

typedef struct CatalogueReader {
    Catalogue *catalogue;
    GString *key, *text, *open; /* open: the one of the two that further lines go on with; NULL: none */
    bool is_fuzzy, next_is_fuzzy;
} CatalogueReader;

/* ---- texts in another language ---- */

void theme_catalogue_free(Catalogue *catalogue)
{
    if (!catalogue)
        return;
    g_hash_table_unref(catalogue->texts);
    g_free(catalogue);
}

const char *theme_catalogue_text(const Catalogue *catalogue, const char *text)
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

Catalogue *theme_catalogue_read(const char *path, GError **error)
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
    for (unsigned i = 0; good && lines[i]; i++) {
        char *line = g_strstrip(lines[i]);
        if (*line == '#') {
            reader.next_is_fuzzy = reader.next_is_fuzzy || (line[1] == ',' && strstr(line, "fuzzy"));
        } else if (g_str_has_prefix(line, "msgid ")) {
            finish(&reader);
            reader.is_fuzzy = reader.next_is_fuzzy;
            reader.next_is_fuzzy = false;
            reader.open = reader.key;
            good = add_quoted(&reader, g_strchug(line + strlen("msgid ")));
        } else if (g_str_has_prefix(line, "msgstr ") && reader.open == reader.key) {
            reader.open = reader.text;
            good = add_quoted(&reader, g_strchug(line + strlen("msgstr ")));
        } else {
            good = !*line || add_quoted(&reader, line);
        }
        if (!good)
            fail(error, FAIL_CONFIG,
                 "%s, line %u: allowed are comments, msgid \"...\", msgstr \"...\" and further \"...\" of these", path,
                 i + 1);
    }
    finish(&reader);
    return good ? g_steal_pointer(&catalogue) : NULL;
}

/* ---- the theme ---- */

#define TEMPLATE_SUFFIX ".mustache"
#define CATALOGUE_SUFFIX ".po"
#define WRITTEN_IN "en" /* what templates have without a catalogue */

/* A language with all templates in it. */
typedef struct Tongue {
    char *name;
    Catalogue *catalogue;  /* NULL: as it is written */
    GHashTable *templates; /* name -> Mustache */
} Tongue;

struct Theme {
    GPtrArray *tongues; /* of Tongue, WRITTEN_IN first */
    GArray *files;      /* of ThemeFile */
};

static void tongue_free(void *data)
{
    Tongue *tongue = data;
    g_free(tongue->name);
    theme_catalogue_free(tongue->catalogue);
    g_hash_table_unref(tongue->templates);
    g_free(tongue);
}

static void file_clear(void *data)
{
    ThemeFile *file = data;
    g_bytes_unref(file->content);
    g_free(file->tag);
}

void theme_free(Theme *theme)
{
    if (!theme)
        return;
    g_ptr_array_unref(theme->tongues);
    g_array_unref(theme->files);
    g_free(theme);
}

/* ---- reading ---- */

/* The names in both folders that end so, without the end: a set. */
static GHashTable *names_in(const char *const folders[2], const char *below, const char *suffix, GError **error)
{
    g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (unsigned i = 0; i < 2 && folders[i]; i++) {
        g_autofree char *path = g_build_filename(folders[i], below, NULL);
        if (!g_file_test(path, G_FILE_TEST_IS_DIR))
            continue; /* the site need not have one */
        g_autoptr(GError) fault = NULL;
        g_autoptr(GDir) folder = g_dir_open(path, 0, &fault);
        if (!folder) {
            fail(error, FAIL_LATER, "%s", fault->message);
            return NULL;
        }
        for (const char *name; (name = g_dir_read_name(folder));)
            if (g_str_has_suffix(name, suffix) && *name != '.')
                g_hash_table_add(names, g_strndup(name, strlen(name) - strlen(suffix)));
    }
    return g_steal_pointer(&names);
}

/* The site's file of that name, else the built-in one; g_free(). */
static char *path_of(const char *const folders[2], const char *below, const char *name, const char *suffix)
{
    g_autofree char *file = g_strconcat(name, suffix, NULL);
    g_autofree char *own = folders[1] ? g_build_filename(folders[1], below, file, NULL) : NULL;
    return own && g_file_test(own, G_FILE_TEST_EXISTS) ? g_steal_pointer(&own)
                                                       : g_build_filename(folders[0], below, file, NULL);
}

static char *translate(void *data, const char *text)
{
    const Tongue *tongue = data;
    return g_strdup(theme_catalogue_text(tongue->catalogue, text));
}

/* Add a language, with all templates in it. */
static bool add_tongue(Theme *theme, const char *const folders[2], const char *name, GHashTable *templates,
                       GError **error)
{
    Tongue *tongue = g_new0(Tongue, 1);
    tongue->name = g_strdup(name);
    tongue->templates = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)mustache_free);
    g_ptr_array_add(theme->tongues, tongue);
    if (strcmp(name, WRITTEN_IN) != 0) {
        g_autofree char *path = path_of(folders, "po", name, CATALOGUE_SUFFIX);
        if (!(tongue->catalogue = theme_catalogue_read(path, error)))
            return false;
    }
    GHashTableIter at;
    void *key;
    g_hash_table_iter_init(&at, templates);
    while (g_hash_table_iter_next(&at, &key, NULL)) {
        g_autofree char *path = path_of(folders, "", key, TEMPLATE_SUFFIX), *text = NULL;
        g_autoptr(GError) fault = NULL;
        if (!g_file_get_contents(path, &text, NULL, &fault))
            return fail(error, FAIL_LATER, "%s", fault->message);
        if (!g_utf8_validate(text, -1, NULL))
            return fail(error, FAIL_CONFIG, "the template %s is not in UTF-8", path);
        Mustache *template = mustache_new(path, text, translate, tongue, error);
        if (!template)
            return false;
        g_hash_table_insert(tongue->templates, g_strdup(key), template);
    }
    return true;
}

static int by_name(const void *one, const void *other)
{
    return strcmp(one, other);
}

Theme *theme_new(const char *built_in, const char *site, GError **error)
{
    static const struct {
        const char *name, *type;
    } served[] = {{"style.css", "text/css; charset=utf-8"},
                  {"icon.svg", "image/svg+xml"},
                  {"archive.js", "text/javascript; charset=utf-8"},
                  {"desk_site.js", "text/javascript; charset=utf-8"}};
    const char *const folders[2] = {built_in, site};
    g_autoptr(Theme) theme = g_new0(Theme, 1);
    theme->tongues = g_ptr_array_new_with_free_func(tongue_free);
    theme->files = g_array_new(FALSE, FALSE, sizeof(ThemeFile));
    g_array_set_clear_func(theme->files, file_clear);
    g_autoptr(GHashTable) templates = names_in(folders, "", TEMPLATE_SUFFIX, error);
    g_autoptr(GHashTable) languages = templates ? names_in(folders, "po", CATALOGUE_SUFFIX, error) : NULL;
    if (!languages || !add_tongue(theme, folders, WRITTEN_IN, templates, error))
        return NULL;
    g_autoptr(GList) sorted = g_list_sort(g_hash_table_get_keys(languages), by_name);
    for (const GList *at = sorted; at; at = at->next)
        if (strcmp(at->data, WRITTEN_IN) != 0 && !add_tongue(theme, folders, at->data, templates, error))
            return NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(served); i++) {
        g_autofree char *path = path_of(folders, "", served[i].name, ""), *content = NULL;
        g_autoptr(GError) fault = NULL;
        size_t length;
        if (!g_file_get_contents(path, &content, &length, &fault)) {
            fail(error, FAIL_LATER, "%s", fault->message);
            return NULL;
        }
        g_autofree char *sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)content, length);
        ThemeFile file = {.name = served[i].name, .type = served[i].type, .tag = g_strdup_printf("\"%.32s\"", sum)};
        file.content = g_bytes_new_take(g_steal_pointer(&content), length);
        g_array_append_val(theme->files, file);
    }
    return g_steal_pointer(&theme);
}

/* ---- use ---- */

static const Tongue *tongue_of(const Theme *theme, const char *language)
{
    for (unsigned i = 0; i < theme->tongues->len; i++)
        if (g_ascii_strcasecmp(((const Tongue *)theme->tongues->pdata[i])->name, language) == 0)
            return theme->tongues->pdata[i];
    return NULL;
}

const char *theme_language(const Theme *theme, const char *accept)
{
    const Tongue *best = theme->tongues->pdata[0];
    double most = 0;
    g_auto(GStrv) ranges = g_strsplit(accept ? accept : "", ",", 32); /* the rest of a longer field is no language */
    for (char **range = ranges; *range; range++) {
        char *semicolon = strchr(*range, ';');
        const char *quality = semicolon ? strstr(semicolon, "q=") : NULL;
        double weight = quality ? g_ascii_strtod(quality + 2, NULL) : 1;
        if (semicolon)
            *semicolon = '\0';
        /* The language itself, else "de" for "de-AT", else "zh_CN" for "zh". */
        char *name = g_strdelimit(g_strstrip(*range), "-", '_');
        const Tongue *tongue = tongue_of(theme, name);
        name[strcspn(name, "_")] = '\0';
        if (!tongue && *name)
            tongue = tongue_of(theme, name);
        for (unsigned i = 0; !tongue && *name && i < theme->tongues->len; i++) {
            const Tongue *one = theme->tongues->pdata[i];
            if (g_ascii_strncasecmp(one->name, name, strlen(name)) == 0 && one->name[strlen(name)] == '_')
                tongue = one;
        }
        if (tongue && weight > most) {
            best = tongue;
            most = weight;
        }
    }
    return best->name;
}

const char *theme_text(const Theme *theme, const char *language, const char *text)
{
    const Tongue *tongue = theme ? tongue_of(theme, language) : NULL;
    return theme_catalogue_text(tongue ? tongue->catalogue : NULL, text);
}

static const Mustache *partial(void *data, const char *name)
{
    return g_hash_table_lookup(((const Tongue *)data)->templates, name);
}

bool theme_fill(const Theme *theme, const char *language, const char *name, const json_t *view, GString *out,
                GError **error)
{
    const Tongue *tongue = tongue_of(theme, language);
    tongue = tongue ? tongue : theme->tongues->pdata[0];
    const Mustache *template = g_hash_table_lookup(tongue->templates, name);
    if (!template)
        return fail(error, FAIL_MISSING, "there is no template %s" TEMPLATE_SUFFIX, name);
    return mustache_fill(template, view, partial, (void *)tongue, out, error);
}

const ThemeFile *theme_file(const Theme *theme, const char *name)
{
    for (unsigned i = 0; i < theme->files->len; i++) {
        const ThemeFile *file = &g_array_index(theme->files, ThemeFile, i);
        if (strcmp(file->name, name) == 0)
            return file;
    }
    return NULL;
}
