/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Texts of letters that somebody set for a list, for a domain or for the site, by Mailman's names of templates
 * ("list:user:notice:welcome"; lists/template_name.h has them all). A text is kept as it is, or it has a URI: then the
 * store keeps what was there when the timer last fetched it, so that nobody who writes a letter waits for a web server.
 * A URI "mailman:///..." names a file of the installation and has no text here (lists/letter.c reads it).
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
    char *text;         /* NULL: never fetched */
    int64_t fetched_at; /* 0: never tried */
    char *fault;        /* why the last attempt failed, or what is wrong with the text; "": nothing */
} TemplateText;

/* The place of a domain, which a List-Id may equal: "@example.com"; g_free(). */
char *template_text_place(const char *mail_host);

void template_text_free(TemplateText *text);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TemplateText, template_text_free)

/* Put it in the place of the one with this name, place and language. */
bool template_text_put(Store *store, const TemplateText *text, GError **error);
/* FAIL_MISSING: there is none. language NULL: in all languages. */
bool template_text_remove(Store *store, const char *place, const char *name, const char *language, GError **error);
/* All of a place (NULL: of all places) by name, of TemplateText, freed with the array. */
GPtrArray *template_text_all(Store *store, const char *place, GError **error);

/* The text that counts for a list in a language ("de-AT" has that of "de"; NULL: none): that of the list, of its
 * domain, of the site, each first in the language; list NULL: that of the site alone. *found is NULL when nobody set
 * one, or it was never fetched. */
bool template_text_find(Store *store, const char *name, const struct List *list, const char *language,
                        TemplateText **found, GError **error);

/* Return the texts that are to be fetched: last tried before that time, or with a fault and tried before `retry`; as
 * template_text_all(), the longest untried first. */
GPtrArray *template_text_stale(Store *store, int64_t before, int64_t retry, GError **error);
/* How many have a fault. */
bool template_text_count_faults(Store *store, int64_t *count, GError **error);

/* Keep text (NULL: the one that was there stays), fetched_at and fault of a row that still has the URI. */
bool template_text_fetched(Store *store, const TemplateText *text, GError **error);
