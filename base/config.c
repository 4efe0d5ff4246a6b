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

/* ---- the table of sections ---- */

size_t config_family_length(const char *section)
{
    const char *point = strchr(section, '.');
    return point ? (size_t)(point - section) + 1 : 0;
}

bool config_covers(const char *schema_section, const char *section)
{
    size_t family = config_family_length(section);
    if (family == 0)
        return g_str_equal(schema_section, section);
    return strncmp(schema_section, section, family) == 0 && g_str_equal(schema_section + family, "*");
}

bool config_is_built_in(const char *section)
{
    return g_strv_contains(config_built_in, section);
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

/* The plain sections, and the built-in members where their family's turn comes. */
static void sections_add_known(Config *config)
{
    for (const ConfigKey *key = config_schema; key->section; key++) {
        if (config_family_length(key->section) == 0) {
            if (!config_section(config, key->section))
                config_section_add(config, key->section, 0);
            continue;
        }
        for (const char *const *name = config_built_in; *name; name++)
            if (config_covers(key->section, *name) && !config_section(config, *name))
                config_section_add(config, *name, 0);
    }
}

/* ---- types and defaults ---- */

/* The default as text with what is known only now put in; NULL: unset. */
static char *default_text(const Config *config, const ConfigSection *section, const ConfigKey *key)
{
    const char *fallback = key->fallback;
    for (const ConfigOverride *override = config_overrides; override->section; override++)
        if (g_str_equal(override->section, section->name) && g_str_equal(override->name, key->name))
            fallback = override->fallback;
    if (!fallback)
        return NULL;
    g_autoptr(GString) text = g_string_new(fallback);
    g_string_replace(text, CONFIG_TOKEN_NAME, section->name + config_family_length(section->name), 0);
    if (strstr(fallback, CONFIG_TOKEN_SYSTEM))
        g_string_replace(text, CONFIG_TOKEN_SYSTEM, g_get_host_name(), 0);
    if (strstr(fallback, CONFIG_TOKEN_HOSTNAME)) {
        const ConfigSection *site = config_section(config, "site");
        g_string_replace(text, CONFIG_TOKEN_HOSTNAME, config_section_value(site, "hostname")->text, 0);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void value_type(const ConfigSection *section, ConfigValue *value, ConfigFaults *faults)
{
    g_autofree char *allowed = NULL;
    value->bad = !config_value_parse(value, &allowed);
    if (!value->bad)
        return;
    if (value->line == 0)
        log_panic("configuration: the default of [%s] %s is wrong: %s", section->name, value->name, value->text);
    bool comment = strstr(value->text, " #") != NULL;
    bool secret = value->key->type == CONFIG_SECRET;
    config_fault(faults, value->line, section->name, value->name, "found \"%s\"; allowed is %s%s",
                 secret ? "***" : value->text, allowed,
                 comment ? " (a comment behind a value begins with \" ;\")" : "");
}

/* Brings a section's values into the order of the schema, with the defaults. */
static void section_complete(const Config *config, ConfigSection *section, ConfigFaults *faults)
{
    g_autoptr(GPtrArray) given = g_steal_pointer(&section->values);
    section->values = g_ptr_array_new_with_free_func(value_free);
    for (const ConfigKey *key = config_schema; key->section; key++) {
        if (!config_covers(key->section, section->name))
            continue;
        ConfigValue *value = NULL;
        for (unsigned i = 0; i < given->len && !value; i++)
            if (((ConfigValue *)given->pdata[i])->key == key)
                value = g_ptr_array_steal_index(given, i);
        if (!value) {
            value = g_new0(ConfigValue, 1);
            value->name = g_strdup(key->name);
            value->key = key;
            value->text = default_text(config, section, key);
        }
        g_ptr_array_add(section->values, value);
        if (value->text)
            value_type(section, value, faults);
        else if (key->type == CONFIG_LIST)
            value->words = g_new0(char *, 1);
    }
    while (given->len > 0)
        g_ptr_array_add(section->values, g_ptr_array_steal_index(given, 0));
}

static void families_fill(Config *config)
{
    for (const ConfigKey *key = config_schema; key->section; key++) {
        size_t family = config_family_length(key->section);
        g_autofree char *name = g_strndup(key->section, family ? family - 1 : 0);
        if (family == 0 || g_hash_table_contains(config->families, name))
            continue;
        GPtrArray *members = g_ptr_array_new();
        for (unsigned i = 0; i < config->sections->len; i++) {
            const ConfigSection *section = config->sections->pdata[i];
            if (config_covers(key->section, section->name))
                g_ptr_array_add(members, section->name + family);
        }
        g_ptr_array_add(members, NULL);
        g_hash_table_insert(config->families, g_steal_pointer(&name), members);
    }
}

Config *config_load(const char *path, bool offline, GError **error)
{
    g_autoptr(Config) config = g_new0(Config, 1);
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(fault_free);
    ConfigFaults faults = {.file = path, .found = found};
    config->path = g_strdup(path);
    config->sections = g_ptr_array_new_with_free_func(section_free);
    config->families = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    sections_add_known(config);
    config_read(config, &faults);
    for (unsigned i = 0; i < config->sections->len; i++)
        section_complete(config, config->sections->pdata[i], &faults);
    families_fill(config);
    config_check(config, offline, &faults);
    return faults_none(&faults, error) ? g_steal_pointer(&config) : NULL;
}

/* ---- the getters ---- */

const char *config_default_path(const char *given)
{
    const char *environment = g_getenv("LISTRUNNER_CONFIG");
    if (given)
        return given;
    return environment && *environment ? environment : SYSCONFDIR "/listrunner.conf";
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

const char *const *config_family(const Config *config, const char *family)
{
    const GPtrArray *members = g_hash_table_lookup(config->families, family);
    if (!members)
        log_panic("configuration: no family of sections [%s.NAME]", family);
    return (const char *const *)members->pdata;
}

bool config_has_worker(const Config *config, const char *queue)
{
    for (const char *const *name = config_family(config, "runner"); *name; name++) {
        g_autofree char *section = g_strconcat("runner.", *name, NULL);
        const char *works = config_string(config, section, "queue");
        if (config_bool(config, section, "start") && g_str_equal(works ? works : *name, queue))
            return true;
    }
    return false;
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

static void print_list(GString *text, const ConfigValue *value)
{
    size_t column = strlen(value->name) + 2;
    for (char **word = value->words; *word; word++) {
        if (word > value->words && column + strlen(*word) > PRINT_WIDTH) {
            g_string_append(text, ",\n   ");
            column = 3;
        } else if (word > value->words) {
            g_string_append_c(text, ',');
        }
        g_string_append_printf(text, " %s", *word);
        column += strlen(*word) + 2;
    }
}

static void print_value(GString *text, const ConfigValue *value)
{
    if (!value->text) {
        g_string_append_printf(text, "; %s is not set", value->name);
    } else {
        g_string_append_printf(text, "%s =", value->name);
        if (value->words)
            print_list(text, value);
        else
            g_string_append_printf(text, " %s", is_secret(value) ? "***" : value->text);
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
