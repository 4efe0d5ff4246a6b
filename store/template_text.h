/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Texts of letters that somebody set for a list, for a domain or for the site, by Mailman's names of templates
 * ("list:user:notice:welcome"; lists/template_name.h has them all). A text is kept as it is, or it has a URI: then the
 * store keeps what was there when it was last fetched (lists/template_fetch.h), so that nobody who writes a letter
 * waits for a web server.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/list.h"
#include "store/store_type.h"

typedef struct TemplateText {
    char *name;
    char *place;    /* List-Id, mail domain, or "" for the site */
    char *language; /* "": for those that have none of their own */
    char *uri;      /* "": the text is kept here alone */
    char *username, *password; /* for the URI; "": none */
    char *text;         /* NULL: never fetched */
    int64_t fetched_at; /* 0: never tried */
    char *fault;        /* why the last attempt failed; "": it did not */
} TemplateText;

void template_text_free(TemplateText *text);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TemplateText, template_text_free)

/* Puts it in the place of the one with this name, place and language. */
bool template_text_put(Store *store, const TemplateText *text, GError **error);
/* FAIL_MISSING: there is none. language NULL: in all languages. */
bool template_text_remove(Store *store, const char *place, const char *name, const char *language, GError **error);
/* All of a place (NULL: of all places) by name, of TemplateText, freed with the array. */
GPtrArray *template_text_all(Store *store, const char *place, GError **error);

/* The text that counts for a list in a language (NULL: none): that of the list, of its domain, of the site, each first
 * in the language. *text is NULL when nobody set one, or it was never fetched. */
bool template_text_find(Store *store, const char *name, const List *list, const char *language, char **text,
                        GError **error);

/* Those with a URI that were fetched before that time, or never; as template_text_all(). */
GPtrArray *template_text_stale(Store *store, int64_t before, GError **error);
