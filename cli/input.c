/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/input.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

#define SECRET_MAX 1023 /* bytes */
#define READ_SIZE 65536

const char *input_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

InputFile *input_open(const char *path, GError **error)
{
    if (strcmp(path, "-") == 0)
        return stdin;
    InputFile *file = fopen(path, "re");
    struct stat status;
    if (file && fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
        fclose(file);
        file = NULL;
        errno = EISDIR;
    }
    if (!file)
        fail_errno(error, errno == ENOENT ? FAIL_MISSING : errno == EISDIR ? FAIL_NEVER : FAIL_LATER,
                   "cannot read %s", path);
    return file;
}

void input_close(InputFile *file)
{
    if (file && file != stdin)
        fclose(file);
}

uint64_t input_size(InputFile *file)
{
    struct stat status;
    return fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
}

GBytes *input_read(InputFile *file, const char *path, GError **error)
{
    uint64_t expected = input_size(file);
    size_t size = expected > 0 && expected < G_MAXINT32 ? (size_t)expected + 1 : READ_SIZE, length = 0;
    g_autofree char *octets = g_malloc(size);
    for (;;) {
        ssize_t had = read(fileno(file), octets + length, size - length);
        if (had < 0 && errno == EINTR)
            continue;
        if (had < 0) {
            fail_errno(error, FAIL_LATER, "cannot read %s", input_name(path));
            return NULL;
        }
        length += (size_t)had;
        if (had == 0 || (length == expected && length < size)) /* less than was asked for: the end */
            return g_bytes_new_take(g_steal_pointer(&octets), length);
        if (length > G_MAXINT32 - READ_SIZE) {
            fail(error, FAIL_NEVER, "%s is larger than 2 GiB", input_name(path));
            return NULL;
        }
        if (length == size)
            octets = g_realloc(octets, size += MAX(READ_SIZE, size / 2));
    }
}

char *input_secret(const char *path, GError **error)
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
