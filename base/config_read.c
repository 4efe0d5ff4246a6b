/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/config_internal.h"

#include <ini.h>
#include <string.h>

#include "base/near_word.h"

#define FREE_KEY_PREFIX "x_"
/* inih keeps 50 bytes of a name, its end included. */
#define NAME_LENGTH_MAX 48

/* ---- suggestions ---- */

/* Search for the key or section that was meant. Begin with it. */
static NearWord meant_by(const char *wanted)
{
    return (NearWord){wanted, NULL, MAX(2, strlen(wanted) / 3) + 1};
}

static const ConfigKey *find_key(const char *section, const char *name)
{
    const ConfigTable *table;
    for (unsigned i = 0; (table = config_table(i)); i++)
        for (const ConfigKey *key = config_table_covers(table, section) ? table->keys : NULL; key && key->name; key++)
            if (g_str_equal(key->name, name))
                return key;
    return NULL;
}

/* A table of a section of this name; NULL: there is no such section. */
static const ConfigTable *find_table(const char *section)
{
    const ConfigTable *table;
    for (unsigned i = 0; (table = config_table(i)); i++)
        if (config_table_covers(table, section))
            return table;
    return NULL;
}

/* Was the section of the table with this number named by one before it? */
static bool is_repeated(unsigned at)
{
    const char *section = config_table(at)->section;
    for (unsigned i = 0; i < at; i++)
        if (g_str_equal(config_table(i)->section, section))
            return true;
    return false;
}

static void fault_unknown_section(ConfigFaults *faults, int line, const char *name)
{
    NearWord near = meant_by(name);
    g_autoptr(GString) allowed = g_string_new(NULL);
    const ConfigTable *table;
    for (unsigned i = 0; (table = config_table(i)); i++) {
        size_t family = config_family_length(table->section);
        if (!is_repeated(i))
            g_string_append_printf(allowed, "%s[%.*s%s]", allowed->len ? ", " : "",
                                   family ? (int)family : (int)strlen(table->section), table->section,
                                   family ? "NAME" : "");
        if (family == 0)
            near_word_offer(&near, table->section);
    }
    const ConfigMember *member;
    for (unsigned i = 0; (member = config_member(i)); i++)
        near_word_offer(&near, member->section);
    if (near.best)
        config_fault(faults, line, name, NULL, "found an unknown section; allowed is [%s], perhaps?", near.best);
    else
        config_fault(faults, line, name, NULL, "found an unknown section; allowed are %s", allowed->str);
}

/* Return what replaced a key that there was once; NULL: there never was one of that name. */
static const char *instead_of(const char *section, const char *name)
{
    const ConfigTable *table;
    for (unsigned i = 0; (table = config_table(i)); i++)
        for (const ConfigKeyword *gone = config_table_covers(table, section) ? table->gone : NULL; gone && gone->word;
             gone++)
            if (g_str_equal(gone->word, name))
                return gone->line;
    return NULL;
}

static void fault_unknown_key(ConfigFaults *faults, int line, const char *section, const char *name)
{
    const char *instead = instead_of(section, name);
    if (instead) {
        config_fault(faults, line, section, name, "there is no such key any more: %s", instead);
        return;
    }
    NearWord near = meant_by(name);
    g_autoptr(GString) allowed = g_string_new(NULL);
    const ConfigTable *table;
    for (unsigned i = 0; (table = config_table(i)); i++)
        for (const ConfigKey *key = config_table_covers(table, section) ? table->keys : NULL; key && key->name; key++) {
            g_string_append_printf(allowed, "%s%s", allowed->len ? ", " : "", key->name);
            near_word_offer(&near, key->name);
        }
    if (near.best)
        config_fault(faults, line, section, name, "found an unknown key; allowed is %s, perhaps?", near.best);
    else
        config_fault(faults, line, section, name, "found an unknown key; allowed are %s", allowed->str);
}

/* ---- reading the file ---- */

/* inih asks for lines; what it does not tell (the line's number, sections
 * without keys, all faults instead of the first) is kept here. */
typedef struct ConfigReader {
    Config *config;
    ConfigFaults *faults;
    const char *at, *end;
    int line;
    char *unread;           /* text of a line that must still reach read_value(), else NULL */
    bool indented;          /* the line begins with a blank */
    ConfigSection *section; /* NULL: before the first, or unknown */
    bool in_section;
    ConfigValue *last;      /* what an indented line continues */
    char *rest;             /* of a line that inih does not take in one piece */
    char *gap;              /* the blanks before it */
    bool joined;            /* what inih has goes on where it stopped in the same line of the file */
} ConfigReader;

static bool member_name_valid(const char *name)
{
    return g_ascii_isalnum(*name) && name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-")] == '\0';
}

static void read_section(ConfigReader *reader, const char *text)
{
    reader->last = NULL;
    reader->section = NULL;
    reader->in_section = true;
    const char *close = strchr(text, ']');
    g_autofree char *rest = close ? g_strstrip(g_strdup(close + 1)) : NULL;
    if (!close || (*rest && *rest != ';' && *rest != '#') || close - text - 1 > NAME_LENGTH_MAX) {
        config_fault(reader->faults, reader->line, NULL, NULL,
                     "found \"%s\"; allowed is [SECTION], at most %d characters", text, NAME_LENGTH_MAX);
        return;
    }
    g_autofree char *name = g_strndup(text + 1, (size_t)(close - text) - 1);
    reader->section = config_section(reader->config, name);
    if (reader->section && reader->section->line == 0)
        reader->section->line = reader->line;
    if (reader->section)
        return;
    size_t family = config_family_length(name);
    if (family == 0 || !find_table(name))
        fault_unknown_section(reader->faults, reader->line, name);
    else if (!member_name_valid(name + family))
        config_fault(reader->faults, reader->line, name, NULL,
                     "found \"%s\"; allowed is a name of small letters, digits, _ and -", name + family);
    else
        reader->section = config_section_add(reader->config, name, reader->line);
}

/* A line of the kind that inih hands on did not come to read_value(). */
static void read_missed(ConfigReader *reader)
{
    if (!reader->unread)
        return;
    config_fault(reader->faults, reader->line, NULL, NULL,
                 "found \"%s\"; allowed is KEY = VALUE, [SECTION] or a comment", reader->unread);
    g_clear_pointer(&reader->unread, g_free);
    g_clear_pointer(&reader->rest, g_free);
}

/* Where a text may be cut that has more than `room` bytes, so that inih does not take the second part for a comment;
 * 0: nowhere. */
static size_t find_cut(const char *text, size_t room)
{
    size_t length = room;
    while (length > room / 2 && strchr(" \t;#", text[length]))
        length--;
    return length > room / 2 ? length : 0;
}

/* Takes the comment off a text that inih will not see in one piece. */
static void cut_comment(char *text)
{
    for (char *at = text + 1; *text && *at; at++)
        if (*at == ';' && strchr(" \t", at[-1])) {
            *at = '\0';
            g_strchomp(text);
        }
}

/* Gives inih as much of text as it takes for a line; what is left follows as lines that continue it. */
static void hand_on(ConfigReader *reader, const char *text, char *buffer, size_t size)
{
    size_t room = size - sizeof(" \n");
    g_autofree char *whole = g_strdup(text);
    if (strlen(whole) > room)
        cut_comment(whole);
    size_t length = strlen(whole) > room ? find_cut(whole, room) : strlen(whole);
    if (length == 0) {
        config_fault(reader->faults, reader->line, reader->section ? reader->section->name : NULL, NULL,
                     "found %zu blanks, ; and # or more in a row; allowed are fewer", room - room / 2);
        return;
    }
    g_snprintf(buffer, size, "%s%.*s\n", reader->indented || reader->joined ? " " : "", (int)length, whole);
    reader->unread = g_strdup(whole);
    g_free(reader->gap);
    reader->gap = NULL;
    if (!whole[length])
        return;
    reader->rest = g_strdup(whole + length);
    size_t end = length;
    while (end > 0 && strchr(" \t", whole[end - 1]))
        end--;
    reader->gap = g_strndup(whole + end, length - end);
}

/* The line that a keyword stands for; any other text itself. */
static const char *expand_keyword(const ConfigReader *reader, const char *text)
{
    size_t length = strcspn(text, " \t;#");
    const char *rest = text + length + strspn(text + length, " \t");
    const ConfigTable *table;
    if (!reader->section || (*rest != '\0' && *rest != ';' && *rest != '#'))
        return text;
    for (unsigned i = 0; (table = config_table(i)); i++) {
        const ConfigKeyword *known = config_table_covers(table, reader->section->name) ? table->keywords : NULL;
        for (; known && known->word; known++)
            if (strlen(known->word) == length && strncmp(known->word, text, length) == 0)
                return known->line;
    }
    return text;
}

static char *read_line(char *buffer, int size, void *data)
{
    ConfigReader *reader = data;
    read_missed(reader);
    g_strlcpy(buffer, "\n", (gsize)size);
    g_autofree char *rest = g_steal_pointer(&reader->rest);
    reader->joined = rest != NULL;
    if (rest) {
        hand_on(reader, rest, buffer, (size_t)size);
        return buffer;
    }
    if (reader->at == reader->end)
        return NULL;
    const char *newline = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    const char *next = newline ? newline + 1 : reader->end;
    size_t length = (size_t)(next - reader->at);
    g_autofree char *whole = g_strndup(reader->at, length);
    reader->at = next;
    reader->line++;
    reader->indented = *whole == ' ' || *whole == '\t';
    const char *text = g_strstrip(whole);
    if (!*text || *text == ';' || *text == '#')
        return buffer;
    if (*text == '[') {
        read_section(reader, text);
        /* inih's own idea of the section is not used; it only must forget the last key. */
        g_strlcpy(buffer, "[]\n", (gsize)size);
    } else {
        if (!reader->last || !reader->indented)
            text = expand_keyword(reader, text);
        hand_on(reader, text, buffer, (size_t)size);
    }
    return buffer;
}

static void append(ConfigValue *value, const char *text)
{
    g_autofree char *joined = g_strconcat(value->text, text, NULL);
    g_free(value->text);
    value->text = g_steal_pointer(&joined);
}

static void read_continuation(ConfigReader *reader, const char *text)
{
    ConfigValue *last = reader->last;
    if (!last->key || last->key->type != CONFIG_LIST) {
        config_fault(reader->faults, reader->line, reader->section->name, last->name,
                     "found an indented line, which would continue it; allowed only after a list "
                     "(a key begins in the first column)");
        return;
    }
    /* inih takes comments off first lines only. */
    g_auto(GStrv) parts = g_regex_split_simple("(?:^|[ \\t]);", text, 0, 0);
    append(last, " ");
    append(last, parts[0]);
}

static void read_new_value(ConfigReader *reader, const char *name, const char *text)
{
    ConfigSection *section = reader->section;
    reader->last = NULL;
    const ConfigKey *key = find_key(section->name, name);
    const ConfigTable *table = find_table(section->name);
    bool free_key = !key && (table->any_keys || (table->free_keys && g_str_has_prefix(name, FREE_KEY_PREFIX)));
    if (!key && !free_key) {
        fault_unknown_key(reader->faults, reader->line, section->name, name);
        return;
    }
    const ConfigValue *earlier = config_section_value(section, name);
    if (earlier) {
        config_fault(reader->faults, reader->line, section->name, name,
                     "found a second time, first in line %d; allowed once", earlier->line);
        return;
    }
    if (*text == ';') { /* inih takes it for a value here, and behind a blank for a comment */
        config_fault(reader->faults, reader->line, section->name, name,
                     "found %s right behind the equals sign; allowed is a value that does not begin with ;", text);
        return;
    }
    ConfigValue *value = g_new0(ConfigValue, 1);
    value->name = g_strdup(name);
    value->key = key;
    value->text = g_strdup(text);
    value->line = reader->line;
    g_ptr_array_add(section->values, value);
    reader->last = value;
}

static int read_value(void *data, const char *ini_section, const char *name, const char *text)
{
    ConfigReader *reader = data;
    g_clear_pointer(&reader->unread, g_free);
    if (reader->joined && reader->last)
        append(reader->last, text);
    else if (reader->joined)
        return 1; /* of a line that was refused */
    else if (reader->section && reader->indented && reader->last)
        read_continuation(reader, text);
    else if (reader->section)
        read_new_value(reader, name, text);
    else if (!reader->in_section)
        config_fault(reader->faults, reader->line, NULL, NULL, "found %s before any section; allowed after [SECTION]",
                     name);
    if (reader->last && reader->gap)
        append(reader->last, reader->gap);
    return 1;
}

bool config_read(Config *config, ConfigFaults *faults)
{
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    size_t length;
    if (!g_file_get_contents(config->path, &text, &length, &error)) {
        if (strcmp(config->path, CONFIG_FILE) == 0 && g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
            config_fault(faults, 0, NULL, NULL,
                         "there is no such file, so no site yet: \"listrunner setup\" makes one");
        else
            config_fault(faults, 0, NULL, NULL, "found no readable file (%s); allowed is an INI file", error->message);
        return false;
    }
    const char *bad;
    if (!g_utf8_validate(text, (gssize)length, &bad)) {
        int line = 1;
        for (const char *at = text; at < bad; at++)
            line += *at == '\n';
        config_fault(faults, line, NULL, NULL, "found byte 0x%02x; allowed is text in UTF-8", (unsigned char)*bad);
        return false;
    }
    ConfigReader reader = {.config = config, .faults = faults, .at = text, .end = text + length};
    if (g_str_has_prefix(text, "\xEF\xBB\xBF")) /* some editors' mark of UTF-8 */
        reader.at += 3;
    /* Its result, the first line that is wrong, was already told by read_missed(). */
    (void)ini_parse_stream(read_line, &reader, read_value, &reader);
    read_missed(&reader);
    g_free(reader.rest);
    g_free(reader.gap);
    return true;
}
