/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare what the files of the configuration share. config.c has the tables, sections, defaults and getters.
 * config_read.c reads the file and gives text a type. config_check.c has what checks of values use.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "base/config_check.h"
#include "base/config_table.h"

typedef struct ConfigSection {
    char *name;
    int line; /* 0: not in the file */
    GPtrArray *values; /* in the order of the tables once the file is read; free keys last */
} ConfigSection;

struct Config {
    char *path;
    GPtrArray *sections;
    GHashTable *families; /* "runner" to a NULL-terminated GPtrArray of names */
};

/* Collected faults. */
struct ConfigFaults {
    const char *file;
    GPtrArray *found;
};

/* Add a fault to the collection. line is 0 when no line of the file can be named; section and name (of the key) may be
 * NULL. */
void config_fault(ConfigFaults *faults, int line, const char *section, const char *name, const char *format, ...)
    G_GNUC_PRINTF(5, 6);

/* Return the length of the family's name in a section's name, its point included ("runner."); 0: a plain section. */
size_t config_family_length(const char *section);

/* Add a section without values, which config owns. */
ConfigSection *config_section_add(Config *config, const char *name, int line);
/* Return the section with this full name; NULL: there is none. */
ConfigSection *config_section(const Config *config, const char *name);
/* Return the value of the key in the section; NULL: there is none. */
ConfigValue *config_section_value(const ConfigSection *section, const char *name);

/* Fill the sections with what the file says, as text. Return false when the file cannot be read at all; why is the only
 * fault then. */
bool config_read(Config *config, ConfigFaults *faults);

/* Read value->text by the type of its key, and set the value's other fields. Return false when it is not allowed, and
 * set *allowed to what is; g_free(). */
bool config_value_parse(ConfigValue *value, char **allowed);
