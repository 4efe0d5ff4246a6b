/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/making/list_name.h"

#include <string.h>

#include "base/fail.h"
#include "mail/list_address.h"
#include "store/lists/list.h"

static bool exists(const char *local, const char *domain, bool *exists, char **list_id, void *data, GError **error)
{
    return list_exists(data, local, domain, exists, list_id, error);
}

/* Is mail to it for another list's owners, bounces and so on? */
static bool is_no_sub_address(Store *store, const char *posting_address, char delimiter, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    g_autoptr(ListAddress) other = list_address_find(posting_address, delimiter, exists, store, &refusal);
    if (!other && !g_error_matches(refusal, FAIL, FAIL_MISSING))
        return fail_with(error, &refusal);
    if (!other || other->to == LIST_ADDRESS_POSTING)
        return true;
    return fail(error, FAIL_NEVER, "%s is the \"%s\" address of the list %s@%s; give the new list another name",
                posting_address, list_address_text(other->to), other->local, other->domain);
}

/* Is what follows the name "-owner" or the like, alone or with the delimiter behind? */
static bool is_suffix(const char *rest, char delimiter)
{
    const char *suffix;
    for (size_t at = 0; (suffix = list_address_suffix(at)) != NULL; at++) {
        size_t length = strlen(suffix);
        if (strncmp(rest, suffix, length) == 0 && (!rest[length] || rest[length] == delimiter))
            return true;
    }
    return false;
}

bool list_name_is_free(Store *store, const char *posting_address, char delimiter, GError **error)
{
    const char *at = strrchr(posting_address, '@');
    if (!at || !g_utf8_validate(posting_address, -1, NULL))
        return true;
    if (!is_no_sub_address(store, posting_address, delimiter, error))
        return false;
    g_autofree char *given = g_strndup(posting_address, (size_t)(at - posting_address));
    g_autofree char *name = g_utf8_strdown(given, -1), *domain = g_utf8_strdown(at + 1, -1);
    g_autofree char *beginning = g_strconcat(name, "-", NULL);
    g_auto(GStrv) others = list_names(store, domain, beginning, error);
    for (char **other = others; other && *other; other++)
        if (is_suffix(*other + strlen(name), delimiter))
            return fail(error, FAIL_NEVER, "%s would have the address of the list %s@%s as one of its own; "
                        "give the new list another name", posting_address, *other, domain);
    return others != NULL;
}
