/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/rule.h"

static bool check(Post *post, bool *hit, GError **error)
{
    *hit = true;
    return true;
}

const Rule rule_truth = {.name = "truth", .silent = true, .check = check};
