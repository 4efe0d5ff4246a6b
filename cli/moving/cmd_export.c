/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner export: a site leaves, as lines of JSON (lists/moving/leaving.h). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "cli/command.h"
#include "cli/work_site.h"
#include "lists/moving/leaving.h"
#include "store/lists/domain.h"
#include "store/lists/list.h"
#include "store/moving/carry.h"

static char **list_option, *domain_option, *output_option;
static gboolean no_secrets;

/* A file that is new, or empty and our own: who gave up the right to remove one leaves it so. */
static FILE *open_named(const char *path, GError **error)
{
    struct stat status;
    auto_fd fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0 || fstat(fd, &status) != 0) {
        fail_errno(error, errno == ENOENT ? FAIL_MISSING : FAIL_LATER, "%s", path);
        return NULL;
    }
    bool others = status.st_uid != geteuid(); /* whoever put it there could read it */
    if (!S_ISREG(status.st_mode) || status.st_size > 0 || others) {
        fail(error, FAIL_EXISTS, "%s is there already%s", path, others ? ", and is another user's" : "");
        return NULL;
    }
    FILE *file = fchmod(fd, 0600) == 0 ? fdopen(fd, "w") : NULL;
    if (file)
        auto_fd_steal(&fd);
    else
        fail_errno(error, FAIL_LATER, "%s", path);
    return file;
}

/* The ids of the lists that were chosen, each once; NULL with error. */
static char **find_lists(Store *store, GError **error)
{
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
    for (char **name = list_option; name && *name; name++) {
        g_autoptr(List) list = list_by_address(store, *name, error);
        if (!list)
            return NULL;
        if (!g_ptr_array_find_with_equal_func(ids, list->list_id, g_str_equal, NULL))
            g_ptr_array_add(ids, g_strdup(list->list_id));
    }
    g_autoptr(Domain) domain = domain_option ? domain_find(store, domain_option, error) : NULL;
    g_auto(GStrv) lists = domain ? carry_lists(store, domain->mail_host, error) : NULL;
    if (domain_option && !lists)
        return NULL;
    for (char **list = lists; list && *list; list++)
        if (!g_ptr_array_find_with_equal_func(ids, *list, g_str_equal, NULL))
            g_ptr_array_add(ids, g_strdup(*list));
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

static int run_export(Site *site, int argc, char **argv, GError **error)
{
    (void)argc, (void)argv;
    uint64_t lines = 0;
    WorkPlace place = {0};
    bool some = list_option || domain_option;
    if (g_strcmp0(output_option, "-") == 0)
        output_option = NULL;
    /* Before the right to write there may be given up. Standard output is written by way of a file without a name, so
     * that writers to the store wait for no reader of a pipe. */
    FILE *output = output_option ? open_named(output_option, error) : tmpfile();
    if (!output && !output_option)
        fail_errno(error, FAIL_LATER, "a file for what is written");
    if (!output)
        return TOOL_LATER;
    bool done = work_place_store(&place, site, error);
    g_auto(GStrv) ids = done && some ? find_lists(place.store, error) : NULL;
    const LeavingChoice choice = {.lists = ids, .no_secrets = no_secrets};
    done = done && (!some || ids) && leaving_write(place.store, &choice, output, &lines, error) &&
           (fflush(output) == 0 || fail_errno(error, FAIL_LATER, "write"));
    if (done && output_option && fsync(fileno(output)) != 0)
        done = fail_errno(error, FAIL_LATER, "write %s", output_option);
    if (done && !output_option)
        done = copy_out(output, error);
    auto_fd fd = dup(fileno(output));
    fclose(output); /* which may write the last of what fails */
    if (output_option && done)
        printf("%" PRIu64 " lines\n", lines);
    else if (output_option && ftruncate(fd, 0) == 0)
        unlink(output_option);
    return done ? TOOL_OK : TOOL_LATER;
}

static const GOptionEntry export_options[] = {
    {"list", 0, 0, G_OPTION_ARG_STRING_ARRAY, &list_option,
     "only this list and the people of it; may be given more than once", "LIST"},
    {"domain", 0, 0, G_OPTION_ARG_STRING, &domain_option, "only the lists of this domain and the people of them",
     "DOMAIN"},
    {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output_option,
     "a file that is not there yet, which only you may read (- and by default: standard output)", "FILE"},
    {"no-secrets", 0, 0, G_OPTION_ARG_NONE, &no_secrets,
     "leave out hashes of passwords, tokens of letters and of programs, and the keys that sign addresses", NULL},
    G_OPTION_ENTRY_NULL,
};

const Command cmd_export = {
    .name = "export",
    .arguments = "",
    .summary = "Write the site, or some lists, as lines of JSON",
    .options = export_options,
    .run = run_export,
    .details =
        "`listrunner import listrunner` reads it. Without --no-secrets it holds what lets its reader act as others: "
        "keep it as you keep the database. Archives leave by `archive export`.",
};
