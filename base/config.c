/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/config.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/config_internal.h"
#include "base/fail.h"
#include "base/log.h"

#define PRINT_WIDTH 100

static void value_free(gpointer data)
{
    ConfigValue *value = data;
    g_free(value->name);
    g_free(value->text);
    g_strfreev(value->words);
    g_free(value);
}

static void section_free(gpointer data)
{
    ConfigSection *section = data;
    g_free(section->name);
    g_ptr_array_unref(section->values);
    g_free(section);
}

void config_free(Config *config)
{
    if (!config)
        return;
    g_free(config->path);
    g_ptr_array_unref(config->sections);
    g_hash_table_unref(config->families);
    g_free(config);
}

typedef struct Fault {
    int line;
    char *text;
} Fault;

static void fault_free(gpointer data)
{
    Fault *fault = data;
    g_free(fault->text);
    g_free(fault);
}

static int fault_compare(gconstpointer a, gconstpointer b)
{
    return (*(Fault *const *)a)->line - (*(Fault *const *)b)->line;
}

void config_fault(ConfigFaults *faults, int line, const char *section, const char *name, const char *format, ...)
{
    g_autoptr(GString) text = g_string_new(faults->file);
    if (line > 0)
        g_string_append_printf(text, ":%d", line);
    g_string_append(text, ": ");
    if (section)
        g_string_append_printf(text, "[%s]%s%s: ", section, name ? " " : "", name ? name : "");
    va_list arguments;
    va_start(arguments, format);
    g_string_append_vprintf(text, format, arguments);
    va_end(arguments);
    Fault *fault = g_new(Fault, 1);
    fault->line = line;
    fault->text = g_string_free(g_steal_pointer(&text), FALSE);
    g_ptr_array_add(faults->found, fault);
}

/* True when there are none; else they become the error, in the order of the file. */
static bool faults_none(const ConfigFaults *faults, GError **error)
{
    if (faults->found->len == 0)
        return true;
    g_ptr_array_sort(faults->found, fault_compare);
    g_autoptr(GString) text = g_string_new(NULL);
    for (unsigned i = 0; i < faults->found->len; i++)
        g_string_append_printf(text, "%s%s", i ? "\n" : "", ((Fault *)faults->found->pdata[i])->text);
    return fail(error, FAIL_CONFIG, "%s", text->str);
}

/* ---- the tables of settings ---- */

const ConfigTable *config_table(unsigned at)
{
    for (const ConfigSettings *const *settings = config_settings; *settings; settings++)
        for (const ConfigTable *table = (*settings)->tables; table && table->section; table++)
            if (at-- == 0)
                return table;
    return NULL;
}

const ConfigMember *config_member(unsigned at)
{
    for (const ConfigSettings *const *settings = config_settings; *settings; settings++)
        for (const ConfigMember *member = (*settings)->members; member && member->section; member++)
            if (at-- == 0)
                return member;
    return NULL;
}

bool config_table_covers(const ConfigTable *table, const char *section)
{
    size_t stem = strlen(table->section) - 1;
    if (table->section[stem] != '*')
        return g_str_equal(table->section, section);
    return strncmp(table->section, section, stem) == 0;
}

/* The default that a key has in this section, its tokens not replaced; NULL: unset. */
static const char *fallback_of(const ConfigKey *key, const char *section)
{
    const ConfigMember *member;
    for (unsigned i = 0; (member = config_member(i)); i++) {
        const ConfigDefault *own = g_str_equal(member->section, section) ? member->defaults : NULL;
        for (; own && own->name; own++)
            if (g_str_equal(own->name, key->name))
                return own->fallback;
    }
    return key->fallback;
}

char *config_unconfined(const Config *config, const char *runner)
{
    g_autofree char *section = g_strconcat("runner.", runner, NULL);
    if (!config_bool(config, "master", "confine"))
        return g_strdup("[master] confine");
    if (config_has_section(config, section) && !config_bool(config, section, "confine"))
        return g_strdup_printf("[%s] confine", section);
    for (const ConfigSettings *const *settings = config_settings; *settings; settings++) {
        char *setting = (*settings)->program ? (*settings)->program(config, runner) : NULL;
        if (setting)
            return setting;
    }
    return NULL;
}

bool config_read_by(const char *readers, const char *runner)
{
    g_auto(GStrv) names = g_strsplit(readers ? readers : "", " ", -1);
    return g_strv_contains((const char *const *)names, "*") || g_strv_contains((const char *const *)names, runner);
}

/* ---- sections ---- */

size_t config_family_length(const char *section)
{
    const char *point = strchr(section, '.');
    return point ? (size_t)(point - section) + 1 : 0;
}

ConfigSection *config_section(const Config *config, const char *name)
{
    for (unsigned i = 0; i < config->sections->len; i++) {
        ConfigSection *section = config->sections->pdata[i];
        if (g_str_equal(section->name, name))
            return section;
    }
    return NULL;
}

ConfigValue *config_section_value(const ConfigSection *section, const char *name)
{
    for (unsigned i = 0; i < section->values->len; i++) {
        ConfigValue *value = section->values->pdata[i];
        if (g_str_equal(value->name, name))
            return value;
    }
    return NULL;
}

ConfigSection *config_section_add(Config *config, const char *name, int line)
{
    ConfigSection *section = g_new0(ConfigSection, 1);
    section->name = g_strdup(name);
    section->line = line;
    section->values = g_ptr_array_new_with_free_func(value_free);
    g_ptr_array_add(config->sections, section);
    return section;
}

/* ---- types and defaults ---- */

/* Return the text that a token of a default, given without its braces, stands for. Examples: "{name}",
 * "{site.hostname}", "{store.driver=sqlite}" ("yes" or "no"), "{site.web_url?}" ("yes" where it is set). */
static const char *token_value(const Config *config, const ConfigSection *section, const char *token)
{
    static const struct {
        const char *token, *value;
    } places[] = {{"libexec", LIBEXECDIR}, {"data", DATADIR}, {"state", LOCALSTATEDIR}, {"run", RUNSTATEDIR}};
    for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
        if (g_str_equal(token, places[i].token))
            return places[i].value;
    if (g_str_equal(token, "name"))
        return section->name + config_family_length(section->name);
    if (g_str_equal(token, "system"))
        return g_get_host_name();
    bool asks = g_str_has_suffix(token, "?");
    g_auto(GStrv) compared = g_strsplit_set(token, "=?", 2);
    g_auto(GStrv) path = g_strsplit(compared[0], ".", 2);
    const ConfigSection *other = path[0] ? config_section(config, path[0]) : NULL;
    const ConfigValue *value = other && path[1] ? config_section_value(other, path[1]) : NULL;
    if (other && asks) /* a section whose turn is later has the values of the file alone */
        return value && value->text && *value->text ? "yes" : "no";
    if (!value || !value->text)
        log_panic("configuration: the default {%s} in [%s] stands for nothing", token, section->name);
    if (compared[1])
        return g_strcmp0(value->text, compared[1]) == 0 ? "yes" : "no";
    return value->text;
}

/* The default as text with its tokens replaced; NULL: unset. */
static char *default_text(const Config *config, const ConfigSection *section, const ConfigKey *key)
{
    const char *at = fallback_of(key, section->name);
    if (!at)
        return NULL;
    g_autoptr(GString) text = g_string_new(NULL);
    for (const char *open; (open = strchr(at, '{')); at = strchr(open, '}') + 1) {
        g_autofree char *token = g_strndup(open + 1, strcspn(open + 1, "}"));
        g_string_append_len(text, at, open - at);
        g_string_append(text, token_value(config, section, token));
    }
    g_string_append(text, at);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Bring a section's values into the order of the tables, with the defaults, and give each its type. */
static void section_complete(const Config *config, ConfigSection *section, ConfigFaults *faults)
{
    g_autoptr(GPtrArray) given = g_steal_pointer(&section->values);
    section->values = g_ptr_array_new_with_free_func(value_free);
    const ConfigTable *table;
    for (unsigned i = 0; (table = config_table(i)); i++) {
        bool covers = config_table_covers(table, section->name);
        for (const ConfigKey *key = table->keys; covers && key->name; key++) {
            ConfigValue *value = NULL;
            for (unsigned at = 0; at < given->len && !value; at++)
                if (((ConfigValue *)given->pdata[at])->key == key)
                    value = g_ptr_array_steal_index(given, at);
            if (!value) {
                value = g_new0(ConfigValue, 1);
                value->name = g_strdup(key->name);
                value->key = key;
                value->text = default_text(config, section, key);
            }
            g_ptr_array_add(section->values, value);
            g_autofree char *allowed = NULL;
            if (!value->text && key->type == CONFIG_LIST)
                value->words = g_new0(char *, 1);
            value->bad = value->text && !config_value_parse(value, &allowed);
            if (!value->bad)
                continue;
            if (value->line == 0)
                log_panic("configuration: the default of [%s] %s is wrong: %s", section->name, key->name, value->text);
            bool comment = strstr(value->text, " #") != NULL;
            config_fault(faults, value->line, section->name, key->name, "found \"%s\"; allowed is %s%s",
                         key->type == CONFIG_SECRET ? "***" : value->text, allowed,
                         comment ? " (a comment behind a value begins with \" ;\")" : "");
        }
    }
    while (given->len > 0)
        g_ptr_array_add(section->values, g_ptr_array_steal_index(given, 0));
}

static Config *config_new(const char *path)
{
    Config *config = g_new0(Config, 1);
    config->path = g_strdup(path);
    config->sections = g_ptr_array_new_with_free_func(section_free);
    config->families = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    /* The plain sections, and the built-in members where their family's turn comes. */
    const ConfigTable *table;
    const ConfigMember *member;
    for (unsigned i = 0; (table = config_table(i)); i++) {
        if (config_family_length(table->section) == 0 && !config_section(config, table->section))
            config_section_add(config, table->section, 0);
        for (unsigned j = 0; (member = config_member(j)); j++)
            if (config_table_covers(table, member->section) && !config_section(config, member->section))
                config_section_add(config, member->section, 0);
    }
    return config;
}

Config *config_load(const char *path, bool offline, GError **error)
{
    g_autoptr(Config) config = config_new(path);
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(fault_free);
    ConfigFaults faults = {.file = path, .found = found};
    if (!config_read(config, &faults)) { /* the checks would find faults in defaults that nobody chose */
        faults_none(&faults, error);
        return NULL;
    }
    for (unsigned i = 0; i < config->sections->len; i++)
        section_complete(config, config->sections->pdata[i], &faults);
    const ConfigTable *table;
    for (unsigned i = 0; (table = config_table(i)); i++) {
        size_t family = config_family_length(table->section);
        g_autofree char *name = g_strndup(table->section, family ? family - 1 : 0);
        if (family == 0 || g_hash_table_contains(config->families, name))
            continue;
        GPtrArray *members = g_ptr_array_new();
        for (unsigned j = 0; j < config->sections->len; j++) {
            const ConfigSection *section = config->sections->pdata[j];
            if (config_table_covers(table, section->name))
                g_ptr_array_add(members, section->name + family);
        }
        g_ptr_array_add(members, NULL);
        g_hash_table_insert(config->families, g_steal_pointer(&name), members);
    }
    const ConfigCheck check = {config, offline, &faults};
    for (const ConfigSettings *const *settings = config_settings; *settings; settings++)
        if ((*settings)->check)
            (*settings)->check(&check);
    return faults_none(&faults, error) ? g_steal_pointer(&config) : NULL;
}

char *config_default(const char *section_name, const char *key)
{
    g_autoptr(Config) config = config_new("");
    ConfigFaults none = {.file = ""};
    for (unsigned i = 0; i < config->sections->len; i++)
        section_complete(config, config->sections->pdata[i], &none);
    const ConfigSection *section = config_section(config, section_name);
    const ConfigValue *value = section ? config_section_value(section, key) : NULL;
    if (!value)
        log_panic("configuration: no [%s] %s", section_name, key);
    return g_strdup(value->text);
}

char *config_doubts(const Config *config)
{
    g_autoptr(GString) lines = g_string_new(NULL);
    for (const ConfigSettings *const *settings = config_settings; *settings; settings++)
        if ((*settings)->doubt)
            (*settings)->doubt(config, lines);
    return lines->len > 0 ? g_string_free(g_steal_pointer(&lines), FALSE) : NULL;
}

/* ---- the getters ---- */

const char *config_default_path(const char *given)
{
    const char *environment = g_getenv("LISTRUNNER_CONFIG");
    if (given)
        return given;
    return environment && *environment ? environment : CONFIG_FILE;
}

const char *config_path(const Config *config)
{
    return config->path;
}

/* The types are given as a set of bits. */
static const ConfigValue *get(const Config *config, const char *section_name, const char *name, unsigned types)
{
    const ConfigSection *section = config_section(config, section_name);
    const ConfigValue *value = section ? config_section_value(section, name) : NULL;
    if (!value || !value->key || !(types & 1u << value->key->type))
        log_panic("configuration: no [%s] %s of this type", section_name, name);
    return value;
}

const char *config_string(const Config *config, const char *section, const char *key)
{
    return get(config, section, key, 1u << CONFIG_STRING | 1u << CONFIG_PATH | 1u << CONFIG_CHOICE |
                                         1u << CONFIG_SECRET | 1u << CONFIG_RATE | 1u << CONFIG_FEEDBACK |
                                         1u << CONFIG_REGEX)->text;
}

int64_t config_integer(const Config *config, const char *section, const char *key)
{
    return get(config, section, key, 1u << CONFIG_INTEGER | 1u << CONFIG_COUNT)->number;
}

unsigned config_instances(const Config *config, const char *runner, unsigned *most)
{
    g_autofree char *section = g_strconcat("runner.", runner, NULL);
    unsigned fixed = (unsigned)config_integer(config, section, "instances");
    if (most)
        *most = fixed > 0 ? fixed : (unsigned)config_integer(config, section, "max_instances");
    return fixed > 0 ? fixed : (unsigned)config_integer(config, section, "min_instances");
}

bool config_bool(const Config *config, const char *section, const char *key)
{
    return get(config, section, key, 1u << CONFIG_BOOL)->number != 0;
}

int64_t config_duration(const Config *config, const char *section, const char *key)
{
    return get(config, section, key, 1u << CONFIG_DURATION)->number;
}

uint64_t config_size(const Config *config, const char *section, const char *key)
{
    return (uint64_t)get(config, section, key, 1u << CONFIG_SIZE)->number;
}

const char *const *config_list(const Config *config, const char *section, const char *key)
{
    return (const char *const *)get(config, section, key, 1u << CONFIG_LIST)->words;
}

char *config_list_joined(const Config *config, const char *section, const char *key)
{
    const char *const *words = config_list(config, section, key);
    return words && *words ? g_strjoinv(",", (char **)words) : NULL;
}

const char *const *config_family(const Config *config, const char *family)
{
    const GPtrArray *members = g_hash_table_lookup(config->families, family);
    if (!members)
        log_panic("configuration: no family of sections [%s.NAME]", family);
    return (const char *const *)members->pdata;
}

/* The names of the sections that begin with prefix. */
static const char **section_names(const Config *config, const char *prefix)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (unsigned i = 0; i < config->sections->len; i++) {
        const ConfigSection *section = config->sections->pdata[i];
        if (g_str_has_prefix(section->name, prefix))
            g_ptr_array_add(names, section->name);
    }
    g_ptr_array_add(names, NULL);
    return (const char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

const char **config_sections(const Config *config)
{
    return section_names(config, "");
}

const char **config_family_sections(const Config *config, const char *family)
{
    g_autofree char *prefix = g_strconcat(family, ".", NULL);
    return section_names(config, prefix);
}

bool config_has_section(const Config *config, const char *section)
{
    return config_section(config, section) != NULL;
}

const char *config_extra(const Config *config, const char *section_name, const char *key)
{
    const ConfigSection *section = config_section(config, section_name);
    const ConfigValue *value = section ? config_section_value(section, key) : NULL;
    return value && !value->key ? value->text : NULL;
}

char **config_extra_names(const Config *config, const char *section_name)
{
    const ConfigSection *section = config_section(config, section_name);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (unsigned i = 0; section && i < section->values->len; i++) {
        const ConfigValue *value = section->values->pdata[i];
        if (!value->key)
            g_ptr_array_add(names, g_strdup(value->name));
    }
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

/* ---- printing ---- */

static bool is_secret(const ConfigValue *value)
{
    static const char *const words[] = {"password", "secret", "token", "key"};
    if (value->key)
        return value->key->type == CONFIG_SECRET;
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (strstr(value->name, words[i]))
            return true;
    return false;
}

static void print_value(GString *text, const ConfigValue *value)
{
    if (!value->text)
        g_string_append_printf(text, "; %s is not set", value->name);
    else if (!value->words)
        g_string_append_printf(text, "%s = %s", value->name, is_secret(value) ? "***" : value->text);
    else
        g_string_append_printf(text, "%s =", value->name);
    size_t column = strlen(value->name) + 2;
    for (char **word = value->text ? value->words : NULL; word && *word; word++) {
        if (word > value->words && column + strlen(*word) > PRINT_WIDTH) {
            g_string_append(text, ",\n   ");
            column = 3;
        } else if (word > value->words) {
            g_string_append_c(text, ',');
        }
        g_string_append_printf(text, " %s", *word);
        column += strlen(*word) + 2;
    }
    g_string_append(text, value->line == 0 && value->text ? " ; default\n" : "\n");
}

char *config_print(const Config *config, bool defaults_too)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (unsigned i = 0; i < config->sections->len; i++) {
        const ConfigSection *section = config->sections->pdata[i];
        if (!defaults_too && section->line == 0)
            continue;
        g_string_append_printf(text, "%s[%s]\n", text->len ? "\n" : "", section->name);
        for (unsigned j = 0; j < section->values->len; j++) {
            const ConfigValue *value = section->values->pdata[j];
            if (defaults_too || value->line > 0)
                print_value(text, value);
        }
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}
