/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/language.h"

#include <string.h>

#include "base/fail.h"

bool language_check(const char *setting, const char *code, GError **error)
{
    g_auto(GStrv) known = g_strsplit(LANGUAGES, " ", -1);
    size_t length = strcspn(code, "_-");
    bool fine = length > 0 && strlen(code) < PREFERENCE_LANGUAGE_SIZE &&
                !code[strspn(code, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_-")];
    for (char **name = known; fine && *name; name++)
        if (strcspn(*name, "_") == length && g_ascii_strncasecmp(*name, code, length) == 0)
            return true;
    return fail(error, FAIL_NEVER, "%s: \"%s\" is no known language; allowed: a code such as en, de or pt_BR", setting,
                code);
}
