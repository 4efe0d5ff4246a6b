/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/domain_name.h"

#include <glib.h>
#include <idn2.h>
#include <string.h>

char *domain_name_ascii(const char *name)
{
    g_autofree char *plain = g_ascii_strdown(name, -1);
    if (g_str_has_suffix(plain, "."))
        plain[strlen(plain) - 1] = '\0';
    uint8_t *ascii = NULL;
    if (g_str_is_ascii(plain) ||
        idn2_lookup_u8((const uint8_t *)plain, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL) != IDN2_OK)
        return g_steal_pointer(&plain);
    char *copy = g_strdup((const char *)ascii);
    idn2_free(ascii);
    return copy;
}

char *domain_name_letters(const char *name)
{
    g_autofree char *ascii = domain_name_ascii(name);
    char *letters = NULL;
    if (idn2_to_unicode_8z8z(ascii, &letters, 0) != IDN2_OK)
        return g_steal_pointer(&ascii);
    char *copy = g_strdup(letters);
    idn2_free(letters);
    return copy;
}

bool domain_name_within(const char *name, const char *other)
{
    size_t length = strlen(name), above = strlen(other);
    return length >= above && strcmp(name + length - above, other) == 0 &&
           (length == above || name[length - above - 1] == '.');
}

bool domain_name_valid(const char *name)
{
    for (const char *at = name ? name : ""; *at; at++) {
        bool dot = *at == '.';
        if (dot ? at == name || at[1] == '.' || !at[1]
                : (guchar)*at < 128 && !g_ascii_isalnum(*at) && !strchr("-_", *at))
            return false;
    }
    return name && *name;
}

bool domain_name_askable(const char *name)
{
    size_t label = 0;
    if (strlen(name) > 253 || !*name)
        return false;
    for (const char *at = name; *at; at++) {
        label = *at == '.' ? 0 : label + 1;
        if (label > 63 || *at <= ' ' || *at >= 127 || (at[0] == '.' && at[1] == '.'))
            return false;
    }
    return true;
}
