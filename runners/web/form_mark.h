/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make and check the marks of forms. A mark in a form shows that the form was read from a page of ours not long ago.
 * So pages elsewhere cannot send forms in somebody's name, and a program has to read the page first. A mark is the
 * time and an HMAC-SHA256 over the time and over a text `about` that says what the form is for. All hosts of a site
 * make the same.
 *
 * The newest secret of the site (store/secret.h) makes marks. The one before it still proves marks of forms that were
 * open when it was replaced. A mark of the old secret with a later time is refused, as somebody else who knows that
 * secret made it.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define FORM_MARK_LIFE (24 * INT64_C(3600)) /* seconds */

typedef struct FormKeys FormKeys;

/* Make keys of the site's secrets (of GBytes, the newest first, at least one), for this purpose alone. replaced_at is
 * when the newest took the place of the one before it (us). */
FormKeys *form_keys_new(const GPtrArray *secrets, int64_t replaced_at);
void form_keys_free(FormKeys *keys);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FormKeys, form_keys_free)

/* Return the mark for a form about this at the time now (us), of letters, digits and a dot; g_free(). */
char *form_mark_make(const FormKeys *keys, const char *about, int64_t now);

/* Was the mark made about this, within FORM_MARK_LIFE before now (us)? */
bool form_mark_good(const FormKeys *keys, const char *about, const char *mark, int64_t now);
