/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the sections [style.NAME] of the configuration (lists/making/style.h). Their keys are list settings, besides
 * `about`, `base`, `fixed` and `limited`. With `fixed` or `limited` a style is a family: its lists keep to these values
 * later, too (lists/making/family.h).
 */
#include "base/config.h"
#include "store/lists/list.h"
#include "store/lists/list_setting.h"

#define STYLE_FAMILY "style"
#define STYLE_FIXED "fixed"     /* key: settings that lists of the family may not change */
#define STYLE_LIMITED "limited" /* key: settings that they may change to some values alone */

/* Return the value of a list setting that stands as `text` in such a section; g_free(). Quotes around it are taken off.
 * In a setting of several lines each "\n" becomes a line end. */
char *style_value(const ListSetting *setting, const char *text);

/* Is there a style of that name, and is it a family? */
bool style_is_family(const Config *config, const char *name);

/* May `fixed` and `limited` name the setting? They may not name a password, or the setting `family` itself. */
bool style_may_fix(const ListSetting *setting);

/* Does `fixed` of the section ("style.NAME") name the setting? */
bool style_fixes(const Config *config, const char *section, const char *setting);

/* Return the values to which `limited` of the section limits the setting, "defer|hold"; g_free(). NULL: it does not
 * limit the setting. */
char *style_limits(const Config *config, const char *section, const char *setting);
