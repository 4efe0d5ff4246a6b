/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * List the templates, of which letters and texts around posts are made. One table has for each its file below
 * etc/templates/LANGUAGE/, its name in Mailman and its REST clients, and the placeholders that are filled in. So a
 * misspelt placeholder is found when somebody sets a text, and not when somebody gets the letter.
 */
#include <glib.h>
#include <stdbool.h>

/* The smallest place that may set a text; a larger one (further down in this enum) may, too. A letter whose answer
 * concerns more than one list says what the answer will do. Those who run one list must not write its text: they could
 * obtain a stranger's consent to something else. */
typedef enum TemplateOwner { TEMPLATE_OF_LIST, TEMPLATE_OF_DOMAIN, TEMPLATE_OF_SITE } TemplateOwner;

typedef struct TemplateName {
    const char *file;    /* "welcome"; NULL: a text that is put around posts or digests, and has no file */
    const char *mailman; /* "list:user:notice:welcome" */
    TemplateOwner owner; /* the smallest place whose text counts */
    const char *values;  /* placeholders, separated by blanks, besides those of every letter */
    const char *about;   /* what it is, for people */
} TemplateName;

/* The table, ended by a row without `mailman`. Clients of Mailman know its first TEMPLATES_OF_MAILMAN rows. */
#define TEMPLATES_OF_MAILMAN 28
extern const TemplateName template_table[];

/* Find a template by its file or by its name in Mailman; NULL: there is no such template. */
const TemplateName *template_name_find(const char *text);

/* The placeholders that every letter about a list has, separated by blanks. */
extern const char template_common[];

/* Check that the place may set the template's text. A place (store/lists/template_text.h) is a List-Id, "@" and a mail
 * domain, or "" for the site. FAIL_NEVER: it may not; the message says who may. */
bool template_place_allowed(const TemplateName *name, const char *place, GError **error);

/* Return the text as it can be set for the template: unknown placeholders stay as they are written; g_free(). *unknown
 * is set to them, "$one, $two", g_free(); NULL: there are none. */
char *template_keep_unknown(const TemplateName *name, const char *text, char **unknown);

/* Check the placeholders of a text for the template. FAIL_NEVER: the template does not know one; the message names it
 * and those that there are. */
bool template_check(const TemplateName *name, const char *text, GError **error);
