/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The sections [style.NAME] of the configuration: their keys are list settings, besides `about` and `base`. */
#include "store/list.h"

#define STYLE_FAMILY "style"

/* The value of a list setting as it stands in such a section, without quotes around it, and in a text of several lines
 * with a line end for each "\n"; g_free(). */
char *style_value(const ListSetting *setting, const char *text);
