/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner export: a site leaves, as lines of JSON (lists/moving/leaving.h). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/work_site.h"
#include "lists/moving/leaving.h"
#include "store/list.h"

/* - is written by way of a file without a name, so that writers to the store wait for no reader of a pipe. */
static FILE *open_output(const char *path, GError **error)
{
    bool named = !g_str_equal(path, "-");
    int fd = named ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    FILE *file = !named ? tmpfile() : fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file)
        fail_errno(error, errno == EEXIST ? FAIL_EXISTS : errno == ENOENT ? FAIL_MISSING : FAIL_LATER, "%s", path);
    return file;
}

/* The ids of the lists that were named; NULL with error. */
static char **find_lists(Store *store, char **names, int count, GError **error)
{
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; i < count; i++) {
        g_autoptr(List) list = list_by_address(store, names[i], error);
        if (!list)
            return NULL;
        g_ptr_array_add(ids, g_strdup(list->list_id));
    }
    g_ptr_array_add(ids, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&ids), FALSE);
}

static bool copy_out(FILE *from, GError **error)
{
    char block[65536];
    size_t length;
    rewind(from);
    while ((length = fread(block, 1, sizeof block, from)) > 0)
        if (fwrite(block, 1, length, stdout) != length)
            return fail_errno(error, FAIL_LATER, "write");
    return (!ferror(from) && fflush(stdout) == 0) || fail_errno(error, FAIL_LATER, "write");
}

static bool export_to(Site *site, char **lists, int count, FILE *output, uint64_t *lines, GError **error)
{
    WorkPlace place = {0};
    if (!work_place_store(&place, site, error))
        return false;
    g_auto(GStrv) ids = count > 0 ? find_lists(place.store, lists, count, error) : NULL;
    return (count == 0 || ids) && leaving_write(place.store, ids, output, lines, error) &&
           (fflush(output) == 0 || fail_errno(error, FAIL_LATER, "write"));
}

static int run_export(Site *site, int argc, char **argv, GError **error)
{
    uint64_t lines = 0;
    const char *path = argv[argc - 1];
    bool named = !g_str_equal(path, "-");
    FILE *output = open_output(path, error); /* before the right to write there may be given up */
    if (!output)
        return TOOL_LATER;
    bool done = export_to(site, argv, argc - 1, output, &lines, error);
    if (done && named && fsync(fileno(output)) != 0)
        done = fail_errno(error, FAIL_LATER, "write %s", path);
    if (done && !named)
        done = copy_out(output, error);
    fclose(output);
    if (named && done)
        printf("%" PRIu64 " lines\n", lines);
    else if (named)
        unlink(path);
    return done ? TOOL_OK : TOOL_LATER;
}

const Command cmd_export = {
    .name = "export",
    .arguments = "[LIST...] FILE",
    .summary = "Write the site, or some lists, as lines of JSON",
    .least = 1,
    .most = -1,
    .run = run_export,
    .details = "FILE must not be there, and only you may read it, for it has secrets: hashes of passwords and tokens, and "
               "the keys of addresses in letters. - is standard output. `listrunner import listrunner` reads it. Archives "
               "leave by `archive export`.",
};
