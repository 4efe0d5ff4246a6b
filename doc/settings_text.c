/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Make the texts about settings from their tables (base/config_table.h, store/lists/list.h). Run while Listrunner is
 * built; not installed.
 *
 *     settings_text conf|conf.5|list.5 TEMPLATE   print the template with its line @SETTINGS@ replaced
 *     settings_text readers                       print "SECTION KEY RUNNER", a line for each runner that reads a key
 *
 * Paths are those of a system-wide build; what is installed gets those of the build (etc/Makefile.inc).
 */
#include <stdio.h>
#include <string.h>

#include "base/config_table.h"
#include "store/lists/list.h"
#include "store/lists/list_setting.h"

#define WIDTH 78

static const char *const type_names[] = {
    [CONFIG_STRING] = "string",     [CONFIG_PATH] = "path",     [CONFIG_INTEGER] = "integer",
    [CONFIG_COUNT] = "count",       [CONFIG_BOOL] = "boolean",  [CONFIG_DURATION] = "duration",
    [CONFIG_SIZE] = "size",         [CONFIG_CHOICE] = "choice", [CONFIG_LIST] = "list",
    [CONFIG_SECRET] = "secret",     [CONFIG_RATE] = "rate",     [CONFIG_FEEDBACK] = "feedback",
    [CONFIG_REGEX] = "regex",
};

static const char *const list_type_names[] = {
    [SETTING_BOOL] = "boolean", [SETTING_INTEGER] = "number", [SETTING_INTERVAL] = "time", [SETTING_TEXT] = "text",
    [SETTING_LINE] = "line",    [SETTING_WORDS] = "words",    [SETTING_CHOICE] = "choice",
    [SETTING_PASSWORD] = "password",
};

/* Return the words that stand for a token of a default in the documentation. */
static char *token_shown(const char *token)
{
    static const char *const words[][2] = {
        {"name", "NAME"},           {"system", "the system's host name"}, {"libexec", "/usr/libexec/listrunner"},
        {"data", "/usr/share/listrunner"}, {"state", "/var"},             {"run", "/run"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (g_str_equal(words[i][0], token))
            return g_strdup(words[i][1]);
    const char *point = strchr(token, '.'), *value = strchr(token, '='), *asks = strchr(token, '?');
    if (asks)
        return g_strdup_printf("yes where [%.*s] %.*s is set", (int)(point - token), token, (int)(asks - point) - 1,
                               point + 1);
    if (value)
        return g_strdup_printf("yes where [%.*s] %.*s is %s", (int)(point - token), token, (int)(value - point) - 1,
                               point + 1, value + 1);
    return g_ascii_strup(point ? point + 1 : token, -1);
}

/* A default with words in place of its tokens. */
static char *default_shown(const char *fallback)
{
    GString *text = g_string_new(NULL);
    const char *at = fallback;
    for (const char *open; (open = strchr(at, '{')); at = strchr(open, '}') + 1) {
        g_autofree char *token = g_strndup(open + 1, strcspn(open + 1, "}"));
        g_autofree char *word = token_shown(token);
        g_string_append_len(text, at, open - at);
        g_string_append(text, word);
    }
    g_string_append(text, at);
    return g_string_free(text, FALSE);
}

/* "a|b|c" as " One of a, b, c."; nothing for a single word. */
static void append_choices(GString *text, const char *choices)
{
    g_auto(GStrv) words = g_strsplit(choices ? choices : "", "|", -1);
    g_autofree char *joined = g_strjoinv(", ", words);
    if (words[0] && words[1])
        g_string_append_printf(text, " One of %s.", joined);
}

#define TIME_UNIT "seconds, or as in 500ms, 10m, 36h, 7d"
#define SIZE_UNIT "bytes, or as in 64K, 32M, 1G"

static void append_unit(GString *text, const char *unit)
{
    if (unit)
        g_string_append_printf(text, " Unit: %s.", unit);
}

/* Append the values that a key allows: " From 1 to 10. Unit: mails.", or " One of a, b." */
static void append_allowed(GString *text, const ConfigKey *key)
{
    g_autofree char *range = config_range_text(key);
    append_choices(text, key->choices);
    if (range)
        g_string_append_printf(text, " From %s.", range);
    append_unit(text, key->unit             ? key->unit
                      : key->type == CONFIG_DURATION ? TIME_UNIT
                      : key->type == CONFIG_SIZE     ? SIZE_UNIT
                                                     : NULL);
}

/* ---- sections ---- */

/* "transport." of "transport.*"; NULL: no family. */
static char *family_of(const char *section)
{
    return g_str_has_suffix(section, ".*") ? g_strndup(section, strlen(section) - 1) : NULL;
}

/* The names of a family's built-in members, "relay", ended by NULL. */
static GPtrArray *members_of(const char *family)
{
    GPtrArray *names = g_ptr_array_new();
    const ConfigMember *member;
    for (unsigned i = 0; family && (member = config_member(i)); i++)
        if (g_str_has_prefix(member->section, family))
            g_ptr_array_add(names, (gpointer)(member->section + strlen(family)));
    g_ptr_array_add(names, NULL);
    return names;
}

/* The sentences about a section, "{members}" replaced. */
static char *about_section(const ConfigTable *table)
{
    g_autofree char *family = family_of(table->section);
    g_autoptr(GPtrArray) members = members_of(family);
    g_autoptr(GString) names = g_string_new(NULL);
    for (unsigned i = 0; members->pdata[i]; i++)
        g_string_append_printf(names, "%s%s", i == 0 ? "" : members->pdata[i + 1] ? ", " : " and ",
                               (char *)members->pdata[i]);
    GString *text = g_string_new(table->about);
    g_string_replace(text, "{members}", names->str, 0);
    return g_string_free(text, FALSE);
}

typedef void KeyPrinter(const ConfigKey *key);

/* The keys of a section, from the tables of all folders. */
static void print_keys(const char *section, KeyPrinter *print)
{
    const ConfigTable *table;
    for (unsigned i = 0; (table = config_table(i)); i++)
        for (const ConfigKey *key = g_str_equal(table->section, section) ? table->keys : NULL; key && key->name; key++)
            print(key);
}

/* ---- etc/listrunner.conf ---- */

static void print_comment(const char *text)
{
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    size_t column = 0;
    for (char **word = words; *word; word++) {
        size_t length = (size_t)g_utf8_strlen(*word, -1);
        if (column > 0 && column + 1 + length > WIDTH) {
            putchar('\n');
            column = 0;
        }
        printf("%s%s", column == 0 ? "# " : " ", *word);
        column += length + (column == 0 ? 2 : 1);
    }
    putchar('\n');
}

static void print_conf_key(const ConfigKey *key)
{
    g_autoptr(GString) text = g_string_new(key->about);
    g_autofree char *fallback = key->fallback ? default_shown(key->fallback) : g_strdup("none");
    append_allowed(text, key);
    g_string_append_printf(text, " Default: %s.", fallback);
    putchar('\n');
    print_comment(text->str);
    printf("#%s = %s\n", key->name, key->example ? key->example : fallback);
}

static void print_conf_member(const ConfigMember *member)
{
    putchar('\n');
    if (member->about)
        print_comment(member->about);
    printf("[%s]\n", member->section);
    for (const ConfigDefault *own = member->defaults; own && own->name; own++)
        if (own->fallback && !strchr(own->fallback, '{')) /* the sentence above tells it */
            printf("#%s = %s\n", own->name, own->fallback);
}

/* The keys of a family stand under its only member, else under a [FAMILY.NAME] that is a comment, with the members
 * behind them. */
static void print_conf(void)
{
    const ConfigTable *table;
    for (unsigned i = 0; (table = config_table(i)); i++) {
        if (!table->about)
            continue;
        g_autofree char *family = family_of(table->section), *about = about_section(table);
        g_autoptr(GPtrArray) members = members_of(family);
        bool alone = members->len == 2;
        putchar('\n');
        print_comment(about);
        if (!family)
            printf("[%s]\n", table->section);
        else
            printf("%s[%s%s]\n", alone ? "" : "#", family, alone ? (char *)members->pdata[0] : "NAME");
        print_keys(table->section, print_conf_key);
        const ConfigMember *member;
        for (unsigned j = 0; family && !alone && (member = config_member(j)); j++)
            if (g_str_has_prefix(member->section, family))
                print_conf_member(member);
    }
}

/* ---- manual pages ---- */

/* Text as lines of mdoc, each sentence on its own. */
static void print_mdoc(const char *text)
{
    g_autoptr(GRegex) ends = g_regex_new("(?<=[.?!]) (?=[A-Z])", 0, 0, NULL);
    g_auto(GStrv) sentences = g_regex_split(ends, text, 0);
    for (char **sentence = sentences; *sentence; sentence++) {
        g_autoptr(GString) line = g_string_new(*sentence);
        g_string_replace(line, "\\", "\\e", 0);
        printf("%s%s\n", strchr(".'", *line->str) ? "\\&" : "", line->str);
    }
}

/* The head of an item: ".It Cm name No = default", and the type. A value that mdoc would take for more than a word
 * is told apart. */
static void print_item(const char *name, const char *value, const char *type)
{
    g_autofree char *shown = g_strchomp(g_strdup(value ? value : ""));
    printf(".It Cm %s", name);
    if (*shown)
        printf(" No = %s%s", g_ascii_isalnum(*shown) && shown[1] ? "" : "\\&", shown);
    printf("\n.Pq Em %s\n", type);
}

/* A line as it would be typed. */
static void print_example(const char *line)
{
    g_autoptr(GString) text = g_string_new(line);
    g_string_replace(text, "\\", "\\e", 0);
    printf(".Bd -literal -compact -offset indent\n%s\n.Ed\n", text->str);
}

static void print_manual_key(const ConfigKey *key)
{
    g_autofree char *fallback = key->fallback ? default_shown(key->fallback) : NULL;
    g_autoptr(GString) text = g_string_new(key->about);
    if (key->more)
        g_string_append_printf(text, " %s", key->more);
    append_allowed(text, key);
    if (!fallback)
        g_string_append(text, " Default: none.");
    print_item(key->name, fallback, type_names[key->type]);
    print_mdoc(text->str);
    if (key->example) {
        g_autofree char *line = g_strdup_printf("%s = %s", key->name, key->example);
        print_example(line);
    }
}

/* Where the default of a built-in member is another than its family's. */
static void print_manual_members(const char *family)
{
    const ConfigMember *member;
    for (unsigned i = 0; family && (member = config_member(i)); i++) {
        bool mine = g_str_has_prefix(member->section, family);
        for (const ConfigDefault *own = mine ? member->defaults : NULL; own && own->name; own++)
            if (own->fallback) {
                g_autofree char *shown = default_shown(own->fallback);
                printf("In\n.Bq %s\nthe default of\n.Cm %s\nis\n.Ql %s .\n", member->section, own->name, shown);
            }
    }
}

static void print_manual(void)
{
    const ConfigTable *table;
    for (unsigned i = 0; (table = config_table(i)); i++) {
        if (!table->about)
            continue;
        g_autofree char *family = family_of(table->section), *about = about_section(table);
        printf(".Ss [%s%s]\n", family ? family : table->section, family ? "NAME" : "");
        print_mdoc(about);
        puts(".Bl -tag -width Ds");
        print_keys(table->section, print_manual_key);
        puts(".El");
        print_manual_members(family);
    }
}

static void print_list_setting(const ListSetting *setting)
{
    g_autoptr(GString) text = g_string_new(setting->about);
    if (setting->type == SETTING_CHOICE)
        append_choices(text, setting->choices);
    if (setting->type == SETTING_INTEGER)
        g_string_append_printf(text, " From %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT ".", setting->min,
                               setting->max > 0 ? setting->max : LIST_INTEGER_MAX);
    if ((setting->type == SETTING_WORDS || setting->type == SETTING_TEXT) && setting->max > 0)
        g_string_append_printf(text, " At most %" G_GINT64_FORMAT " of them.", setting->max);
    if (list_setting_longest(setting) > 0)
        g_string_append_printf(text, " %s %zu bytes.", setting->type == SETTING_WORDS ? "Each has at most" : "At most",
                               list_setting_longest(setting));
    if (setting->type == SETTING_INTERVAL)
        g_string_append(text, " From 0 to 3650d.");
    append_unit(text, setting->type == SETTING_INTERVAL ? TIME_UNIT : setting->unit);
    if (setting->reach == REACHES_SITE)
        g_string_append(text, " Only the site sets it: a REST token for the list or its domain does not.");
    if (setting->type == SETTING_TEXT && setting->placeholders) {
        g_auto(GStrv) names = g_strsplit(setting->placeholders, " ", -1);
        g_autofree char *words = g_strjoinv(", $", names);
        g_string_append_printf(text, " Filled in: $%s.", words);
    } else if (setting->type == SETTING_TEXT) {
        g_string_append(text, " Filled in: nothing.");
    }
    if (!*setting->fallback)
        g_string_append(text, " Default: empty.");
    print_item(setting->name, setting->fallback, list_type_names[setting->type]);
    print_mdoc(text->str);
    if (setting->example) {
        g_autofree char *line = g_strdup_printf("listrunner list set LIST '%s=%s'", setting->name, setting->example);
        print_example(line);
    }
}

static void print_list_settings(void)
{
    puts(".Bl -tag -width Ds");
    for (const ListSetting *setting = list_settings; setting->name; setting++)
        print_list_setting(setting);
    puts(".El");
}

/* ---- readers ---- */

static void print_words(const char *section, const char *key, const char *readers)
{
    g_auto(GStrv) words = g_strsplit(readers ? readers : "", " ", -1);
    for (char **word = words; *word; word++)
        printf("%s %s %s\n", section, key, *word);
}

static void print_readers(void)
{
    const ConfigTable *table;
    const ConfigMember *member;
    for (unsigned i = 0; (table = config_table(i)); i++) {
        print_words(table->section, "*", table->readers);
        for (const ConfigKey *key = table->keys; key->name; key++)
            print_words(table->section, key->name, key->readers);
    }
    for (unsigned i = 0; (member = config_member(i)); i++)
        print_words(member->section, "*", member->readers);
}

/* ---- */

/* The template, with what print() prints in place of the line @SETTINGS@. */
static bool fill(const char *path, void (*print)(void))
{
    static const char place[] = "@SETTINGS@\n";
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    if (!g_file_get_contents(path, &text, NULL, &error)) {
        fprintf(stderr, "settings_text: %s\n", error->message);
        return false;
    }
    char *at = strstr(text, place);
    if (!at) {
        fprintf(stderr, "settings_text: %s has no line @SETTINGS@\n", path);
        return false;
    }
    printf("%.*s", (int)(at - text), text);
    print();
    fputs(at + strlen(place), stdout);
    return true;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } texts[] = {{"conf", print_conf}, {"conf.5", print_manual}, {"list.5", print_list_settings}};
    bool done = argc == 2 && g_str_equal(argv[1], "readers");
    if (done)
        print_readers();
    for (size_t i = 0; argc == 3 && i < G_N_ELEMENTS(texts); i++)
        done = done || (g_str_equal(argv[1], texts[i].name) && fill(argv[2], texts[i].print));
    if (!done)
        fputs("usage: settings_text conf|conf.5|list.5 TEMPLATE, or settings_text readers\n", stderr);
    return done && fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
