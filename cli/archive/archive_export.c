/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner archive export: a list's maildir as an mbox. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/archive/archive_site.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "lists/archive/archive_maildir.h"
#include "mail/mbox.h"

static FILE *open_output(const char *path, GError **error)
{
    if (g_str_equal(path, "-"))
        return stdout;
    FILE *file = fopen(path, "wxe");
    if (!file)
        fail_errno(error, errno == EEXIST ? FAIL_EXISTS : errno == ENOENT ? FAIL_MISSING : FAIL_LATER, "%s", path);
    return file;
}

/* One that is gone meanwhile is left out. */
static bool export_one(const ArchiveFiles *files, size_t at, FILE *output, uint64_t *count, GError **error)
{
    int64_t arrival;
    g_autoptr(GError) problem = NULL;
    g_autofree char *name = archive_files_name(files, at, &arrival);
    g_autoptr(GBytes) bytes = archive_files_load(files, at, &problem);
    if (!bytes && !g_error_matches(problem, FAIL, FAIL_LATER))
        return true;
    if (!bytes)
        return fail_with(error, &problem);
    size_t length;
    const char *octets = g_bytes_get_data(bytes, &length);
    g_autoptr(GString) text = g_string_sized_new(length + 128);
    mbox_append(text, "", arrival, octets, length);
    ++*count;
    return fwrite(text->str, 1, text->len, output) == text->len || fail_errno(error, FAIL_LATER, "write");
}

static bool export_all(const ArchiveSite *place, FILE *output, uint64_t *count, GError **error)
{
    g_autoptr(ArchiveFiles) files = archive_files_read(place->directory, place->list, error);
    Progress progress = {.what = "posts", .total = files ? archive_files_count(files) : 0};
    bool done = files != NULL;
    for (size_t at = 0; done && at < progress.total; at++) {
        done = export_one(files, at, output, count, error);
        progress_show(&progress, at, at);
    }
    progress_end(&progress);
    return done;
}

static int run_export(Site *site, int argc, char **argv, GError **error)
{
    g_auto(ArchiveSite) place = {0};
    uint64_t count = 0;
    FILE *output = open_output(argv[1], error); /* before the right to write there may be given up */
    if (!output)
        return TOOL_LATER;
    bool done = archive_site_find(&place, site, archive_option, argv[0], error) &&
                export_all(&place, output, &count, error);
    if (done && (fflush(output) != 0 || (output != stdout && fsync(fileno(output)) != 0)))
        done = fail_errno(error, FAIL_LATER, "write %s", argv[1]);
    if (output != stdout) {
        fclose(output);
        if (done)
            printf("%" PRIu64 " posts\n", count);
        else
            unlink(argv[1]);
    }
    return done ? TOOL_OK : TOOL_LATER;
}

static const GOptionEntry options[] = {ARCHIVER_OPTION, G_OPTION_ENTRY_NULL};

const Command archive_export = {
    .name = "export",
    .arguments = "LIST FILE",
    .summary = "Write the archived posts of a list into an mbox",
    .least = 2,
    .most = 2,
    .options = options,
    .run = run_export,
    .details = "FILE must not be there; - is standard output. Hidden posts are among them.",
};
