/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write rows to standard output: an aligned table for people, or JSON lines (one object a row). A row is a JSON object.
 * The table shows the values of the columns' keys, up to the first column without a title. JSON shows the whole object.
 *
 * The first LISTING_WIDTH_ROWS rows are kept to find the widths of the table. Later rows are written at once, so a
 * listing of a million rows takes little memory.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "switchboard/meta.h"

#define LISTING_WIDTH_ROWS 1000

typedef enum ColumnKind {
    COLUMN_TEXT,
    COLUMN_NUMBER, /* aligned to the right */
    COLUMN_SPAN,   /* seconds, shown as 3m12s and aligned to the right */
} ColumnKind;

typedef struct Column {
    const char *key, *title;
    ColumnKind kind;
} Column;

typedef struct Listing Listing;

/* Begin a listing. columns end with an element without key, and must outlive the listing. json: write JSON. */
Listing *listing_new(const Column *columns, bool json);
/* Add a row, which is taken. */
void listing_row(Listing *listing, json_t *row);
/* Write the rows that are still kept, and free the listing. Each listing ends so. */
void listing_free(Listing *listing);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Listing, listing_free)

/* Make a value for a row of a text, a new reference. Bytes that are not UTF-8 become replacement characters; NULL
 * becomes null. */
json_t *listing_text(const char *text);
json_t *listing_texts(const char *const *texts); /* an array of them */
/* Make a value for a row of a time (us since 1970): "2026-11-20T13:20:00Z", or null for 0. */
json_t *listing_time(int64_t time);

/* Write an object (taken): a line "key: value" for each of its values, or with json the object on one line. In lines
 * for people, the items of an array are joined by commas, and further lines of a value are indented. */
void listing_show(json_t *object, bool json);

/* Write a JSON value on one line. */
void listing_json(const json_t *value);
