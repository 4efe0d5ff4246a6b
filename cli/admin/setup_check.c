/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/admin/setup_check.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>

#include "base/auto.h"
#include "base/fail.h"
#include "base/fs.h"

#define LEAST_STATE (16 * 1024 * 1024) /* bytes, for a database without lists and its journal */
#define LEAST_CONFIG (64 * 1024)

/* A directory, or the first one above it that is there. */
static bool has_room(const char *path, uint64_t least, const char *what, GError **error)
{
    uint64_t free_bytes;
    struct statvfs status;
    g_autofree char *directory = g_strdup(path);
    while (!g_file_test(directory, G_FILE_TEST_IS_DIR) && strcmp(directory, "/") != 0) {
        char *above = g_path_get_dirname(directory);
        g_free(directory);
        directory = above;
    }
    auto_fd fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstatvfs(fd, &status) != 0)
        return fail_errno(error, FAIL_LATER, "look at %s, for %s", directory, what);
    if (status.f_flag & ST_RDONLY)
        return fail(error, FAIL_LATER, "%s is on a file system that is read-only; %s must be written there", directory,
                    what);
    if (!fs_free_space(fd, &free_bytes, error))
        return false;
    return free_bytes >= least ||
           fail(error, FAIL_LATER,
                "the file system of %s is full: it has %" G_GUINT64_FORMAT " KiB left, and %s needs "
                "%" G_GUINT64_FORMAT " KiB",
                directory, free_bytes / 1024, what, least / 1024);
}

bool setup_check_disks(const char *path, const Config *config, GError **error)
{
    g_autofree char *configuration = g_path_get_dirname(path);
    g_autofree char *state = g_path_get_dirname(config_string(config, "store", "path"));
    bool file = strcmp(config_string(config, "store", "driver"), "sqlite") == 0;
    return has_room(configuration, LEAST_CONFIG, "the configuration", error) &&
           has_room(config_string(config, "spool", "directory"), config_size(config, "spool", "min_free"),
                    "the spool ([spool] min_free)", error) &&
           (!file || has_room(state, LEAST_STATE, "the database", error));
}

static bool may_bind(const struct addrinfo *address)
{
    int one = 1;
    auto_fd fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, address->ai_protocol);
    /* A closed connection that lingers is no obstacle. */
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    return fd < 0 || bind(fd, address->ai_addr, address->ai_addrlen) == 0 || errno != EADDRINUSE;
}

static bool are_free(const Config *config, const char *section, const char *option, GError **error)
{
    bool all = true;
    for (const char *const *listen = config_list(config, section, "listen"); all && *listen; listen++) {
        struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
        g_autofree char *host = g_strdup(*listen);
        char *colon = strrchr(host, ':'), *bare = host;
        if (!colon || *host == '/' || g_str_has_prefix(host, "unix:"))
            continue;
        *colon = '\0';
        if (*host == '[') {
            bare = host + 1;
            colon[-1] = '\0';
        }
        if (getaddrinfo(strcmp(bare, "*") == 0 || !*bare ? NULL : bare, colon + 1, &hints, &found) != 0)
            continue; /* the check of the configuration has told it */
        for (struct addrinfo *one = found; all && one; one = one->ai_next)
            all = may_bind(one);
        freeaddrinfo(found);
        if (!all)
            fail(error, FAIL_LATER,
                 "%s, [%s] listen, is taken by another program (GNU Mailman has such ports, too; "
                 "\"ss -ltnp\" shows which it is): end that, or choose another port by %s",
                 *listen, section, option);
    }
    return all;
}

bool setup_check_ports(const Config *config, bool asks, GError **error)
{
    return are_free(config, "runner.lmtp", "--lmtp", error) &&
           (!asks || are_free(config, "runner.mta", "--ask", error));
}
