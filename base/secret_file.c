/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"

static char *user_name(uid_t user)
{
    const struct passwd *account = getpwuid(user);
    return account ? g_strdup(account->pw_name) : g_strdup_printf("%u", user);
}

static char *group_name(gid_t group)
{
    const struct group *found = getgrgid(group);
    return found ? g_strdup(found->gr_name) : g_strdup_printf("%u", group);
}

char *secret_file_fault(const char *path, const struct stat *status, uid_t user, gid_t group)
{
    unsigned mode = status->st_mode & 0777;
    bool own_group = status->st_gid == group;
    g_autofree char *name = user_name(user), *owner = user_name(status->st_uid), *own = group_name(group);
    if (!S_ISREG(status->st_mode))
        return g_strdup_printf("%s is no file", path);
    if (status->st_uid != user && status->st_uid != 0)
        return g_strdup_printf("%s belongs to %s; it must be %s's (chown %s %s)", path, owner, name, name, path);
    if (mode & (own_group ? 037 : 077))
        return g_strdup_printf("%s can be read or written by others (mode %03o); mend it with: chmod 600 %s, or for a "
                               "file of root: chgrp %s %s && chmod 640 %s", path, mode, path, own, path, path);
    if (status->st_uid != user && user != 0 && !(own_group && (mode & S_IRGRP)))
        return g_strdup_printf("%s cannot be read by the user %s; mend it with: chown %s %s", path, name, name, path);
    return NULL;
}

/* Is it the file's fault, or the system's, which may do better later? */
static int code_of(int number)
{
    static const int of_the_file[] = {ENOENT, ENOTDIR, EACCES, ELOOP, ENXIO, ENAMETOOLONG};
    for (size_t at = 0; at < G_N_ELEMENTS(of_the_file); at++)
        if (of_the_file[at] == number)
            return FAIL_CONFIG;
    return FAIL_LATER;
}

char *secret_file_read(const char *path, size_t most, GError **error)
{
    struct stat status;
    auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO is refused, not waited for */
    if (fd < 0 || fstat(fd, &status) != 0) {
        fail_errno(error, code_of(errno), "%s", path);
        return NULL;
    }
    gid_t group = geteuid() == 0 && status.st_uid == 0 ? status.st_gid : getegid();
    g_autofree char *fault = secret_file_fault(path, &status, geteuid(), group);
    if (fault || status.st_size > (off_t)most) {
        g_autofree char *long_one = g_strdup_printf("%s is larger than %zu bytes", path, most);
        fail(error, FAIL_CONFIG, "%s", fault ? fault : long_one);
        return NULL;
    }
    g_autofree char *text = g_malloc0((size_t)status.st_size + 1);
    for (ssize_t got, at = 0; at < status.st_size; at += got) {
        got = TEMP_FAILURE_RETRY(read(fd, text + at, (size_t)(status.st_size - at)));
        if (got < 0) {
            fail_errno(error, FAIL_LATER, "read %s", path);
            return NULL;
        }
        if (got == 0)
            break;
    }
    return g_steal_pointer(&text);
}

char *secret_file_line(const char *path, GError **error)
{
    g_autofree char *text = secret_file_read(path, SECRET_FILE_MAX, error);
    if (!text)
        return NULL;
    text[strcspn(text, "\r\n")] = '\0';
    g_strstrip(text);
    if (*text)
        return g_steal_pointer(&text);
    fail(error, FAIL_CONFIG, "%s: its first line, the secret, is empty", path);
    return NULL;
}
