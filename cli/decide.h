/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Decide about numbered things, each in a unit of work of its own: shared by the verbs that do so. */
#include <stdbool.h>
#include <stdint.h>

#include "base/number_range.h"
#include "cli/work_site.h"

/* Read a number from 1 on; false with a usage error that names `what` ("a held post") and the verb that lists them. */
bool decide_number(const char *text, const char *what, const char *lister, int64_t *number, GError **error);
/* The same for "12" or "12-15". */
bool decide_range(const char *text, const char *what, const char *lister, NumberRange *range, GError **error);
/* Pass on whether the range has any of `what` ("held post"); else FAIL_MISSING, naming the range. */
bool decide_found(const char *what, const NumberRange *range, bool found, GError **error);

/* Decide about one thing. What it returns when it succeeded is printed behind the number; g_free(). NULL: refused. */
typedef char *DecideOne(Work *work, int64_t number, void *data, GError **error);

/* Decide about each; one that is refused is told on standard error ("listrunner held: 4 is not accepted: ..."), and
 * the others go on. Returns the gravest exit code. */
int decide_each(WorkPlace *place, const GArray *numbers, const char *tool, const char *past, DecideOne *one,
                void *data);
