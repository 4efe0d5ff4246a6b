/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/handler.h"

#include <string.h>

#define ADDRESS(symbol, word) &handler_##symbol,
const Handler *const handlers[] = {POSTING_HANDLERS(ADDRESS) NULL};

const Handler *handler_find(const char *name)
{
    for (const Handler *const *handler = handlers; *handler; handler++)
        if (strcmp((*handler)->name, name) == 0)
            return *handler;
    return NULL;
}
