/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Give new lists their first settings, by a style: a named set of values. The styles discussion, announce and private
 * are built in. A site adds others, or changes these, by sections [style.NAME] of its configuration.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "lists/work.h"
#include "store/lists/list_setting.h"

typedef struct Style {
    const char *name;         /* "discussion" */
    const char *mailman_name; /* "legacy-default"; for a style of the site, its name */
    const char *about;        /* a line for people */
    const char *mailman_about; /* as Mailman describes it; the same as about where it is the site's */
} Style;

/* Return all styles, the built-in ones first, ended by one without name. g_free() the array; its strings are borrowed
 * from the configuration. */
Style *style_all(const Config *config);

/* Return the value of a setting that a new list of this name gets in the style, as list_get() writes it; g_free(). NULL
 * with FAIL_NEVER: no list can have the value that the section [style.NAME] names. */
char *style_setting(const Config *config, const char *style, const ListSetting *setting, const char *list_name,
                    GError **error);

/* Give a list that was just made the settings of the style, which may be called by either of its names; NULL is
 * discussion. Call it in the transaction that makes the list. If the style is a family (lists/making/family.h), the
 * list becomes a part of the family. FAIL_NEVER: there is no such style (the message names those that there are). */
bool style_apply(Work *work, const char *list_id, const char *style, GError **error);
