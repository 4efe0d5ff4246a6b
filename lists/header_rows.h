/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Change the rows of header fields that decide about a post, and write each change into the log, and into the
 * list's own log. With list_id NULL, the row is the whole site's, and only the log has it. The functions of the
 * same names in store/header_match.h tell of arguments and errors. */
#include "lists/work.h"
#include "store/header_match.h"

bool header_rows_add(Work *work, HeaderMatch *match, GError **error);
bool header_rows_change(Work *work, int64_t position, HeaderMatch *match, GError **error);
bool header_rows_remove(Work *work, const char *list_id, int64_t position, GError **error);
bool header_rows_clear(Work *work, const char *list_id, const char *tag, int64_t *removed, GError **error);
