/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/admin/host_adopt.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/queues/queue_files.h"
#include "store/hosts/host.h"
#include "store/outbox.h"

#define LOOK_PAUSE (G_USEC_PER_SEC / 2)
#define LOOKS_EMPTY 4 /* in a row: what one queue has given away is in another one by then */

static volatile sig_atomic_t told_to_end;

static void on_signal(int number)
{
    told_to_end = number;
}

/* ---- the configuration of the second master ---- */

static bool is_section(const char *line, const char *section)
{
    size_t length = strlen(section);
    return line[0] == '[' && strncmp(line + 1, section, length) == 0 && line[1 + length] == ']';
}

static bool is_key(const char *line, const char *key)
{
    size_t length = strlen(key);
    return strncmp(line, key, length) == 0 && line[length + strspn(line + length, " \t")] == '=';
}

/* The text of a configuration with other values: rows of section, key, value end with NULL. Its own values of these
 * keys are left out, since none may be given twice, and the new ones are added at the end. g_free(). */
static char *with_other_values(const char *text, const char *const (*rows)[3])
{
    g_autoptr(GString) made = g_string_new(NULL);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    const char *section = "";
    bool left_out = false; /* the last key was, and so are the lines that go on with its value */
    for (char **line = lines; *line; line++) {
        if (**line == '[')
            section = *line;
        if (!g_ascii_isspace(**line))
            left_out = false;
        for (size_t row = 0; rows[row][0]; row++)
            left_out |= is_section(section, rows[row][0]) && is_key(*line, rows[row][1]);
        if (!left_out)
            g_string_append_printf(made, "%s\n", *line);
    }
    for (size_t row = 0; rows[row][0]; row++)
        g_string_append_printf(made, "[%s]\n%s = %s\n", rows[row][0], rows[row][1], rows[row][2]);
    return g_string_free(g_steal_pointer(&made), FALSE);
}

/* Make a directory of this adoption beside the sockets of this host's own master, and the configuration in it. What
 * comes from outside comes to this host's own processes. g_free(). */
static char *write_configuration(Site *site, const HostAdoption *adoption, GError **error)
{
    const Config *config = site_config(site, error);
    g_autofree char *text = NULL, *folder = g_strconcat("adopt-", adoption->name, NULL);
    g_autofree char *runtime = g_build_filename(config_string(config, "master", "runtime_directory"), folder, NULL);
    g_autofree char *path = g_build_filename(runtime, "listrunner.conf", NULL);
    g_autofree char *spool = g_canonicalize_filename(adoption->spool, NULL);
    const char *const rows[][3] = {
        {"site", "hostname", adoption->name}, {"site", "site_owner", config_string(config, "site", "site_owner")},
        {"spool", "directory", spool},        {"master", "runtime_directory", runtime},
        {"runner.lmtp", "start", "no"},       {"runner.rest", "start", "no"},
        {"runner.web", "start", "no"},        {"runner.mta", "start", "no"},
        {"runner.nntp", "start", "no"},       {"runner.door", "start", "no"},
        {NULL, NULL, NULL}};
    if (!g_file_get_contents(site_config_path(site), &text, NULL, error))
        return NULL;
    g_autofree char *made = with_other_values(text, rows);
    if (g_mkdir(runtime, 0750) != 0 && errno != EEXIST) {
        fail_errno(error, FAIL_LATER, "make the directory %s", runtime);
        return NULL;
    }
    return g_file_set_contents_full(path, made, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, error)
               ? g_steal_pointer(&path)
               : NULL;
}

/* ---- what is in the spool ---- */

static bool count_file(const QueueFile *found, const char *file, void *data)
{
    (void)file;
    int64_t *count = data;
    *count += found->state != QUEUE_FOREIGN && found->state != QUEUE_PRESERVED;
    return true;
}

/* *work: what the runners work on; *rest: what waits for a person. */
static bool count_entries(Spool *spool, int64_t *work, int64_t *rest, GError **error)
{
    g_auto(GStrv) queues = queue_files_choose(spool, 0, NULL, error);
    *work = *rest = 0;
    for (char **name = queues; name && *name; name++) {
        bool waits = strcmp(*name, HOLD_QUEUE) == 0 || strcmp(*name, SHUNT_QUEUE) == 0;
        Queue *queue = spool_queue(spool, *name, error);
        if (!queue || !queue_files_each(queue, count_file, waits ? rest : work, error))
            return false;
    }
    return queues != NULL;
}

static bool is_empty(Store *store, Spool *spool, const char *name, int64_t *rest, GError **error)
{
    int64_t work, units, oldest;
    return count_entries(spool, &work, rest, error) && outbox_count(store, name, &units, &oldest, error) && work == 0 &&
           units == 0;
}

/* ---- the second master ---- */

static pid_t launch(const char *program, const char *path)
{
    pid_t parent = getpid(), child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* it does not outlive who looks after it */
    if (getppid() == parent)
        execl(program, program, "-c", path, (char *)NULL);
    fprintf(stderr, "run %s: %s\n", program, strerror(errno));
    _exit(TOOL_CONFIG);
}

/* Wait until the spool is empty; then, or when told to, end the master. Return its exit status. */
static int look_after(pid_t master, Store *store, Spool *spool, const char *name, int64_t *rest)
{
    int status, looks = 0;
    bool ending = false;
    while (waitpid(master, &status, WNOHANG) == 0) {
        g_autoptr(GError) fault = NULL; /* of a database that is away: it is asked again */
        looks = is_empty(store, spool, name, rest, &fault) ? looks + 1 : 0;
        if (!ending && (told_to_end || looks >= LOOKS_EMPTY)) {
            kill(master, SIGTERM);
            ending = true;
        }
        g_usleep(LOOK_PAUSE);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : TOOL_LATER;
}

/* The runners look again themselves; this tells it before anything is started. */
static bool may_adopt(const GPtrArray *hosts, const HostAdoption *adoption, const char *spool, GError **error)
{
    for (guint at = 0; at < hosts->len; at++) {
        const Host *host = hosts->pdata[at];
        if (strcmp(host->name, adoption->name) != 0)
            continue;
        if (host->living)
            return fail(error, FAIL_EXISTS, "the host %s lives: nobody else may work its spool", host->name);
        return strcmp(host->spool, spool) == 0 ||
               fail(error, FAIL_CONFIG, "the spool %s is not that of the host %s", adoption->spool, host->name);
    }
    return fail(error, FAIL_MISSING, "there is no host %s", adoption->name);
}

static int work(Site *site, const HostAdoption *adoption, Store *store, Spool *spool, GError **error)
{
    int64_t work_left = 0, rest = 0;
    g_autofree char *path = write_configuration(site, adoption, error);
    /* Drained, it takes no claim of what only one host does: this host has those already, or another one. */
    if (!path || !host_set_draining(store, adoption->name, true, error))
        return TOOL_LATER;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    pid_t master = launch(adoption->program, path);
    if (master < 0) {
        fail_errno(error, FAIL_LATER, "fork");
        return TOOL_LATER;
    }
    int code = look_after(master, store, spool, adoption->name, &rest);
    g_unlink(path);
    if (code != 0) {
        fail(error, FAIL_LATER, "the master of the adopted spool ended, exit code %d", code);
        return code;
    }
    if (!count_entries(spool, &work_left, &rest, error))
        return TOOL_LATER;
    if (work_left > 0) {
        printf("%s: %" G_GINT64_FORMAT " entries are left; give the command again to go on\n", adoption->name,
               work_left);
        return TOOL_NOT_SO;
    }
    printf("The spool of %s is empty%s. \"host remove %s\" forgets the host, \"host drain --undo %s\" lets it take "
           "mail.\n",
           adoption->name, rest > 0 ? " but for what waits for a person in hold and shunt" : "", adoption->name,
           adoption->name);
    return TOOL_OK;
}

int host_adopt(Site *site, const HostAdoption *adoption, GError **error)
{
    g_autofree char *path = g_build_filename(adoption->spool, SPOOL_ID_FILE, NULL);
    Store *store = site_store(site, false, error);
    if (!store)
        return TOOL_LATER;
    if (!g_file_test(path, G_FILE_TEST_EXISTS)) { /* opened, it would be made */
        fail(error, FAIL_MISSING, "%s is no spool of a host: it has no file " SPOOL_ID_FILE, adoption->spool);
        return TOOL_LATER;
    }
    g_autoptr(Spool) spool = spool_open(adoption->spool, error);
    const char *id = spool ? spool_id(spool, error) : NULL;
    g_autoptr(GPtrArray) hosts = id ? host_all(store, error) : NULL;
    if (!hosts || !may_adopt(hosts, adoption, id, error))
        return TOOL_LATER;
    return work(site, adoption, store, spool, error);
}
