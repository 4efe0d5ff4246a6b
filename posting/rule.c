/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/rule.h"

#include <string.h>

#define ADDRESS(symbol, word) &rule_##symbol,
const Rule *const rules[] = {POSTING_RULES(ADDRESS) NULL};

const Rule *rule_find(const char *name)
{
    for (const Rule *const *rule = rules; *rule; rule++)
        if (strcmp((*rule)->name, name) == 0)
            return *rule;
    return NULL;
}

bool rules_settle(Post *post, Verdict *verdict, GError **error)
{
    const Verdict before = *verdict;
    for (const Rule *const *rule = rules; *rule && *verdict == before; rule++)
        if ((*rule)->settle && !(*rule)->settle(post, verdict, error))
            return false;
    return true;
}
