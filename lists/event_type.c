/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* In the library below all others, for those who check settings. */
#include "lists/event_type.h"

#include <string.h>

static const char *const types[] = {
    EVENT_POST_ACCEPTED,  EVENT_POST_HELD,       EVENT_POST_REJECTED,  EVENT_POST_DISCARDED,
    EVENT_POST_DECIDED,   EVENT_MEMBER_JOINED,   EVENT_MEMBER_LEFT,    EVENT_MEMBER_DISABLED,
    EVENT_REQUEST_OPENED, EVENT_REQUEST_DECIDED, EVENT_LIST_CREATED,   EVENT_LIST_REMOVED,
};

bool event_fits(const char *word, const char *type)
{
    size_t length = strlen(word);
    if (length == 0 || word[length - 1] != '*')
        return strcmp(word, type) == 0;
    return (length == 1 || word[length - 2] == '.') && strncmp(word, type, length - 1) == 0;
}

bool event_known(const char *word)
{
    for (size_t at = 0; at < G_N_ELEMENTS(types); at++)
        if (event_fits(word, types[at]))
            return true;
    return false;
}
