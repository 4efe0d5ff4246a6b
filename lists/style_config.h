/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The sections [style.NAME] of the configuration: their keys are list settings, besides `about`,
 * `base`, `fixed` and `limited`. */
#include "base/config.h"
#include "store/list.h"
#include "store/list_setting.h"

#define STYLE_FAMILY "style"
/* Keys by which a style holds on for its lists (lists/family.h). */
#define STYLE_FIXED "fixed"
#define STYLE_LIMITED "limited"

/* The value of a list setting as it stands in such a section, without quotes around it, and in a text of several lines
 * with a line end for each "\n"; g_free(). */
char *style_value(const ListSetting *setting, const char *text);

/* Can a family say anything about a setting? A password is not known, and the family itself is the site's to choose for
 * each list. */
bool style_may_fix(const ListSetting *setting);

/* Is the setting one of those that the section fixes? */
bool style_fixes(const Config *config, const char *section, const char *setting);

/* The values that the section allows, "defer|hold"; g_free(). NULL: it does not limit the setting. */
char *style_limits(const Config *config, const char *section, const char *setting);
