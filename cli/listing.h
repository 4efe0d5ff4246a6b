/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Output in rows: an aligned table for people, or JSON lines (one object a row). A row
 * is a JSON object whose keys are the columns'; a column without title is in JSON only.
 *
 * Widths are taken from the first LISTING_WIDTH_ROWS rows; what follows is
 * written as it comes, so a listing of a million rows takes no memory.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "switchboard/meta.h"

#define LISTING_WIDTH_ROWS 1000

typedef enum ColumnKind {
    COLUMN_TEXT,
    COLUMN_NUMBER, /* to the right */
    COLUMN_SPAN,   /* seconds, shown as 3m12s */
} ColumnKind;

typedef struct Column {
    const char *key, *title;
    ColumnKind kind;
} Column;

typedef struct Listing Listing;

/* columns end with an element without key; they must outlive the listing. */
Listing *listing_new(const Column *columns, bool json);
void listing_row(Listing *listing, json_t *row); /* consumes row */
void listing_free(Listing *listing);             /* writes what is still kept */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Listing, listing_free)

/* Values for rows. Text that is not UTF-8 gets replacement characters; NULL
 * becomes null. A time (microseconds) is "2026-11-20T13:20:00Z", 0 is null. */
json_t *listing_text(const char *text);
json_t *listing_time(int64_t time);

/* A block of "key: value" lines for people, or one JSON object on a line;
 * arrays are joined by commas, further lines of a value indented. Consumes object. */
void listing_show(json_t *object, bool json);

/* One JSON value on a line. */
void listing_json(const json_t *value);
