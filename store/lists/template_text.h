/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep the texts of letters that somebody set for a list, for a domain or for the site. Their names are Mailman's names
 * of templates ("list:user:notice:welcome"; lists/letters/template_name.h has them all). A text is kept as it is, or it
 * has a URI: then the store keeps what was there when the timer last fetched it, so that nobody who writes a letter
 * waits for a web server. A URI "mailman:///..." names a file of the installation and has no text here
 * (lists/letters/letter.c reads it).
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

struct List;

#define TEMPLATE_INSTALLED "mailman:///" /* how the URI of a file of the installation begins */

typedef struct TemplateText {
    char *name;
    char *place;    /* List-Id, template_text_place() of a domain, or "" for the site */
    char *language; /* "de", "pt_BR"; "": for those that have none of their own */
    char *uri;      /* "": the text is kept here alone */
    char *username, *password; /* for the URI; "": none */
    char *text;                /* NULL: it was never fetched, or the URI names a file of the installation */
    int64_t fetched_at; /* 0: never tried */
    char *fault;        /* why the last attempt failed, or what is wrong with the text; "": nothing */
} TemplateText;

/* Return the place of a domain, "@example.com"; g_free(). The "@" tells it from a List-Id, which may be
 * "example.com". */
char *template_text_place(const char *mail_host);

void template_text_free(TemplateText *text);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TemplateText, template_text_free)

/* Add the text, or replace the one that has the same name, place and language. */
bool template_text_put(Store *store, const TemplateText *text, GError **error);
/* Remove the text in this language, or with language NULL in all languages. FAIL_MISSING: there is none. */
bool template_text_remove(Store *store, const char *place, const char *name, const char *language, GError **error);
/* Return all texts of a place (NULL: of all places) by place, name and language: of TemplateText, freed with the
 * array. */
GPtrArray *template_text_all(Store *store, const char *place, GError **error);

/* Find the text to use for a list (NULL: only the site's): the first that is set for the list, for its domain, for the
 * site. Of each place the text in the language comes first ("de-AT" also takes "de"), and then the one of no language;
 * language NULL takes only that. *found (template_text_free()) is NULL where there is none. A text that was never
 * fetched is passed over. (*found)->text is NULL where its URI names a file of the installation. */
bool template_text_find(Store *store, const char *name, const struct List *list, const char *language,
                        TemplateText **found, GError **error);

/* Return the texts to be fetched from their URIs: last tried before `before`, or with a fault and last tried before
 * `retry`. The one that was not tried for the longest time is first. The array is freed as that of
 * template_text_all(). */
GPtrArray *template_text_stale(Store *store, int64_t before, int64_t retry, GError **error);
/* Count the texts that have a fault. */
bool template_text_count_faults(Store *store, int64_t *count, GError **error);

/* Write the result of fetching: text (NULL: the earlier text stays), fetched_at and fault. Nothing is written, and that
 * is no error, where the row has another URI by now or is gone. */
bool template_text_fetched(Store *store, const TemplateText *text, GError **error);
