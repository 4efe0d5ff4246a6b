/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner fragments: the messages that wait for parts (runners/defragment/README.md). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "lists/posts/fragment_wake.h"
#include "store/lists/list.h"

#define KEY_SHOWN 16 /* digits of a set's key that ls shows */
#define MISSING_SHOWN 20

static gboolean names, all;

/* ---- ls, show ---- */

static json_t *make_row(const FragmentSet *set)
{
    g_autofree char *shown = g_strndup(set->key, KEY_SHOWN);
    int64_t now = clock_now();
    bool open = set->state == FRAGMENT_OPEN;
    json_t *row = json_pack("{so so ss sI so sI so so so so so}", "set", listing_text(shown), "list",
                            listing_text(set->list_id), "state", fragment_state_text(set->state), "parts",
                            (json_int_t)set->parts, "total", set->total > 0 ? json_integer(set->total) : json_null(),
                            "octets", (json_int_t)set->octets, "sender", listing_text(set->sender), "id",
                            listing_text(set->id), "host", listing_text(set->host), "opened_at",
                            listing_time(set->opened_at), "expires_at", listing_time(set->expires_at));
    json_object_set_new(row, "age", json_integer((now - set->opened_at) / CLOCK_SECOND));
    json_object_set_new(row, "expires_in",
                        open ? json_integer(MAX(set->expires_at - now, 0) / CLOCK_SECOND) : json_null());
    json_object_set_new(row, "reason", listing_text(set->reason));
    return row;
}

static bool show_set(const FragmentSet *set, void *data)
{
    if (!all && set->state != FRAGMENT_OPEN)
        return true;
    if (names)
        printf("%.*s\n", KEY_SHOWN, set->key);
    else
        listing_row(data, make_row(set));
    return !ferror(stdout);
}

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {
        {"set", "SET", COLUMN_TEXT},         {"list", "LIST", COLUMN_TEXT},   {"state", "STATE", COLUMN_TEXT},
        {"parts", "PARTS", COLUMN_NUMBER},   {"total", "OF", COLUMN_NUMBER},  {"octets", "OCTETS", COLUMN_NUMBER},
        {"age", "AGE", COLUMN_SPAN},         {"expires_in", "LEFT", COLUMN_SPAN}, {"host", "HOST", COLUMN_TEXT},
        {"sender", "SENDER", COLUMN_TEXT},   {"id", "ID", COLUMN_TEXT},       {NULL, NULL, COLUMN_TEXT}};
    Store *store = site_store(site, false, error);
    g_autoptr(List) list = store && argc > 0 ? site_list_find(store, argv[0], error) : NULL;
    if (!store || (argc > 0 && !list))
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    const FragmentChoice choice = {.list_id = list ? list->list_id : NULL, .every_state = all};
    return fragment_each(store, &choice, show_set, listing, error) ? TOOL_OK : TOOL_LATER;
}

static int run_show(Site *site, int argc, char **argv, GError **error)
{
    Store *store = site_store(site, false, error);
    g_autoptr(FragmentSet) set = store ? fragment_find_prefix(store, argv[0], error) : NULL;
    g_autoptr(GPtrArray) parts = set ? fragment_parts(store, set->key, error) : NULL;
    if (!parts)
        return TOOL_LATER;
    json_t *shown = make_row(set), *present = json_array(), *missing = json_array();
    for (guint i = 0; i < parts->len; i++) {
        const FragmentPart *part = parts->pdata[i];
        json_array_append_new(present, json_option ? json_pack("{sI sI ss}", "number", (json_int_t)part->number,
                                                               "octets", (json_int_t)part->octets, "entry", part->entry)
                                                   : json_sprintf("%" PRId64, part->number));
    }
    /* The numbers that are not there, as far as the total is known. */
    guint at = 0;
    for (int64_t number = 1; number <= set->total && json_array_size(missing) < MISSING_SHOWN; number++) {
        if (at < parts->len && ((const FragmentPart *)parts->pdata[at])->number == number)
            at++;
        else
            json_array_append_new(missing, json_integer(number));
    }
    json_object_set_new(shown, "set", listing_text(set->key));
    json_object_set_new(shown, json_option ? "parts" : "present", present);
    json_object_set_new(shown, "missing", missing);
    listing_show(shown, json_option);
    return TOOL_OK;
}

/* ---- release, drop ---- */

/* In a transaction. The entry is stored before the commit: should that fail, the runner is woken for nothing. */
static bool end_set(Site *site, Store *store, const char *name, FragmentState state, char **key, GError **error)
{
    g_autoptr(FragmentSet) set = fragment_find_prefix(store, name, error);
    const char *host = config_string(site_config(site, error), "site", "hostname");
    Spool *spool = set ? site_spool(site, error) : NULL;
    if (!spool)
        return false;
    *key = g_strndup(set->key, KEY_SHOWN);
    if (strcmp(set->host, host) != 0)
        return fail(error, FAIL_NEVER, "its parts are on the host %s; give the command there", set->host);
    if (set->state != FRAGMENT_OPEN && set->state != FRAGMENT_QUARANTINED)
        return fail(error, FAIL_EXISTS, "it is %s already", fragment_state_text(set->state));
    return fragment_end(store, set->key, &(FragmentEnd){.state = state, .time = clock_now()}, error) &&
           fragment_wake(spool, set, error);
}

static int decide(Site *site, const void *kind, char **argv, GError **error)
{
    const FragmentState state = *(const FragmentState *)kind;
    Store *store = site_store(site, false, error);
    if (!store)
        return TOOL_LATER;
    int worst = TOOL_OK;
    for (char **name = argv; *name; name++) {
        g_autoptr(GError) refusal = NULL;
        g_autofree char *key = NULL;
        bool done = store_begin(store, &refusal);
        if (done && end_set(site, store, *name, state, &key, &refusal))
            done = store_commit(store, &refusal);
        else if (done)
            store_rollback(store);
        if (!refusal) {
            printf("%s %s\n", key, fragment_state_text(state));
            continue;
        }
        fprintf(stderr, "listrunner fragments: %s is not %s: %s\n", key ? key : *name, fragment_state_text(state),
                refusal->message);
        worst = MAX(worst, command_exit_code(refusal));
    }
    return worst;
}

static const GOptionEntry ls_options[] = {
    {"all", 'a', 0, G_OPTION_ARG_NONE, &all, "also those that have ended and are remembered", NULL},
    JSON_ROWS_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only the names of the sets", NULL},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry show_options[] = {
    {"json", 0, 0, G_OPTION_ARG_NONE, &json_option, "one JSON object, with every part", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command ls = {
    .name = "ls", .arguments = "[LIST]", .summary = "Show the messages that wait for parts", .most = 1,
    .options = ls_options, .run = run_ls,
};

static const Command show = {
    .name = "show", .arguments = "SET", .summary = "Show one of them, and which parts are there", .least = 1, .most = 1,
    .details = "A set is named by the first digits of its name, as many as are needed to tell it from others.",
    .options = show_options, .run = run_show,
};

static const Command release = {
    .name = "release", .arguments = "SET...", .summary = "Let the parts go on to the list as they are", .least = 1,
    .most = -1, .run_kind = decide, .kind = &(const FragmentState){FRAGMENT_RELEASED},
};

static const Command drop = {
    .name = "drop", .arguments = "SET...", .summary = "Throw the parts away, telling nobody", .least = 1, .most = -1,
    .run_kind = decide, .kind = &(const FragmentState){FRAGMENT_DROPPED},
};

static const Command *const verbs[] = {&ls, &show, &release, &drop, NULL};

const Command cmd_fragments = {
    .name = "fragments", .arguments = "", .summary = "Show messages that wait for parts, release or drop them",
    .verbs = verbs,
};
