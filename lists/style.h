/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Styles: what settings a new list begins with. discussion, announce and private are built in; a site has more of them,
 * or changes these, by sections [style.NAME] of its configuration.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "lists/work.h"
#include "store/list_setting.h"

typedef struct Style {
    const char *name;         /* "discussion" */
    const char *mailman_name; /* "legacy-default"; for a style of the site, its name */
    const char *about;        /* a line for people */
    const char *mailman_about; /* as Mailman describes it; the same as about where it is the site's */
} Style;

/* All of them, those that are built in first, ended by one without name. g_free() the array; its strings belong to the
 * configuration. */
Style *style_all(const Config *config);

/* Return the value, as list_get() writes it, that a new list of this name gets for a setting in the style of the
 * section [style.NAME]; g_free(). NULL with FAIL_NEVER: no list can have the value that the section names. */
char *style_setting(const Config *config, const char *style, const ListSetting *setting, const char *list_name,
                    GError **error);

/* Give a new list the settings of the style, which may be called by either of its names; NULL is discussion. If the
 * style is a family (lists/family.h), the list becomes a part of the family. FAIL_NEVER: there is no such style (the
 * message names those that there are). */
bool style_apply(Work *work, const char *list_id, const char *style, GError **error);
