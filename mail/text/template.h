/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read and fill templates: UTF-8 text with $name or ${name} where a value goes. $$ is one dollar sign, and a name
 * without a value stays as it is. A template is the file FOLDER/LANGUAGE/NAME.txt.
 */
#include <glib.h>
#include <stdbool.h>

/* Read name from one folder (NULL: the built-in one) in one language, written in any usual way ("de", "de-AT", "zh",
 * "zh_CN"); of "de-AT" also in "de". NULL: it has none. g_free() */
char *template_load_from(const char *folder, const char *language, const char *name);

/* Set the folder of built-in templates, for tests and programs that are not installed; NULL: the installed one. The
 * text is not copied. */
void template_set_built_in(const char *folder);

typedef struct TemplateValue {
    const char *name;
    const char *value; /* NULL counts as "" */
} TemplateValue;

/* The values of a list that texts may name. */
typedef struct TemplateList {
    const char *name;       /* as people call it: $list_name */
    const char *local_name; /* of its address: $short_listname */
    const char *display_name, *description, *info, *list_id, *mail_host, *posting_address, *language;
    const char *owner, *request, *join, *leave; /* addresses */
} TemplateList;

/* Fill values with the names of LIST_PLACEHOLDERS (store/lists/list.h), ours and Mailman's, and what stands for them,
 * all borrowed. Returns how many there are. */
#define TEMPLATE_LIST_VALUES 24
size_t template_list_values(const TemplateList *list, TemplateValue values[TEMPLATE_LIST_VALUES]);

/* Make a value of text that somebody wrote, such as a subject or an address. Return valid UTF-8 of at most
 * TEMPLATE_BRIEF characters; longer text is cut and ends in three dots. g_free(). */
#define TEMPLATE_BRIEF 300
char *template_brief(const char *text);

/* Return text with the values in the places of their names; g_free(). values ends with an element without name. Each
 * value is filled in once, however long it is, and again as long as all repetitions have TEMPLATE_REPEATED_MAX bytes at
 * most. Further ones are left out, and the log names the list, the text and the value: so nobody makes a huge mail of a
 * short text. */
#define TEMPLATE_REPEATED_MAX (64 * 1024)
char *template_fill(const char *text, const TemplateValue *values);
