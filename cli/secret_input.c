/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/secret_input.h"

#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/input.h"

#define SECRET_MAX 1023 /* bytes */

char *secret_input(const char *path, GError **error)
{
    char line[SECRET_MAX + sizeof "\r\n" + 1];
    const char *name = path ? path : "-";
    g_autoptr(InputFile) file = input_open(name, error);
    if (!file)
        return NULL;
    if (isatty(fileno(file))) {
        char *typed = getpass("Password: ");
        if (typed)
            return g_strdup(typed);
    }
    if (!fgets(line, sizeof line, file)) {
        fail(error, FAIL_NEVER, "there is no password in %s", input_name(name));
        return NULL;
    }
    line[strcspn(line, "\r\n")] = '\0';
    if (strlen(line) > SECRET_MAX) {
        fail(error, FAIL_NEVER, "the first line of %s is longer than %d bytes", input_name(name), SECRET_MAX);
        return NULL;
    }
    return g_strdup(line);
}
