/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/driver/store_access.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

static char *user_name(uid_t user)
{
    const struct passwd *account = getpwuid(user);
    return account ? g_strdup(account->pw_name) : g_strdup_printf("%u", (unsigned)user);
}

/* The sentence, when that access to path is denied. */
static char *denied(const char *path, int mode, const char *what)
{
    struct stat status;
    if (faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0)
        return NULL;
    g_autofree char *user = user_name(geteuid());
    if (stat(path, &status) != 0)
        return NULL;
    g_autofree char *owner = user_name(status.st_uid);
    return g_strdup_printf("the user %s may not %s %s, which belongs to %s (mode %03o)", user, what, path, owner,
                           (unsigned)status.st_mode & 0777);
}

char *store_access_denied(const char *where)
{
    g_autofree char *directory = g_path_get_dirname(where);
    char *found = denied(directory, X_OK, "look into");
    if (!found)
        found = denied(where, R_OK, "read");
    if (!found)
        found = denied(where, W_OK, "write");
    /* SQLite has its log and shared memory there. */
    return found ? found : denied(directory, W_OK, "make files in");
}
