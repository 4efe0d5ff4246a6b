/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Takes out of a message what a list does not want to carry: parts by MIME type and by the ending of their file names,
 * all but the first of alternatives, HTML in favour of text. A message of which nothing is taken keeps its bytes; of a
 * changed one the parts that stay keep theirs. A part is what the parser of GMime finds; a message inside is looked
 * into as well. Of several fields Content-Type or Content-Transfer-Encoding only the first counts, and stays; a part
 * inside with two types is taken out.
 */
#include <glib.h>
#include <stdbool.h>

#include "mail/message.h"

/* Make text (UTF-8) of HTML (UTF-8). NULL with error: the part stays as it is, and the caller hears of it. */
typedef GString *ContentConvert(const GString *html, void *data, GError **error);

/* Types ("image", "image/png") and endings ("exe"), without regard to case; NULL-terminated, NULL is empty. */
typedef struct ContentRules {
    char *const *filter_types, *const *pass_types; /* pass_types empty: all that are not filtered */
    char *const *filter_extensions, *const *pass_extensions;
    bool collapse_alternatives; /* of multipart/alternative the first that is left */
    bool html_to_text;
    ContentConvert *convert; /* NULL: one of our own, which drops tags */
    void *data;
} ContentRules;

typedef enum ContentResult {
    CONTENT_KEPT,    /* nothing was changed */
    CONTENT_CHANGED, /* the message is without what was taken out, be it fields alone */
    CONTENT_REFUSED, /* nothing that may stay is left, or the message as a whole may not be: it is unchanged */
} ContentResult;

/* removed (of char *) gets a line for each part that was taken out: "image/png, cat.png"; with CONTENT_REFUSED why, as
 * a sentence. False: a conversion failed, and the message is unchanged. */
bool content_filter(Message *message, const ContentRules *rules, ContentResult *result, GPtrArray *removed,
                    GError **error);
