/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Take out of a message the parts that a list does not want to carry: by their MIME type, by the ending of their file
 * names, and all alternatives but the first; turn HTML into text. When nothing is taken out, no byte of the message
 * changes; else the bytes of the parts that stay do not change, nor those between them. Parts are those of
 * mime_parts_all(), also in messages within the message. Of several fields Content-Type or Content-Transfer-Encoding of
 * a message only the first counts and stays. A part inside that has two types is taken out, and one that lies too
 * deep to be looked at, or that readers may split elsewhere: a multipart without a boundary, or with several.
 */
#include <glib.h>
#include <stdbool.h>

#include "mail/message.h"

/* Make text (UTF-8) of HTML (UTF-8). When it returns NULL with error, content_filter() fails with that error. */
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

/* Filter a message, and set *result. removed (of char *) gets a line for each part that was taken out, "image/png,
 * cat.png", and with CONTENT_REFUSED a sentence that says why. A message of more than MIME_ALL_PARTS parts is refused
 * when the rules take anything out. Return false when a conversion failed; the message is unchanged then. */
bool content_filter(Message *message, const ContentRules *rules, ContentResult *result, GPtrArray *removed,
                    GError **error);
