/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the file `config` of a list of Sympa: paragraphs, which empty lines separate. Each begins with its name and
 * perhaps a value; the lines below are keys with values of their own. A line that begins with # is a comment. Files in
 * which Sympa dumps members (member.dump, owner.dump) have paragraphs of keys alone.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#define SYMPA_CONFIG_MAX ((size_t)1 << 20) /* bytes of a config */
#define SYMPA_LINE_MAX ((size_t)4096)      /* bytes of a line */

typedef struct SympaEntry {
    char *key, *value; /* UTF-8; value "": there is none */
    unsigned line;     /* from 1 */
} SympaEntry;

typedef struct SympaParagraph {
    char *name, *value; /* the first line */
    unsigned line;
    GPtrArray *entries; /* of SympaEntry: the lines below */
} SympaParagraph;

/* Called for each line that cannot be read, with the reason; the line is left out. */
typedef void SympaFault(unsigned line, const char *text, void *data);

/* Return the paragraphs (of SympaParagraph) in the order of the file; g_ptr_array_unref(). Reading never fails: lines
 * that cannot be read are told to fault, which is called with data. */
GPtrArray *sympa_config_read(const char *octets, size_t length, SympaFault *fault, void *data);

/* Return the first paragraph of that name; NULL: there is none. */
const SympaParagraph *sympa_config_find(const GPtrArray *config, const char *name);
/* Return the value of a paragraph's key; NULL: there is none. paragraph may be NULL. */
const char *sympa_config_value(const SympaParagraph *paragraph, const char *key);
