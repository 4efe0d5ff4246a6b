/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find where two copies of one post differ for who reads them: in fields of the header, and in the text and files
 * (doc/shadow.md says what counts). Values are shown as visible text (mail/visible.h), cut where they are long. The
 * work grows with the length of the copies.
 */
#include <glib.h>
#include <jansson.h>

/* Return the fields that differ, json_decref(): an array of {"field", "live": [VALUE...], "ours": [VALUE...]} in order
 * of names, at most SHADOW_FIELDS_MAX, and of each the first few values only; empty where none differs. ignore: names
 * of fields that are not compared, beside those that always differ; may be NULL. */
#define SHADOW_FIELDS_MAX 50
json_t *shadow_compare_header(GBytes *live, GBytes *ours, char *const *ignore);

/* Return the first part that differs, json_decref(); NULL: there is none. Of a text it is
 * {"part": "2 text/plain", "line": 3, "live": TEXT, "ours": TEXT}. TEXT is the first line that differs, or null for the
 * copy that ends before it. Of a part that is no text, the last three are null. Where the types differ or one copy
 * lacks the part, "line" is null, and TEXT is the type of the part, or null for the copy that lacks it. */
json_t *shadow_compare_body(GBytes *live, GBytes *ours);
