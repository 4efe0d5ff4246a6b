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

/* The value (as list_get() writes it) that a list of this name gets of a setting, made in the style of a section
 * [style.NAME]; g_free(). FAIL_NEVER: no list can have it. */
char *style_setting(const Config *config, const char *style, const ListSetting *setting, const char *list_name,
                    GError **error);

/* Gives a new list the settings of the style, which goes by either name; NULL is discussion. A list of a style that is
 * a family belongs to that (lists/family.h). FAIL_NEVER: there is no such style (the message names those that there
 * are). */
bool style_apply(Work *work, const char *list_id, const char *style, GError **error);
