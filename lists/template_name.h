/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The templates that there are: the file of each below etc/templates/LANGUAGE/, the name that Mailman and its REST
 * clients know it by, and the placeholders that are filled in. One table, so that a misspelt placeholder is found when
 * somebody sets a text, and not by whoever gets the letter.
 */
#include <glib.h>
#include <stdbool.h>

/* The smallest place that may set a text; larger ones, which stand below it, may too. A letter whose answer concerns
 * more than one list says what the answer will do, so its text must not be written by those who run a list: they could
 * obtain a stranger's consent to something else. */
typedef enum TemplateOwner { TEMPLATE_OF_LIST, TEMPLATE_OF_DOMAIN, TEMPLATE_OF_SITE } TemplateOwner;

typedef struct TemplateName {
    const char *file;    /* "welcome"; NULL: a text that is put around posts or digests, and has no file */
    const char *mailman; /* "list:user:notice:welcome" */
    TemplateOwner owner; /* the smallest place whose text counts */
    const char *values;  /* placeholders, separated by blanks, besides those of every letter */
    const char *about;   /* what it is, for people */
} TemplateName;

/* Ended by one without mailman. The first TEMPLATES_OF_MAILMAN are those that its clients know. */
#define TEMPLATES_OF_MAILMAN 28
extern const TemplateName template_table[];

/* By either name; NULL: there is no such template. */
const TemplateName *template_name_find(const char *text);

/* The placeholders that every letter about a list has, separated by blanks. */
extern const char template_common[];

/* May the place (store/template_text.h: a List-Id, that of a domain, "" for the site) set it? FAIL_NEVER: no; the
 * message says who may. */
bool template_place_allowed(const TemplateName *name, const char *place, GError **error);

/* FAIL_NEVER: the text has a placeholder that the template does not know; the message names it and those that there
 * are. */
bool template_check(const TemplateName *name, const char *text, GError **error);
