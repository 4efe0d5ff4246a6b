/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A mark in a form shows that it was read from a page of ours not long ago, so that pages elsewhere cannot send forms
 * in somebody's name, and a program has to read the page first. It is the time and an HMAC-SHA256 over the time and
 * over what the form is about; all hosts of a site make the same.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define FORM_MARK_LIFE (24 * INT64_C(3600)) /* seconds */

/* Return a key made of the site's secret, for this purpose alone. */
GBytes *form_mark_key(GBytes *secret);

/* Return the mark, of letters, digits and a dot; g_free(). */
char *form_mark_make(GBytes *key, const char *about, int64_t now);

/* Was the mark made for this, within FORM_MARK_LIFE? */
bool form_mark_good(GBytes *key, const char *about, const char *mark, int64_t now);
