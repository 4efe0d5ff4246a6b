/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * What a runner writes to people about a list: from a template to an entry that the hop brings on its way. A letter
 * that cannot be made is told in the log and nothing else: what it is about must not wait for it.
 */
#include <glib.h>
#include <stdbool.h>

#include "mail/notice.h"
#include "mail/template.h"
#include "runners/list_runner.h"

/* The template of that name in the list's language, filled, in valid UTF-8; g_free(). NULL: there is none, which is in
 * the log. folder: the site's own; entry: what it is about. */
char *list_letter_text(Entry *entry, const List *list, const char *folder, const char *template,
                       const TemplateValue *values);

/* Where a letter goes. */
typedef struct ListLetterWay {
    const char *queue;           /* "virgin", or "out" for what must not be changed any more */
    const char *envelope_sender; /* "": none, so that nobody answers it */
    char **recipients;           /* consumed */
} ListLetterWay;

/* Adds the entry to outcome, if it goes to anybody. */
void list_letter_add(Outcome *outcome, const List *list, const Notice *notice, ListLetterWay way);

/* An array of that one, empty for NULL and ""; g_strfreev(). */
char **list_letter_to(const char *address);

/* The list's owners and moderators, where there are none who runs the site (site_owner), else nobody: an array,
 * g_strfreev(). NULL: the store failed. */
char **list_letter_to_owners(Store *store, const List *list, const char *site_owner, GError **error);
