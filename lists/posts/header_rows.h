/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Change header rows, and log each change. A header row is a pattern for a header field, with the action for posts that
 * match it. The change is written to the log of the process and to the list's own log (store/lists/list_log.h). With
 * list_id NULL the row is for the whole site, and only the log of the process has its change. Arguments and errors are
 * those of the functions header_match_...() in store/lists/header_match.h.
 */
#include "lists/work.h"
#include "store/lists/header_match.h"

bool header_rows_add(Work *work, HeaderMatch *match, GError **error);
bool header_rows_change(Work *work, int64_t position, HeaderMatch *match, GError **error);
bool header_rows_remove(Work *work, const char *list_id, int64_t position, GError **error);
bool header_rows_clear(Work *work, const char *list_id, const char *tag, int64_t *removed, GError **error);
