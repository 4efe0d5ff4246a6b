/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/archive_name.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#define FILE_NAME_MAX (255 - sizeof(".mbox.intent") + 1)
#define FILE_NAME_KEPT 190

char *archiver_file_name(const char *list)
{
    GString *name = g_string_new(NULL);
    for (const char *at = list; *at != '\0'; at++) {
        bool plain = g_ascii_isalnum(*at) || strchr("-_+=@~", *at) != NULL || (*at == '.' && at != list) ||
                     (*at & 0x80) != 0;
        if (plain)
            g_string_append_c(name, *at);
        else
            g_string_append_printf(name, "%%%02X", (unsigned char)*at);
    }
    if (name->len > FILE_NAME_MAX) {
        size_t kept = FILE_NAME_KEPT;
        while ((name->str[kept] & 0xc0) == 0x80) /* in the midst of a character */
            kept--;
        g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA1, list, -1);
        g_string_truncate(name, kept);
        g_string_append_printf(name, "%%sha1-%s", sum);
    }
    return g_string_free(name, FALSE);
}
