/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner host: the hosts that share the database. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cli/admin/host_adopt.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "lists/hosts/host_state.h"
#include "store/hosts/host.h"
#include "store/hosts/lost_spool.h"

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

/* Another host than name that takes mail. */
static bool is_another(const GPtrArray *hosts, const char *name)
{
    for (guint at = 0; at < hosts->len; at++) {
        const Host *host = hosts->pdata[at];
        if (host->living && !host->draining && strcmp(host->name, name) != 0)
            return true;
    }
    return false;
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
    if (!undo && !is_another(hosts, argv[0]))
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

static int remove_lost(Store *store, const char *name, GError **error)
{
    static const Column columns[] = {{"kind", "KIND", COLUMN_TEXT},
                                     {"list", "LIST", COLUMN_TEXT},
                                     {"name", "NAME", COLUMN_TEXT},
                                     {"time", "TIME", COLUMN_TEXT},
                                     {NULL, NULL, COLUMN_TEXT}};
    g_auto(LostSpool) lost = {0};
    if (!lost_spool_remove(store, name, dry_run, &lost, error))
        return TOOL_LATER;
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
    say_what_waited(name, &lost);
    if (dry_run)
        puts("Nothing was changed.");
    else
        printf("%s is forgotten.\n", name);
    return TOOL_OK;
}

static int run_remove(Site *site, int argc, char **argv, GError **error)
{
    Store *store = site_store(site, false, error);
    if (!lost_too && (dry_run || json_option)) {
        fputs("--dry-run and --json go with --lost\n", stderr);
        return TOOL_USAGE;
    }
    if (store && lost_too)
        return remove_lost(store, argv[0], error);
    if (!store || !host_remove(store, argv[0], error))
        return TOOL_LATER;
    printf("%s is forgotten\n", argv[0]);
    return TOOL_OK;
}

static int run_adopt(Site *site, int argc, char **argv, GError **error)
{
    const HostAdoption adoption = {.name = argv[0], .spool = spool_directory, .program = SBINDIR "/listrunner-master"};
    if (!spool_directory) {
        fputs("--spool is missing: where the spool of the dead host is mounted\n", stderr);
        return TOOL_USAGE;
    }
    return host_adopt(site, &adoption, error);
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
