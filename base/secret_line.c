/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/secret_line.h"

#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/log.h"

char *secret_line_read(const char *path, GError **error)
{
    g_autofree char *text = NULL;
    g_autoptr(GError) problem = NULL;
    struct stat status;
    if (!g_file_get_contents(path, &text, NULL, &problem)) {
        fail(error, FAIL_CONFIG, "%s", problem->message);
        return NULL;
    }
    text[strcspn(text, "\r\n")] = '\0';
    if (*g_strstrip(text) == '\0') {
        fail(error, FAIL_CONFIG, "%s: its first line, the secret, is empty", path);
        return NULL;
    }
    if (stat(path, &status) == 0 && (status.st_mode & (S_IROTH | S_IWOTH)))
        log_warn("%s can be read or written by everybody: it holds a secret", path);
    return g_steal_pointer(&text);
}
