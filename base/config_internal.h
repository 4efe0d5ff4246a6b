/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * What the files of the configuration share: config.c has the sections,
 * defaults and getters, config_read.c reads the file, config_value.c gives text a type (config_form.c knows the longer
 * forms), config_check.c looks at values together and at the system (config_places.c: at files and hosts there),
 * config_schema.c is the table.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"

/* Members of families that exist without a section in the file. */
extern const char *const config_built_in[];

/* Defaults of built-in members that differ from their family's; ended by an
 * element without section. */
typedef struct ConfigOverride {
    const char *section;
    const char *name;
    const char *fallback;
} ConfigOverride;
extern const ConfigOverride config_overrides[];

/* In a default of the schema these stand for what is known only at run time. */
#define CONFIG_TOKEN_NAME "{name}"         /* the member's name */
#define CONFIG_TOKEN_HOSTNAME "{hostname}" /* the value of [site] hostname */
#define CONFIG_TOKEN_SYSTEM "{system}"     /* the system's host name */

typedef struct ConfigValue {
    char *name;
    const ConfigKey *key; /* NULL: a free key */
    char *text;           /* NULL: unset */
    int line;             /* 0: the default */
    bool bad;             /* refused, and told so; other checks pass over it */
    int64_t number;       /* numbers, durations, sizes, booleans */
    char **words;         /* lists */
} ConfigValue;

typedef struct ConfigSection {
    char *name;
    int line; /* 0: not in the file */
    GPtrArray *values; /* in the order of the schema once the file is read; free keys last */
} ConfigSection;

struct Config {
    char *path;
    GPtrArray *sections;
    GHashTable *families; /* "runner" to a NULL-terminated GPtrArray of names */
};

/* Collected faults. */
typedef struct ConfigFaults {
    const char *file;
    GPtrArray *found;
} ConfigFaults;

/* line 0: a default is at fault, no line can be named. name may be NULL. */
void config_fault(ConfigFaults *faults, int line, const char *section, const char *name, const char *format, ...)
    G_GNUC_PRINTF(5, 6);

/* The length of the family's name, its point included; 0 for a plain section. */
size_t config_family_length(const char *section);
/* True when a section of this name has the keys of the schema's section. */
bool config_covers(const char *schema_section, const char *section);

ConfigSection *config_section_add(Config *config, const char *name, int line);
ConfigSection *config_section(const Config *config, const char *name);
ConfigValue *config_section_value(const ConfigSection *section, const char *name);
bool config_is_built_in(const char *section);

/* Keywords that stand alone on a line, as the Sun Messaging Server has them, and what they say; ended by an element
 * without section. */
typedef struct ConfigKeyword {
    const char *section, *word, *line;
} ConfigKeyword;
extern const ConfigKeyword config_keywords[];

/* Fills the sections with what the file says, as text. */
void config_read(Config *config, ConfigFaults *faults);

/* Gives value->text its type. On failure says what would have been allowed
 * (g_free() it). */
bool config_value_parse(ConfigValue *value, char **allowed);

/* What every check of values beside each other, or beside the system, gets. */
typedef struct ConfigCheck {
    const Config *config;
    ConfigFaults *faults;
} ConfigCheck;

/* The value unless it was refused already, is unset or not there at all. */
const ConfigValue *config_usable(const ConfigCheck *check, const char *section_name, const char *name);

/* Complains about a value; its line is that of the value. */
#define COMPLAIN(check, section, value, ...) \
    config_fault((check)->faults, (value)->line, section, (value)->name, __VA_ARGS__)

/* False, with a complaint about value, when path is no directory. */
bool config_check_directory(const ConfigCheck *check, const char *section, const ConfigValue *value, const char *path);

/* Files, directories and hosts of this system that the values name (config_places.c). */
void config_check_places(const ConfigCheck *check);

/* Faults that no value has alone; those that only the running system can
 * show unless offline. */
void config_check(const Config *config, bool offline, ConfigFaults *faults);
