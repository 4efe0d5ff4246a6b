/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "mail/recognise/report.h"

/* The length of a status that begins at at ("5.1.1"); 0 when none does. */
static size_t status_length(const char *at)
{
    size_t length = 1;
    if (!strchr("245", *at) || *at == '\0')
        return 0;
    for (int part = 0; part < 2; part++) {
        size_t digits = at[length] == '.' ? strspn(at + length + 1, "0123456789") : 0;
        if (digits < 1 || digits > 3)
            return 0;
        length += 1 + digits;
    }
    return at[length] == '.' && g_ascii_isdigit(at[length + 1]) ? 0 : length;
}

void status_scan(const char *text, char status[STATUS_SIZE])
{
    status[0] = '\0';
    for (const char *at = strchr(text, '.'); at; at = strchr(at + 1, '.')) {
        const char *start = at - 1;
        size_t length = at > text ? status_length(start) : 0;
        if (length == 0 || (start > text && (g_ascii_isalnum(start[-1]) || strchr(".[-", start[-1])) &&
                            !(start - text >= 4 && start[-1] == '-' && g_ascii_isdigit(start[-2]))))
            continue;
        if (*start == '2')
            continue;
        bool vague = strncmp(start + 1, ".0.0", 4) == 0;
        if (status[0] && vague)
            continue;
        bool replace = !status[0] || (strncmp(status + 1, ".0.0", 4) == 0 && !vague);
        if (replace)
            g_strlcpy(status, start, MIN(length + 1, STATUS_SIZE));
        if (!vague)
            return;
    }
}

unsigned reply_scan(const char *text)
{
    static const char before[] = " \t\n:;('\"<#=>-";
    for (const char *at = strpbrk(text, "45"); at; at = strpbrk(at + 1, "45")) {
        if (!g_ascii_isdigit(at[1]) || at[1] > '9' || !g_ascii_isdigit(at[2]) || g_ascii_isalnum(at[3]))
            continue;
        if (at[1] > '5' || (at[3] && !strchr(" -\t\n:;,.'\")<#", at[3])))
            continue;
        if ((at[3] == '.' || at[3] == ',' || at[3] == ':') && g_ascii_isdigit(at[4]))
            continue;
        if (at == text || strchr(before, at[-1]))
            return (unsigned)(at[0] - '0') * 100 + (unsigned)(at[1] - '0') * 10 + (unsigned)(at[2] - '0');
    }
    return 0;
}
