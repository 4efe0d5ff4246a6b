/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner address: e-mail addresses and whose they are. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/people/preference_words.h"
#include "cli/plain.h"
#include "cli/work_site.h"
#include "lists/people/change_address.h"
#include "lists/people/own_address.h"
#include "lists/people/people.h"
#include "lists/people/person.h"
#include "store/people/user.h"

#define PAGE 1000

static gboolean names, ask;
static char *user_option, *list_option;

static json_t *address_row(const KnownAddress *address)
{
    return json_pack("{so so so so so sb so}", "address", listing_text(address->original), "display_name",
                     listing_text(address->display_name), "user_id",
                     *address->user_id ? listing_text(address->user_id) : json_null(), "registered_on",
                     listing_time(address->registered_at), "verified_on", listing_time(address->verified_at),
                     "preferred", address->preferred, "preferences", preferences_json(&address->preferences));
}

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {{"address", "ADDRESS", COLUMN_TEXT},
                                     {"verified_on", "VERIFIED", COLUMN_TEXT},
                                     {"user_id", "USER", COLUMN_TEXT},
                                     {"display_name", "NAME", COLUMN_TEXT},
                                     {NULL, NULL, COLUMN_TEXT}};
    const char *who = argc > 0 ? argv[0] : NULL;
    Store *store = site_store(site, false, error);
    if (!store)
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    g_autofree char *after = NULL;
    for (;;) {
        g_autoptr(GPtrArray) page = address_page(store, who, after, 0, who ? INT_MAX : PAGE, error);
        if (!page)
            return TOOL_LATER;
        for (unsigned at = 0; at < page->len; at++) {
            const KnownAddress *address = page->pdata[at];
            if (names)
                puts(address->original);
            else
                listing_row(listing, address_row(address));
        }
        if (who || page->len < PAGE || ferror(stdout))
            return TOOL_OK;
        g_free(after);
        after = g_strdup(((const KnownAddress *)page->pdata[page->len - 1])->original);
    }
}

static int run_show(Site *site, int argc, char **argv, GError **error)
{
    Store *store = site_store(site, false, error);
    g_autoptr(Mailbox) named = mailbox_new(argv[0]);
    g_autoptr(KnownAddress) address = store ? address_find(store, named, error) : NULL;
    if (!address)
        return TOOL_LATER;
    json_t *row = address_row(address);
    if (!json_option) { /* a line for each preference */
        json_object_update(row, json_object_get(row, "preferences"));
        json_object_del(row, "preferences");
    }
    listing_show(row, json_option);
    return TOOL_OK;
}

/* ---- verbs that take addresses ---- */

typedef struct EachVerb {
    bool (*verb)(Work *work, const Mailbox *address, GError **error);
    const char *past;
} EachVerb;

/* Each for itself; the exit code is the worst. */
static int run_each(Site *site, const void *kind, char **argv, GError **error)
{
    const EachVerb *each = kind;
    int worst = TOOL_OK;
    WorkPlace place;
    for (; *argv; argv++) {
        g_autoptr(GError) refusal = NULL;
        g_autoptr(Mailbox) address = mailbox_new(*argv);
        g_autoptr(Work) work = work_place_begin(&place, site, error);
        if (!work)
            return TOOL_LATER;
        if (each->verb(work, address, &refusal) && work_commit(work, NULL, &refusal)) {
            printf("%s is %s\n", *argv, each->past);
            continue;
        }
        plain_complain("listrunner address: %s", refusal->message);
        worst = MAX(worst, command_exit_code(refusal));
    }
    return worst;
}

static bool verify(Work *work, const Mailbox *address, GError **error)
{
    return people_verify(work, address, true, error);
}

static bool unverify(Work *work, const Mailbox *address, GError **error)
{
    return people_verify(work, address, false, error);
}

/* Known from now on: of the user that --user names, or of nobody. */
static bool add(Work *work, const Mailbox *address, GError **error)
{
    g_autoptr(KnownAddress) there = NULL;
    if (!user_option)
        return people_add_address(work, address, error);
    if (!address_look_up(work_store(work), address, &there, error))
        return false;
    if (there)
        return fail(error, FAIL_NEVER, "%s is known already; listrunner address link gives it to a user",
                    address->text);
    return people_link(work, user_option, address, NULL, false, error);
}

static int run_link(Site *site, int argc, char **argv, GError **error)
{
    for (char **address = argv + 1; *address; address++) {
        WorkPlace place;
        g_autoptr(Mailbox) given = mailbox_new(*address);
        g_autoptr(Work) work = work_place_begin(&place, site, error);
        if (!work || !own_address_check_person(work, *address, error) ||
            !user_link_address(work_store(work), argv[0], given, error) || !work_commit(work, NULL, error))
            return TOOL_LATER;
        printf("%s belongs to %s\n", *address, argv[0]);
    }
    return TOOL_OK;
}

/* ---- what it prefers ---- */

/* All or nothing. */
static int run_set(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    g_autoptr(Work) work = work_place_begin(&place, site, error);
    g_autoptr(Mailbox) named = mailbox_new(argv[0]);
    g_autoptr(KnownAddress) address = work ? address_find(work_store(work), named, error) : NULL;
    if (!address)
        return TOOL_LATER;
    Preferences preferences = address->preferences;
    for (char **text = argv + 1; *text; text++) {
        const char *value;
        bool known;
        g_autofree char *name = NULL;
        if (!preference_split(*text, &name, &value, error) ||
            !preference_set(&preferences, name, value, &known, error))
            return TOOL_LATER;
        bool is_name = strcmp(name, "display_name") == 0;
        if (!known && !is_name)
            fail(error, FAIL_NEVER, "an address has no \"%s\"; there are: display_name, " PREFERENCE_NAMES, name);
        if ((!known && !is_name) || (is_name && !people_name_address(work, named, value, error)))
            return TOOL_LATER;
    }
    return people_set_preferences(work, PREFERENCES_OF_ADDRESS, argv[0], &preferences, error) &&
                   work_commit(work, NULL, error)
               ? TOOL_OK
               : TOOL_LATER;
}

/* ---- another address ---- */

/* The list that the letters come from: --list, or the first one that the address is on. */
static List *speaking_list(Store *store, const char *address, GError **error)
{
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.address = address;
    if (list_option)
        return site_list_find(store, list_option, error);
    g_autoptr(GPtrArray) page = member_page(store, &criteria, NULL, 1, NULL, error);
    if (page && page->len == 0)
        fail(error, FAIL_MISSING, "%s is on no list", address);
    return page && page->len > 0 ? list_by_id(store, ((const Member *)page->pdata[0])->list_id, error) : NULL;
}

static int run_change(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    g_auto(Subscription) made = {0};
    g_autoptr(Mailbox) from = mailbox_new(argv[0]), to = mailbox_new(argv[1]);
    AddressChange change = {from, to, true, !ask};
    g_autoptr(Work) work = work_place_begin_spooled(&place, site, error);
    g_autoptr(List) list = work ? speaking_list(place.store, argv[0], error) : NULL;
    if (!list || !change_address_ask(work, list, &change, &made, error) || !work_commit(work, place.spool, error))
        return TOOL_LATER;
    switch (made.result) {
    case SUBSCRIPTION_DONE:
        printf("%s is %s now, on all lists\n", argv[0], argv[1]);
        return TOOL_OK;
    case SUBSCRIPTION_ASKED_PERSON:
        printf("a letter went to %s; it changes when that is answered\n", argv[1]);
        return TOOL_OK;
    case SUBSCRIPTION_BAD_ADDRESS:
        fail(error, FAIL_NEVER, "%s is no address that can be on a list", argv[1]);
        return TOOL_USAGE;
    case SUBSCRIPTION_OWN_ADDRESS:
        fail(error, FAIL_NEVER, "%s is an address of a list of this site, and cannot be a person's", argv[1]);
        return TOOL_USAGE;
    case SUBSCRIPTION_NO_CHANGE:
        fail(error, FAIL_MISSING, "%s is on no list, or both are the same", argv[0]);
        return TOOL_MISSING;
    default:
        fail(error, FAIL_EXISTS, "nothing was done: %s", subscription_result_text(made.result));
        return TOOL_NOT_SO;
    }
}

static const GOptionEntry ls_options[] = {
    JSON_ROWS_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only the addresses", NULL},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry add_options[] = {
    {"user", 0, 0, G_OPTION_ARG_STRING, &user_option, "whose it is, by id or another address", "USER"},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry change_options[] = {
    {"ask", 0, 0, G_OPTION_ARG_NONE, &ask, "only after a letter to the new address was answered", NULL},
    {"list", 0, 0, G_OPTION_ARG_STRING, &list_option, "whose letters these are", "LIST"},
    G_OPTION_ENTRY_NULL,
};

static const Command ls = {
    .name = "ls", .arguments = "[USER]", .summary = "Show all addresses, or those of a user", .most = 1,
    .options = ls_options, .run = run_ls,
};

static const Command show = {
    .name = "show", .arguments = "ADDRESS", .summary = "Show an address", .least = 1, .most = 1,
    .options = json_object_options, .run = run_show,
};

static const Command add_verb = {
    .name = "add", .arguments = "ADDRESS...", .summary = "Make addresses known", .least = 1, .most = -1,
    .options = add_options, .run_kind = run_each, .kind = &(const EachVerb){add, "known"},
};

static const Command link_verb = {
    .name = "link", .arguments = "USER ADDRESS...", .summary = "Give addresses to a user", .least = 2, .most = -1,
    .run = run_link,
};

static const Command unlink_verb = {
    .name = "unlink", .arguments = "ADDRESS...", .summary = "Take addresses away from their user", .least = 1,
    .most = -1, .run_kind = run_each, .kind = &(const EachVerb){people_unlink, "nobody's now"},
};

static const Command verify_verb = {
    .name = "verify", .arguments = "ADDRESS...", .summary = "Take for granted that addresses are their users' own",
    .least = 1, .most = -1, .run_kind = run_each, .kind = &(const EachVerb){verify, "verified"},
};

static const Command unverify_verb = {
    .name = "unverify", .arguments = "ADDRESS...", .summary = "Take that back", .least = 1, .most = -1,
    .run_kind = run_each, .kind = &(const EachVerb){unverify, "not verified any more"},
};

static const Command set = {
    .name = "set", .arguments = "ADDRESS NAME=VALUE...", .summary = "Change what holds for an address on all lists",
    .least = 2, .most = -1, .run = run_set,
    .details = "Names are display_name and the preferences " PREFERENCE_NAMES ", whose value may be default.",
};

static const Command change_verb = {
    .name = "change", .arguments = "ADDRESS NEW", .summary = "Give all that an address has on lists to another one",
    .least = 2, .most = 2, .options = change_options, .run = run_change,
};

static const Command remove_verb = {
    .name = "remove", .arguments = "ADDRESS...", .summary = "Remove addresses with their memberships", .least = 1,
    .most = -1, .run_kind = run_each, .kind = &(const EachVerb){people_remove_address, "removed"},
};

static const Command *const verbs[] = {&ls,         &show,          &add_verb, &link_verb,   &unlink_verb,
                                       &verify_verb, &unverify_verb, &set,      &change_verb, &remove_verb, NULL};

const Command cmd_address = {
    .name = "address", .arguments = "", .summary = "Show, add, link, verify, change or remove addresses",
    .verbs = verbs,
};
