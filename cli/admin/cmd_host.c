/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner host: the hosts that share the database. */
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

#include "base/clock.h"
#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "cli/queues/queue_files.h"
#include "lists/hosts/host_state.h"
#include "store/hosts/host.h"
#include "store/hosts/lost_spool.h"
#include "store/outbox.h"

#define LOOK_PAUSE (G_USEC_PER_SEC / 2)
#define LOOKS_EMPTY 4 /* in a row: what one queue has given away is in another one by then */

static gboolean undo, lost_too, dry_run;
static char *spool_directory;

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {{"name", "HOST", COLUMN_TEXT},
                                     {"state", "STATE", COLUMN_TEXT},
                                     {"version", "VERSION", COLUMN_TEXT},
                                     {"schema", "SCHEMA", COLUMN_NUMBER},
                                     {"epoch", "EPOCH", COLUMN_NUMBER},
                                     {"backlog", "BACKLOG", COLUMN_NUMBER},
                                     {"waiting", "WAITING", COLUMN_NUMBER},
                                     {"started_at", "STARTED", COLUMN_TEXT},
                                     {"seen_at", "SEEN", COLUMN_TEXT},
                                     {NULL, NULL, COLUMN_TEXT}};
    Store *store = site_store(site, false, error);
    g_autoptr(GPtrArray) hosts = store ? host_all(store, error) : NULL;
    if (!hosts)
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    for (guint at = 0; at < hosts->len; at++)
        listing_row(listing, host_state(hosts->pdata[at], listing_time));
    return TOOL_OK;
}

static int run_show(Site *site, int argc, char **argv, GError **error)
{
    Store *store = site_store(site, false, error);
    g_autoptr(GPtrArray) hosts = store ? host_all(store, error) : NULL;
    for (guint at = 0; hosts && at < hosts->len; at++) {
        const Host *host = hosts->pdata[at];
        if (strcmp(host->name, argv[0]) != 0)
            continue;
        json_t *row = host_state(host, listing_time), *runners = json_array(), *runner;
        size_t place;
        json_array_foreach(json_object_get(json_object_get(row, "said"), "runners"), place, runner)
            json_array_append_new(runners, json_sprintf("%s: %" JSON_INTEGER_FORMAT " wait, %" JSON_INTEGER_FORMAT
                                                        " done since its start",
                                                        json_string_value(json_object_get(runner, "runner")),
                                                        json_integer_value(json_object_get(runner, "backlog")),
                                                        json_integer_value(json_object_get(runner, "done"))));
        if (json_option)
            json_decref(runners);
        else
            json_object_set_new(row, "said", runners);
        listing_show(row, json_option);
        return TOOL_OK;
    }
    if (hosts)
        fail(error, FAIL_MISSING, "there is no host %s", argv[0]);
    return TOOL_LATER;
}

static int run_drain(Site *site, int argc, char **argv, GError **error)
{
    Store *store = site_store(site, false, error);
    if (!store || !host_set_draining(store, argv[0], !undo, error))
        return TOOL_LATER;
    g_autoptr(GPtrArray) hosts = host_all(store, error);
    if (!hosts)
        return TOOL_LATER;
    if (undo)
        printf("%s takes mail again when it renews its lease next\n", argv[0]);
    else
        printf("%s takes no new mail from the next renewal of its lease on, and works off what it has\n", argv[0]);
    bool another = false; /* takes mail */
    for (guint at = 0; at < hosts->len; at++) {
        const Host *host = hosts->pdata[at];
        another |= host->living && !host->draining && strcmp(host->name, argv[0]) != 0;
    }
    if (!undo && !another)
        plain_complain("No other host lives and takes mail: all mail waits at the servers in front, and nobody does "
                       "the jobs of the timer, until \"host drain --undo\".");
    return TOOL_OK;
}

/* Print how much was waiting there, which the database does not know. */
static void say_what_waited(const char *name, const LostSpool *lost)
{
    json_t *said = json_loads(lost->state, 0, NULL), *runner;
    g_autofree char *seen = clock_text(lost->seen_at), *since = clock_text(lost->since);
    g_autoptr(GString) waited = g_string_new(NULL);
    size_t at;
    json_array_foreach(json_object_get(said, "runners"), at, runner) {
        json_int_t backlog = json_integer_value(json_object_get(runner, "backlog"));
        if (backlog > 0)
            g_string_append_printf(waited, "%s%s %" JSON_INTEGER_FORMAT, waited->len > 0 ? ", " : "",
                                   json_string_value(json_object_get(runner, "runner")), backlog);
    }
    json_decref(said);
    printf("%s was last heard of at %s; what waited for its runners then: %s.\n", name, seen,
           waited->len > 0 ? waited->str : "nothing");
    if (lost->since > 0)
        printf("Its spool was last seen empty at %s: what came before has gone out.\n", since);
    else
        printf("Its spool was never seen empty: all posts that the database remembers are shown.\n");
}

static int run_remove(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {{"kind", "KIND", COLUMN_TEXT},
                                     {"list", "LIST", COLUMN_TEXT},
                                     {"name", "NAME", COLUMN_TEXT},
                                     {"time", "TIME", COLUMN_TEXT},
                                     {NULL, NULL, COLUMN_TEXT}};
    g_auto(LostSpool) lost = {0};
    Store *store = site_store(site, false, error);
    if (!lost_too && (dry_run || json_option)) {
        fputs("--dry-run and --json go with --lost\n", stderr);
        return TOOL_USAGE;
    }
    if (!store ||
        !(lost_too ? lost_spool_remove(store, argv[0], dry_run, &lost, error) : host_remove(store, argv[0], error)))
        return TOOL_LATER;
    if (!lost_too) {
        printf("%s is forgotten\n", argv[0]);
        return TOOL_OK;
    }
    Listing *listing = listing_new(columns, json_option);
    for (guint at = 0; at < lost.things->len; at++) {
        const LostThing *thing = lost.things->pdata[at];
        listing_row(listing, json_pack("{ss so so so}", "kind", thing->kind, "list",
                                       listing_text(*thing->list_id ? thing->list_id : NULL), "name",
                                       listing_text(thing->name), "time", listing_time(thing->time)));
    }
    listing_free(listing);
    if (json_option)
        return TOOL_OK;
    say_what_waited(argv[0], &lost);
    if (dry_run)
        puts("Nothing was changed.");
    else
        printf("%s is forgotten.\n", argv[0]);
    return TOOL_OK;
}

/* ---- adopt ---- */

/*
 * Adopt the spool of a host that died: a second master on this host works it under the dead host's name until it is
 * empty. That master begins the next epoch of the dead host, as the host itself would. So the lock in the spool, the
 * lease in the database and the epoch in both (lists/hosts/this_host.h) keep two masters from one spool here, too.
 */

static volatile sig_atomic_t told_to_end;

static void on_signal(int number)
{
    told_to_end = number;
}

/* ---- the configuration of the second master ---- */

/* Does the line, below the head of its section, set the key of this row? */
static bool sets(const char *section, const char *line, const char *const row[3])
{
    size_t name = strlen(row[0]), key = strlen(row[1]);
    return section[0] == '[' && strncmp(section + 1, row[0], name) == 0 && section[1 + name] == ']' &&
           strncmp(line, row[1], key) == 0 && line[key + strspn(line + key, " \t")] == '=';
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
            left_out |= sets(section, *line, rows[row]);
        if (!left_out)
            g_string_append_printf(made, "%s\n", *line);
    }
    for (size_t row = 0; rows[row][0]; row++)
        g_string_append_printf(made, "[%s]\n%s = %s\n", rows[row][0], rows[row][1], rows[row][2]);
    return g_string_free(g_steal_pointer(&made), FALSE);
}

/* Make a directory of this adoption beside the sockets of this host's own master, and the configuration in it. What
 * comes from outside comes to this host's own processes. g_free(). */
static char *write_configuration(Site *site, const char *name, GError **error)
{
    const Config *config = site_config(site, error);
    g_autofree char *text = NULL, *folder = g_strconcat("adopt-", name, NULL);
    g_autofree char *runtime = g_build_filename(config_string(config, "master", "runtime_directory"), folder, NULL);
    g_autofree char *path = g_build_filename(runtime, "listrunner.conf", NULL);
    g_autofree char *spool = g_canonicalize_filename(spool_directory, NULL);
    const char *const rows[][3] = {
        {"site", "hostname", name},           {"site", "site_owner", config_string(config, "site", "site_owner")},
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

/* ---- the second master ---- */

static pid_t launch(const char *path)
{
    static const char program[] = SBINDIR "/listrunner-master";
    pid_t parent = getpid(), child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* it does not outlive who looks after it */
    if (getppid() == parent)
        execl(program, program, "-c", path, (char *)NULL);
    fprintf(stderr, "run %s: %s\n", program, strerror(errno));
    _exit(TOOL_CONFIG);
}

/* Work the spool until it is empty, or until SIGINT or SIGTERM. */
static int work(Site *site, const char *name, Store *store, Spool *spool, GError **error)
{
    int status, looks = 0;
    int64_t left = 0, rest = 0, units, oldest;
    g_autofree char *path = write_configuration(site, name, error);
    /* A drained host takes no claim of what only one host does: this host has those already, or another one. */
    if (!path || !host_set_draining(store, name, true, error))
        return TOOL_LATER;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    pid_t master = launch(path);
    if (master < 0) {
        fail_errno(error, FAIL_LATER, "fork");
        return TOOL_LATER;
    }
    for (bool ending = false; waitpid(master, &status, WNOHANG) == 0; g_usleep(LOOK_PAUSE)) {
        g_autoptr(GError) fault = NULL; /* of a database that is away: it is asked again */
        bool empty = count_entries(spool, &left, &rest, &fault) && outbox_count(store, name, &units, &oldest, &fault) &&
                     left == 0 && units == 0;
        looks = empty ? looks + 1 : 0;
        if (!ending && (told_to_end || looks >= LOOKS_EMPTY))
            ending = kill(master, SIGTERM) == 0;
    }
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : TOOL_LATER;
    g_unlink(path);
    if (code != 0) {
        fail(error, FAIL_LATER, "the master of the adopted spool ended, exit code %d", code);
        return code;
    }
    if (!count_entries(spool, &left, &rest, error))
        return TOOL_LATER;
    if (left > 0) {
        printf("%s: %" G_GINT64_FORMAT " entries are left; give the command again to go on\n", name, left);
        return TOOL_NOT_SO;
    }
    printf("The spool of %s is empty%s. \"host remove %s\" forgets the host, \"host drain --undo %s\" lets it take "
           "mail.\n",
           name, rest > 0 ? " but for what waits for a person in hold and shunt" : "", name, name);
    return TOOL_OK;
}

static int run_adopt(Site *site, int argc, char **argv, GError **error)
{
    const char *name = argv[0];
    if (!spool_directory) {
        fputs("--spool is missing: where the spool of the dead host is mounted\n", stderr);
        return TOOL_USAGE;
    }
    g_autofree char *path = g_build_filename(spool_directory, SPOOL_ID_FILE, NULL);
    Store *store = site_store(site, false, error);
    if (!store)
        return TOOL_LATER;
    if (!g_file_test(path, G_FILE_TEST_EXISTS)) { /* opened, it would be made */
        fail(error, FAIL_MISSING, "%s is no spool of a host: it has no file " SPOOL_ID_FILE, spool_directory);
        return TOOL_LATER;
    }
    g_autoptr(Spool) spool = spool_open(spool_directory, error);
    const char *id = spool ? spool_id(spool, error) : NULL;
    g_autoptr(GPtrArray) hosts = id ? host_all(store, error) : NULL;
    const Host *dead = NULL;
    for (guint at = 0; hosts && at < hosts->len; at++)
        if (strcmp(((const Host *)hosts->pdata[at])->name, name) == 0)
            dead = hosts->pdata[at];
    /* The runners look again themselves; this tells it before anything is started. */
    if (hosts && !dead)
        fail(error, FAIL_MISSING, "there is no host %s", name);
    else if (dead && dead->living)
        fail(error, FAIL_EXISTS, "the host %s lives: nobody else may work its spool", name);
    else if (dead && strcmp(dead->spool, id) != 0)
        fail(error, FAIL_CONFIG, "the spool %s is not that of the host %s", spool_directory, name);
    else if (dead)
        return work(site, name, store, spool, error);
    return TOOL_LATER;
}

static const GOptionEntry adopt_options[] = {
    {"spool", 0, 0, G_OPTION_ARG_FILENAME, &spool_directory, "where its spool is mounted here", "DIRECTORY"},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry remove_options[] = {
    {"lost", 0, 0, G_OPTION_ARG_NONE, &lost_too, "its spool is lost for good: tell what was in it, and mend the rest",
     NULL},
    {"dry-run", 0, 0, G_OPTION_ARG_NONE, &dry_run, "only tell", NULL},
    {"json", 0, 0, G_OPTION_ARG_NONE, &json_option, "one JSON object a row", NULL},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry drain_options[] = {
    {"undo", 0, 0, G_OPTION_ARG_NONE, &undo, "let it take mail again", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command ls = {
    .name = "ls",
    .arguments = "",
    .summary = "Show the hosts that share the database",
    .options = json_rows_options,
    .run = run_ls,
    .details = "STATE is living, draining, stopped, or dead: its lease has run out. BACKLOG is what its runners have\n"
               "to do now, without what was put off or waits for parts, and WAITING what waits for a person in its\n"
               "queues, both as it said last; - where its master did not answer. To see whether a host is empty, give\n"
               "\"queue stat\" there.",
};

static const Command show = {
    .name = "show",
    .arguments = "HOST",
    .summary = "Show one of them with its runners",
    .least = 1,
    .most = 1,
    .options = json_object_options,
    .run = run_show,
};

static const Command drain = {
    .name = "drain",
    .arguments = "HOST",
    .summary = "Let a host take no new mail and work off what it has",
    .least = 1,
    .most = 1,
    .options = drain_options,
    .run = run_drain,
    .details =
        "Its LMTP answers 451, and jobs of the timer pass to another host. Mail goes to another host if the\n"
        "mail server in front has that one's LMTP, too; where each host has a mail server of its own, first\n"
        "take its MX away, or give that server the other host's LMTP as the second. It is empty when\n"
        "\"queue stat\", given there, shows no entry in any queue: \"host ls\" does not count mail that was put\n"
        "off. A host is drained, and \"status\" says so, until --undo.",
};

static const Command remove_verb = {
    .name = "remove",
    .arguments = "HOST",
    .summary = "Forget a host that has been stopped, or whose spool is lost",
    .least = 1,
    .most = 1,
    .options = remove_options,
    .run = run_remove,
    .details = "With --lost, KIND is: post, which may not have come to all members, and is taken when it is sent\n"
               "again; block of recipients of a large post that another host handed over, and which is taken again,\n"
               "too; archive, which may lack a post that another host handed over; notice of a held post, which is "
               "kept, and its moderators are told again; digest, whose posts\n"
               "go with the next one; parts of a message, which are forgotten; letters of a change that was made;\n"
               "request by mail, whose answers may be lost. Mail that was not judged yet stands in no row. A host\n"
               "that died is taken for one that is at work for four times [host] lease, and a minute at least.",
};

static const Command adopt = {
    .name = "adopt",
    .arguments = "HOST",
    .summary = "Work the spool of a dead host, mounted here, until it is empty",
    .least = 1,
    .most = 1,
    .options = adopt_options,
    .run = run_adopt,
    .details = "A second master works it here, under the dead host's name and beside this host's own, with the\n"
               "configuration of this host; it listens nowhere. It runs in the foreground and writes its log there;\n"
               "Ctrl-C ends it, and the command given again goes on. The host is drained by that, until\n"
               "\"host drain --undo\". A spool whose host lives, or that another master works, is refused, and so is\n"
               "the host itself if it comes back meanwhile. Exit code 1: entries are left.",
};

static const Command *const verbs[] = {&ls, &show, &drain, &adopt, &remove_verb, NULL};

const Command cmd_host = {
    .name = "host",
    .arguments = "",
    .summary = "Show the hosts that share the database, drain or forget one",
    .verbs = verbs,
};
