/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Header fields that decide about a post (store/header_match.h), of a list, or of the whole site with list_id NULL.
 * Arguments and errors are those of the functions of the store. */
#include "lists/work.h"
#include "store/header_match.h"

bool header_rows_add(Work *work, HeaderMatch *match, GError **error);
bool header_rows_change(Work *work, int64_t position, HeaderMatch *match, GError **error);
bool header_rows_remove(Work *work, const char *list_id, int64_t position, GError **error);
bool header_rows_clear(Work *work, const char *list_id, const char *tag, int64_t *removed, GError **error);
