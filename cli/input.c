/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/input.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"

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
    g_autoptr(GByteArray) octets = g_byte_array_new();
    size_t had;
    do {
        guint length = octets->len;
        if (length > G_MAXINT32 - READ_SIZE) {
            fail(error, FAIL_NEVER, "%s is larger than 2 GiB", input_name(path));
            return NULL;
        }
        g_byte_array_set_size(octets, length + READ_SIZE);
        had = fread(octets->data + length, 1, READ_SIZE, file);
        g_byte_array_set_size(octets, length + (guint)had);
    } while (had > 0);
    if (ferror(file)) {
        fail_errno(error, FAIL_LATER, "cannot read %s", input_name(path));
        return NULL;
    }
    return g_byte_array_free_to_bytes(g_steal_pointer(&octets));
}
