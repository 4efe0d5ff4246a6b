/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Decide about numbered things, such as held posts, each in a unit of work of its own. Verbs that do so share this. */
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "cli/work_site.h"

/* Read a number from 1 on; false with a usage error that names `what` ("a held post") and the verb that lists them. */
bool decide_number(const char *text, const char *what, const char *lister, int64_t *number, GError **error);
/* Read "12" or a range such as "12-15"; false with a usage error as decide_number(). */
bool decide_range(const char *text, const char *what, const char *lister, NumberRange *range, GError **error);
/* Return found. If it is false, set FAIL_MISSING with a message that names the range and `what` ("held post"). */
bool decide_found(const char *what, const NumberRange *range, bool found, GError **error);

/* Decide about one thing in the unit, which decide_each() commits. Return a text (g_free()) that is printed behind the
 * number and the word `past`. NULL with *error: the decision is refused. */
typedef char *DecideOne(Work *work, int64_t number, void *data, GError **error);

/* Call one() for each number (int64_t), each in a unit of its own that is committed after it. place is that of
 * work_place_open(). For each number a line is printed, "4 accepted" and the text. A refusal is printed on standard
 * error ("listrunner held: 4 is not accepted: ...", made of tool "held" and past "accepted"), and the others go on.
 * Return the greatest exit code of the refusals, or TOOL_OK. */
int decide_each(WorkPlace *place, const GArray *numbers, const char *tool, const char *past, DecideOne *one,
                void *data);
