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

/* The fields that differ: an array of {"field", "live": [VALUE...], "ours": [VALUE...]} in order of names, at most
 * SHADOW_FIELDS_MAX; empty where none does. ignore: names of fields that are not compared, beside those that always
 * differ; may be NULL. */
#define SHADOW_FIELDS_MAX 50
json_t *shadow_compare_header(GBytes *live, GBytes *ours, char *const *ignore);

/* The first part that differs: {"part": "2 text/plain", "line": 3, "live": TEXT, "ours": TEXT}, with null for what one
 * of them lacks, and for lines of what is no text; NULL: there is none. */
json_t *shadow_compare_body(GBytes *live, GBytes *ours);
