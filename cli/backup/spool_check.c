/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/fail.h"
#include "cli/backup/spool_queue.h"
#include "cli/backup/spool_served.h"
#include "cli/command.h"
#include "lists/hosts/this_host.h"
#include "lists/kept.h"
#include "lists/keys.h"
#include "switchboard/operate.h"
#include "switchboard/prepared.h"
#include "switchboard/stray.h"

static gboolean repair;

static void done(void *data, void *token, const GError *error)
{
    (void)data; /* nothing is moved by a hop here */
    (void)token;
    (void)error;
}

/* Check the files that lie in the spool beside its queues. */
static bool check_top(SpoolCheck *check, GError **error)
{
    int fd = openat(spool_fd(check->spool), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (!directory) {
        fail_errno(error, FAIL_LATER, "list %s", spool_path(check->spool));
        if (fd >= 0)
            close(fd);
        return false;
    }
    /* .out is what the runner out has learnt of destinations, .watch what watch has told, .shadow is of the shadow. */
    static const char *const ours[] = {".",
                                       "..",
                                       ".master",
                                       ".out",
                                       SPOOL_RECORDS,
                                       SPOOL_BACKUP,
                                       SPOOL_RESTORING,
                                       OPERATE_LOCK_FILE,
                                       PREPARED_LOCK_FILE,
                                       KEPT_KEY_FILE,
                                       SPOOL_ID_FILE,
                                       THIS_HOST_FILE,
                                       THIS_HOST_SITE_FILE,
                                       ".watch",
                                       ".shadow",
                                       "lost+found",
                                       NULL};
    const struct dirent *found;
    while ((found = readdir(directory)) != NULL) {
        struct stat status;
        const char *name = found->d_name;
        if (g_strv_contains(ours, name) || fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (!S_ISDIR(status.st_mode) || !queue_name_valid(name))
            findings_note(&check->findings, "foreign", NULL, name,
                          g_strdup("no queue of Listrunner; it is never touched"));
    }
    closedir(directory);
    return true;
}

/* Queues that were there. */
static bool check_missing(SpoolCheck *check, GError **error)
{
    check->missing = spool_missing_queues(check->spool, error);
    for (char **name = check->missing; name && *name; name++) {
        g_autoptr(GError) fault = NULL;
        struct stat status;
        bool gone = fstatat(spool_fd(check->spool), *name, &status, AT_SYMLINK_NOFOLLOW) != 0;
        if (repair && spool_queue_again(check->spool, *name, &fault))
            findings_repaired(&check->findings, "missing", *name, NULL, g_strdup("the directory was made"));
        else
            findings_fault(&check->findings, "missing", *name, NULL,
                           fault   ? g_strdup(fault->message)
                           : !gone ? g_strdup("there is something else in the place of its directory")
                                   : g_strdup("the directory was there and is gone, and mail for it waits; put it "
                                              "back, or make an empty one with --repair"));
    }
    return check->missing != NULL;
}

static void need(SpoolCheck *check, const char *queue)
{
    struct stat status;
    g_hash_table_add(check->runners, g_strdup(queue));
    if (fstatat(spool_fd(check->spool), queue, &status, 0) == 0 || errno != ENOENT)
        return;
    g_autoptr(GError) fault = NULL;
    if (repair && spool_queue(check->spool, queue, &fault))
        findings_repaired(&check->findings, "missing", queue, NULL, g_strdup("the directory was made"));
    else if (repair)
        findings_fault(&check->findings, "missing", queue, NULL, g_strdup(fault->message));
    else if (!g_strv_contains((const char *const *)check->missing, queue))
        findings_note(&check->findings, "missing", queue, NULL,
                      g_strdup("there is no directory; its runner makes it when it starts"));
}

/* The queues of the configured runners. A listener has none. */
static void check_needed(SpoolCheck *check, const Config *config)
{
    for (const char *const *name = config_family(config, "runner"); *name; name++) {
        g_autofree char *section = g_strdup_printf("runner.%s", *name);
        const char *queue = config_string(config, section, "queue");
        if (!queue)
            continue;
        need(check, queue);
        if (strcmp(*name, "out") == 0) {
            need(check, "retry");
            need(check, NOTICE_QUEUE);
        }
    }
}

static bool check_queues(SpoolCheck *check, GError **error)
{
    g_auto(GStrv) names = spool_queue_names(check->spool, error);
    for (char **name = names; name && *name; name++) {
        g_autoptr(GError) fault = NULL;
        Queue *queue = spool_queue(check->spool, *name, &fault);
        if (!queue)
            findings_fault(&check->findings, "directory", *name, NULL, g_strdup(fault->message));
        else if (!spool_queue_check(check, queue, error))
            return false;
    }
    return names != NULL;
}

static bool check_strays(SpoolCheck *check, GError **error)
{
    g_autoptr(GPtrArray) strays = stray_find(check->spool, error);
    for (guint i = 0; strays && i < strays->len; i++) {
        const Stray *stray = strays->pdata[i];
        findings_fault(&check->findings, "stray", queue_name(stray->queue), stray->file,
                       g_strdup("a part of an interrupted step whose origin is gone"));
    }
    return strays != NULL;
}

static void repair_damaged(SpoolCheck *check, Operate *operate)
{
    for (guint i = 0; i < check->damaged->len; i++) {
        const Damaged *damaged = &g_array_index(check->damaged, Damaged, i);
        char name[NAME_SIZE];
        g_autoptr(GError) fault = NULL;
        name_format(&damaged->name, name);
        const char *queue = queue_name(damaged->queue);
        if (operate_set_corrupt(operate, damaged->queue, &damaged->name, &fault))
            findings_repaired(&check->findings, "damaged", queue, name, g_strdup("moved to corrupt, whole"));
        else if (g_error_matches(fault, FAIL, FAIL_MISSING))
            findings_note(&check->findings, "damaged", queue, name, g_strdup("held by a runner, not touched"));
        else
            findings_fault(&check->findings, "damaged", queue, name, g_strdup(fault->message));
    }
}

/* Under the lock they are looked for again: what a killed command left is settled by now. */
static bool repair_strays(SpoolCheck *check, Operate *operate, GError **error)
{
    g_autoptr(GPtrArray) strays = stray_find(check->spool, error);
    for (guint i = 0; strays && i < strays->len; i++) {
        const Stray *stray = strays->pdata[i];
        g_autoptr(GError) fault = NULL;
        const char *queue = queue_name(stray->queue);
        if (operate_set_stray_aside(operate, stray->queue, stray->file, &fault))
            findings_repaired(&check->findings, "stray", queue, stray->file, g_strdup("moved to shunt, whole"));
        else
            findings_fault(&check->findings, "stray", queue, stray->file, g_strdup(fault->message));
    }
    return strays != NULL;
}

static bool mend(SpoolCheck *check, GError **error)
{
    g_autoptr(Operate) operate = operate_open(check->spool, true, done, NULL, error);
    if (!operate)
        return false;
    repair_damaged(check, operate);
    return repair_strays(check, operate, error) && operate_end(operate, error);
}

static bool check_all(SpoolCheck *check, const Config *config, GError **error)
{
    struct stat status;
    if (fstat(spool_fd(check->spool), &status) != 0)
        return fail_errno(error, FAIL_LATER, "stat %s", spool_path(check->spool));
    check->owner = status.st_uid;
    check->master = spool_has_master(check->spool);
    check->command = spool_has_command(check->spool);
    check->tmp_lifetime = config_duration(config, "spool", "tmp_lifetime");
    if (!check_missing(check, error))
        return false;
    check_needed(check, config);
    return check_top(check, error) && check_queues(check, error) && check_strays(check, error) &&
           (!repair || mend(check, error));
}

static int run_check(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {{"level", "LEVEL", COLUMN_TEXT}, {"kind", "KIND", COLUMN_TEXT},
                                     {"queue", "QUEUE", COLUMN_TEXT}, {"file", "FILE", COLUMN_TEXT},
                                     {"text", "WHAT", COLUMN_TEXT},   {NULL, NULL, COLUMN_TEXT}};
    (void)argc;
    (void)argv;
    const Config *config = site_config(site, error);
    Spool *spool = config ? site_spool(site, error) : NULL;
    if (!spool)
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    g_autoptr(GHashTable) runners = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GArray) damaged = g_array_new(FALSE, FALSE, sizeof(Damaged));
    SpoolCheck check = {.spool = spool, .runners = runners, .damaged = damaged, .findings.listing = listing};
    bool sound = check_all(&check, config, error);
    g_strfreev(check.missing);
    g_clear_pointer(&listing, listing_free);
    if (!sound)
        return TOOL_LATER;
    if (!json_option)
        printf("%" G_GUINT64_FORMAT " entries are sound; %u faults, %u repaired, %u notes\n", check.entries,
               check.findings.faults, check.findings.repaired, check.findings.notes);
    return check.findings.faults > 0 ? TOOL_NOT_SO : TOOL_OK;
}

static const GOptionEntry options[] = {
    {"repair", 0, 0, G_OPTION_ARG_NONE, &repair, "mend what can be mended without a person", NULL},
    JSON_ROWS_OPTION,
    G_OPTION_ENTRY_NULL,
};

static const Command spool_check = {
    .name = "check",
    .arguments = "",
    .summary = "Verify every file of the spool and report what is not as it should be",
    .details = "Without --repair nothing is changed. With it, damaged entries go to corrupt and strays to shunt, both\n"
               "whole, missing directories are made, and what a killed command left is settled. What runners hold is\n"
               "never touched. Exit code 1: there were faults, also when they were repaired just now.",
    .options = options,
    .run = run_check,
};

static const Command *const verbs[] = {&spool_check, NULL};

const Command cmd_spool = {
    .name = "spool",
    .arguments = "",
    .summary = "Check the files of the spool",
    .verbs = verbs,
};
