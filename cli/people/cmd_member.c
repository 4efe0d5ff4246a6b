/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner member: add, invite, remove, ls, show, set, import. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "cli/progress.h"
#include "cli/work_site.h"
#include "lists/event.h"
#include "lists/people/join.h"
#include "lists/people/member_line.h"
#include "lists/people/options.h"
#include "lists/people/own_address.h"
#include "lists/people/people.h"
#include "lists/people/roster.h"
#include "store/lists/list.h"
#include "store/lists/topic.h"
#include "store/people/source.h"
#include "store/people/vacation.h"

/* A look at the clock for the bar, once in so many lines. */
#define SHOW_LINES 1000

#define ROLE_OPTION                                                                             \
    {                                                                                           \
        "role", 0, 0, G_OPTION_ARG_STRING, &role_given, "in which role (default: member)",      \
            "member|owner|moderator|nonmember"                                                  \
    }

static char *role_given;
static char *display_name;
static gboolean names;
static char *delivery_mode, *delivery_status, *moderation;
static char *acknowledge, *hide, *list_copy, *own_postings, *language, *vacation, *topics, *nonmatching;

/* Set *role to the value of the option, ROLE_MEMBER without it. False with a usage error: there is no such role. */
static bool read_role(Role *role, GError **error)
{
    *role = ROLE_MEMBER;
    if (!role_given || role_parse(role_given, role))
        return true;
    command_usage(error, "--role: '%s' is none of member, owner, moderator, nonmember", role_given);
    return false;
}

/* As find() below, for verbs that change something. */
static List *find_place(Site *site, const char *name, Role *role, WorkPlace *place, GError **error)
{
    bool open = read_role(role, error) && work_place_store(place, site, error);
    return open ? site_list_find(place->store, name, error) : NULL;
}

static List *find(Site *site, const char *name, Role *role, Store **store, GError **error)
{
    if (!read_role(role, error))
        return NULL;
    *store = site_store(site, false, error);
    return *store ? site_list_find(*store, name, error) : NULL;
}

/* In a unit of its own. Returns an exit code; *error is set for what must end the command. */
static int add_one(WorkPlace *place, Site *site, const List *list, Role role, const char *text, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    g_autofree char *address = NULL, *name = NULL;
    g_autoptr(Work) work = work_new(place->store, &place->site, &place->actor);
    bool one = member_line_mailbox(text, &address, &name, &refusal);
    g_autoptr(Mailbox) mailbox = mailbox_new(address);
    const RosterEntry entry = {.role = role, .address = mailbox, .name = display_name ? display_name : name};
    if (!one || !work_begin(work, &refusal) || !roster_add(work, list->list_id, &entry, &refusal) ||
        !work_place_commit(place, site, work, &refusal)) {
        if (!g_error_matches(refusal, FAIL, FAIL_EXISTS) && !g_error_matches(refusal, FAIL, FAIL_NEVER)) {
            g_propagate_error(error, g_steal_pointer(&refusal));
            return TOOL_LATER;
        }
        plain_complain("listrunner member add: %s", refusal->message);
        return command_exit_code(refusal);
    }
    printf("%s is now %s of %s\n", address, role_text(role), list->posting_address);
    return TOOL_OK;
}

static int run_add(Site *site, int argc, char **argv, GError **error)
{
    Role role;
    WorkPlace place;
    g_autoptr(List) list = find_place(site, argv[0], &role, &place, error);
    if (!list)
        return TOOL_LATER;
    if (display_name && argc > 2)
        return command_usage(error, "--display-name is for one address");
    int worst = TOOL_OK;
    for (int i = 1; i < argc; i++) {
        int code = add_one(&place, site, list, role, argv[i], error);
        if (code == TOOL_LATER)
            return code;
        worst = MAX(worst, code);
    }
    return worst;
}

/* In a transaction of its own. Returns an exit code; *error is set for what must end the command. */
static int invite_one(WorkPlace *place, const List *list, const char *text, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    g_autofree char *address = NULL, *name = NULL;
    g_auto(Subscription) made = {0};
    if (!member_line_mailbox(text, &address, &name, &refusal)) {
        plain_complain("listrunner member invite: %s", refusal->message);
        return TOOL_USAGE;
    }
    g_autoptr(Work) work = work_place_unit(place, error);
    g_autoptr(Mailbox) mailbox = mailbox_new(address);
    Joiner joiner = {.address = mailbox, .name = name, .facts = FACT_APPROVED | FACT_INVITED};
    if (!work || !join_ask(work, list, &joiner, &made, error) || !work_commit(work, place->spool, error))
        return TOOL_LATER;
    if (made.result == SUBSCRIPTION_ASKED_PERSON) {
        printf("%s is invited\n", address);
        return TOOL_OK;
    }
    const char *why = made.result == SUBSCRIPTION_NO_CHANGE      ? "is a member already"
                      : made.result == SUBSCRIPTION_PERSON_WAITS ? "was asked within a day"
                      : made.result == SUBSCRIPTION_BANNED       ? "is banned"
                      : made.result == SUBSCRIPTION_LIMITED      ? "got too many letters today"
                      : made.result == SUBSCRIPTION_OWN_ADDRESS  ? "is an address of a list of this site"
                                                                 : "is no address that can be on this list";
    plain_complain("listrunner member invite: %s %s", address, why);
    bool bad = made.result == SUBSCRIPTION_BAD_ADDRESS || made.result == SUBSCRIPTION_OWN_ADDRESS;
    return bad ? TOOL_USAGE : TOOL_NOT_SO;
}

static int run_invite(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    int worst = TOOL_OK;
    if (!work_place_open(&place, site, error))
        return TOOL_LATER;
    g_autoptr(List) list = site_list_find(place.store, argv[0], error);
    if (!list)
        return TOOL_LATER;
    for (int at = 1; at < argc; at++) {
        int code = invite_one(&place, list, argv[at], error);
        if (code == TOOL_LATER)
            return code;
        worst = MAX(worst, code);
    }
    return worst;
}

static int run_remove(Site *site, int argc, char **argv, GError **error)
{
    Role role;
    WorkPlace place;
    g_autoptr(List) list = find_place(site, argv[0], &role, &place, error);
    if (!list)
        return TOOL_LATER;
    int worst = TOOL_OK;
    for (int i = 1; i < argc; i++) {
        g_autoptr(GError) refusal = NULL;
        g_autoptr(Mailbox) address = mailbox_new(argv[i]);
        g_autoptr(Work) work = work_place_unit(&place, &refusal);
        if (work && roster_remove(work, list->list_id, role, address, &refusal) &&
            work_place_commit(&place, site, work, &refusal)) {
            printf("%s is no longer %s of %s\n", argv[i], role_text(role), list->posting_address);
            continue;
        }
        if (!g_error_matches(refusal, FAIL, FAIL_MISSING)) {
            g_propagate_error(error, g_steal_pointer(&refusal));
            return TOOL_LATER;
        }
        plain_complain("listrunner member remove: %s", refusal->message);
        worst = TOOL_MISSING;
    }
    return worst;
}

static json_t *member_row(const Member *member)
{
    const Preferences *now = &member->effective;
    return json_pack(
        "{so so ss ss ss so sb sb sb sb so ss so sb so sf}", "address", listing_text(member->address), "display_name",
        listing_text(member->display_name), "role", role_text(member->role), "delivery_mode",
        delivery_mode_text((DeliveryMode)now->delivery_mode), "delivery_status",
        delivery_status_text((DeliveryStatus)now->delivery_status), "moderation_action",
        member->moderation_action == ACTION_UNSET ? json_null() : listing_text(action_text(member->moderation_action)),
        "acknowledge_posts", now->acknowledge_posts, "hide_address", now->hide_address, "receive_list_copy",
        now->receive_list_copy, "receive_own_postings", now->receive_own_postings, "joined_at",
        listing_time(member->joined_at), "member_id", member->id, "user_id",
        *member->user_id ? listing_text(member->user_id) : json_null(), "as_user", member->as_user,
        "preferred_language", *now->preferred_language ? listing_text(now->preferred_language) : json_null(),
        "bounce_score", (double)member->bounce_score / 100);
}

static bool show_member(const Member *member, void *data)
{
    if (names)
        puts(member->address);
    else
        listing_row(data, member_row(member));
    return !ferror(stdout);
}

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {
        {"address", "ADDRESS", COLUMN_TEXT},          {"delivery_status", "STATUS", COLUMN_TEXT},
        {"delivery_mode", "MODE", COLUMN_TEXT},       {"moderation_action", "MODERATION", COLUMN_TEXT},
        {"joined_at", "JOINED", COLUMN_TEXT},         {"display_name", "NAME", COLUMN_TEXT},
        {NULL, NULL, COLUMN_TEXT}};
    Role role;
    Store *store;
    g_autoptr(List) list = find(site, argv[0], &role, &store, error);
    if (!list)
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    return member_each(store, list->list_id, role, show_member, listing, error) ? TOOL_OK : TOOL_LATER;
}

static json_t *words_json(char **words)
{
    json_t *all = json_array();
    for (; words && *words; words++)
        json_array_append_new(all, json_string(*words));
    return all;
}

/* The row of "ls", and what takes further look-ups. */
static int run_show(Site *site, int argc, char **argv, GError **error)
{
    Role role;
    Store *store;
    Vacation away;
    g_auto(TopicChoice) choice = {0};
    g_autoptr(List) list = find(site, argv[0], &role, &store, error);
    g_autoptr(Mailbox) address = mailbox_new(argv[1]);
    g_autoptr(Member) member = list ? member_find(store, list->list_id, role, address, error) : NULL;
    g_auto(GStrv) sources = member ? source_of_member(store, member->id, error) : NULL;
    if (!sources || !vacation_find(store, member->id, &away, error) || !topic_read(store, member->id, &choice, error))
        return TOOL_LATER;
    json_t *row = member_row(member);
    json_object_set_new(row, "vacation_begins", listing_time(away.begins_at));
    json_object_set_new(row, "vacation_ends", listing_time(away.ends_at));
    json_object_set_new(row, "topics", words_json(choice.names));
    json_object_set_new(row, "sources", words_json(sources));
    json_object_set_new(row, "nonmatching", json_boolean(choice.unmatched));
    listing_show(row, json_option);
    return TOOL_OK;
}

/* "yes", "no" or "default" (-1). */
static bool parse_flag(const char *option, const char *text, int *value, GError **error)
{
    if (!text)
        return true;
    if (strcmp(text, "yes") == 0)
        *value = 1;
    else if (strcmp(text, "no") == 0)
        *value = 0;
    else if (strcmp(text, "default") == 0)
        *value = -1;
    else {
        command_usage(error, "--%s: '%s' is none of yes, no, default", option, text);
        return false;
    }
    return true;
}

static bool parse_delivery(Preferences *own, GError **error)
{
    DeliveryMode mode;
    DeliveryStatus status;
    if (delivery_mode && strcmp(delivery_mode, "default") == 0)
        own->delivery_mode = -1;
    else if (delivery_mode && delivery_mode_parse(delivery_mode, &mode))
        own->delivery_mode = (int)mode;
    else if (delivery_mode) {
        command_usage(error, "--delivery-mode: '%s' is none of regular, plaintext_digests, mime_digests, "
                      "summary_digests, default", delivery_mode);
        return false;
    }
    if (delivery_status && strcmp(delivery_status, "default") == 0)
        own->delivery_status = -1;
    else if (delivery_status && delivery_status_parse(delivery_status, &status))
        own->delivery_status = (int)status;
    else if (delivery_status) {
        command_usage(error, "--delivery-status: '%s' is none of enabled, by_user, by_moderator, by_bounces, "
                      "default", delivery_status);
        return false;
    }
    return true;
}

/* Within a unit: what another command sets meanwhile stays set. */
static int run_set(Site *site, int argc, char **argv, GError **error)
{
    Role role;
    WorkPlace place;
    if (!delivery_mode && !delivery_status && !moderation && !acknowledge && !hide && !list_copy && !own_postings &&
        !language && !vacation && !topics && !nonmatching)
        return command_usage(error, "say what to change, such as --delivery-mode=mime_digests");
    g_autoptr(List) list = find_place(site, argv[0], &role, &place, error);
    g_autoptr(Work) work = list ? work_place_unit(&place, error) : NULL;
    g_autoptr(Mailbox) address = mailbox_new(argv[1]);
    g_autoptr(Member) member = work ? member_find(work_store(work), list->list_id, role, address, error) : NULL;
    if (!member)
        return TOOL_LATER;
    Preferences own = member->own;
    Action action = moderation ? ACTION_UNSET : member->moderation_action;
    if (!parse_delivery(&own, error))
        return TOOL_LATER;
    if (moderation && strcmp(moderation, "default") != 0 && !action_parse(moderation, &action))
        return command_usage(error, "--moderation: there is no action '%s'", moderation);
    if (!parse_flag("acknowledge-posts", acknowledge, &own.acknowledge_posts, error) ||
        !parse_flag("hide-address", hide, &own.hide_address, error) ||
        !parse_flag("receive-list-copy", list_copy, &own.receive_list_copy, error) ||
        !parse_flag("receive-own-postings", own_postings, &own.receive_own_postings, error))
        return TOOL_LATER;
    g_auto(MemberOptions) more = MEMBER_OPTIONS_NONE;
    if ((language && !option_read(&more, "language", language, error)) ||
        (vacation && !option_read(&more, "vacation", vacation, error)) ||
        (topics && !option_read(&more, "topics", topics, error)) ||
        (nonmatching && !option_read(&more, "nonmatching", nonmatching, error)))
        return TOOL_LATER;
    return people_set_preferences(work, PREFERENCES_OF_MEMBER, member->id, &own, error) &&
                   options_set(work, list, role, address, &more, error) &&
                   (!moderation || people_set_moderation(work, member, action, error)) &&
                   work_place_commit(&place, site, work, error)
               ? TOOL_OK
               : TOOL_LATER;
}

/* ---- import ---- */

typedef struct MemberFileImport {
    WorkPlace place;
    const List *list;
    Role role;
    MemberImport *members;
    MemberLines *lines;
    GHashTable *domains; /* of the site: addresses in them are looked up */
    const char *file;    /* for messages */
    Progress progress;
    uint64_t taken, added, duplicate, bad, other;
    Work *work; /* the unit of some thousand lines, and what it adds */
    uint64_t work_added, work_duplicate;
} MemberFileImport;

/* Most lines are of other domains, and cost no question to the store. */
static bool may_have(const MemberFileImport *import, const char *address, GError **error)
{
    if (!own_address_may_be(import->domains, address))
        return true;
    g_autoptr(Work) work = work_new(import->place.store, &import->place.site, &import->place.actor);
    return own_address_check(work, import->list->list_id, import->role, address, error);
}

/* Reads one line and hands it to the store; *last at the end of the file.
 * False only when the import must end. */
static bool take_line(MemberFileImport *import, bool *last, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    g_auto(MemberLine) line = {0};
    bool taken = member_lines_next(import->lines, &line, &refusal);
    *last = line.last;
    /* A file of Google Groups says which part each has there: others than members are none here, and owners and
     * managers come as owners and moderators. */
    bool wanted = line.rank == RANK_UNSAID || (import->role == ROLE_OWNER       ? line.rank == RANK_OWNER
                                               : import->role == ROLE_MODERATOR ? line.rank == RANK_MANAGER
                                                                                : line.rank != RANK_NONE);
    if (taken && !line.last && !wanted) {
        import->other++;
    } else if (taken && !line.last) {
        taken = may_have(import, line.address, &refusal) &&
                member_import_add(import->members, (int64_t)line.number, line.address, line.display_name, &line.own,
                                  &refusal);
        import->taken += taken;
    }
    if (taken)
        return true;
    if (g_error_matches(refusal, FAIL, FAIL_NEVER)) {
        progress_end(&import->progress);
        plain_complain("%s:%" G_GUINT64_FORMAT ": %s", import->file, line.number, refusal->message);
        import->bad++;
        return true;
    }
    if (g_error_matches(refusal, FAIL, FAIL_CONFIG))
        command_usage(error, "%s: %s", import->file, refusal->message);
    else
        g_propagate_prefixed_error(error, g_steal_pointer(&refusal), "%s: ", import->file);
    return false;
}

static void imported(int64_t number, const char *address, const GError *refusal, void *data)
{
    MemberFileImport *import = data;
    (void)number;
    if (refusal) { /* it is there already */
        import->work_duplicate++;
        return;
    }
    import->work_added++;
    roster_tell(import->work, EVENT_MEMBER_JOINED, import->list->list_id, import->role, address);
}

/* One unit: the next lines, and the events about them. */
static bool import_some(MemberFileImport *import, Site *site, bool *more, GError **error)
{
    g_autoptr(Work) work = work_new(import->place.store, &import->place.site, &import->place.actor);
    import->work = work;
    import->work_added = import->work_duplicate = 0;
    if (!work_begin(work, error) || !member_import_some(import->members, imported, import, more, error) ||
        !roster_log_many(work, import->list->list_id, import->role, import->work_added, error) ||
        !work_place_commit(&import->place, site, work, error))
        return false;
    import->added += import->work_added;
    import->duplicate += import->work_duplicate;
    progress_show(&import->progress, import->added + import->duplicate, import->added + import->duplicate);
    return true;
}

static bool import_all(MemberFileImport *import, Site *site, uint64_t size, GError **error)
{
    bool last = false;
    import->progress = (Progress){.what = "lines read", .total = size};
    for (uint64_t count = 1; !last; count++) {
        if (!take_line(import, &last, error))
            return false;
        if (count % SHOW_LINES == 0)
            progress_show(&import->progress, member_lines_bytes(import->lines), count);
    }
    progress_end(&import->progress);
    import->progress = (Progress){.what = "members", .total = import->taken};
    bool more = true, whole = member_import_sort(import->members, error);
    while (whole && more)
        whole = import_some(import, site, &more, error);
    progress_end(&import->progress);
    if (!whole)
        g_prefix_error(error, "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " are in, the rest is not: ",
                       import->added + import->duplicate, import->taken);
    return whole;
}

static int run_import(Site *site, int argc, char **argv, GError **error)
{
    Role role;
    g_autoptr(InputFile) file = read_role(&role, error) ? input_open(argc > 1 ? argv[1] : "-", error) : NULL;
    WorkPlace place;
    bool open = file && work_place_store(&place, site, error);
    g_autoptr(List) list = open ? site_list_find(place.store, argv[0], error) : NULL;
    if (!list)
        return TOOL_LATER;
    g_autoptr(MemberLines) lines = member_lines_new(file);
    g_autoptr(MemberImport) members = member_import_open(place.store, list->list_id, role, error);
    g_autoptr(GHashTable) domains = members ? own_address_domains(place.store, error) : NULL;
    if (!domains)
        return TOOL_LATER;
    MemberFileImport import = {.place = place,
                               .list = list,
                               .role = role,
                               .members = members,
                               .lines = lines,
                               .domains = domains,
                               .file = input_name(argc > 1 ? argv[1] : "-")};
    if (!import_all(&import, site, input_size(file), error))
        return TOOL_LATER;
    printf("%" G_GUINT64_FORMAT " added to %s as %s, %" G_GUINT64_FORMAT " there already, %" G_GUINT64_FORMAT
           " bad line%s\n",
           import.added, list->posting_address, role_text(role), import.duplicate, import.bad,
           import.bad == 1 ? "" : "s");
    if (import.other > 0)
        printf("%" G_GUINT64_FORMAT " passed over, who have another Group status\n", import.other);
    return import.bad ? TOOL_NOT_SO : TOOL_OK;
}

/* ---- the verbs ---- */

static const GOptionEntry add_options[] = {
    ROLE_OPTION,
    {"display-name", 0, 0, G_OPTION_ARG_STRING, &display_name, "the person's name", "TEXT"},
    G_OPTION_ENTRY_NULL,
};

/* Of import, too. */
static const GOptionEntry remove_options[] = {ROLE_OPTION, G_OPTION_ENTRY_NULL};

static const GOptionEntry ls_options[] = {
    ROLE_OPTION,
    JSON_ROWS_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only the addresses", NULL},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry show_options[] = {
    ROLE_OPTION,
    JSON_OBJECT_OPTION,
    G_OPTION_ENTRY_NULL,
};

#define FLAG_CHOICES "yes|no|default"
static const GOptionEntry set_options[] = {
    ROLE_OPTION,
    {"delivery-mode", 0, 0, G_OPTION_ARG_STRING, &delivery_mode, "each post, or which digest",
     "regular|plaintext_digests|mime_digests|summary_digests|default"},
    {"delivery-status", 0, 0, G_OPTION_ARG_STRING, &delivery_status, "delivery on, or off and by whom",
     "enabled|by_user|by_moderator|by_bounces|default"},
    {"moderation", 0, 0, G_OPTION_ARG_STRING, &moderation, "what becomes of this member's posts",
     "accept|hold|reject|discard|defer|default"},
    {"acknowledge-posts", 0, 0, G_OPTION_ARG_STRING, &acknowledge, "a note for each own post", FLAG_CHOICES},
    {"hide-address", 0, 0, G_OPTION_ARG_STRING, &hide, "leave the address out of the roster", FLAG_CHOICES},
    {"receive-list-copy", 0, 0, G_OPTION_ARG_STRING, &list_copy, "the list's copy also when in To or Cc", FLAG_CHOICES},
    {"receive-own-postings", 0, 0, G_OPTION_ARG_STRING, &own_postings, "copies of own posts", FLAG_CHOICES},
    {"language", 0, 0, G_OPTION_ARG_STRING, &language, "of letters and digests, as de; or default", "CODE"},
    {"vacation", 0, 0, G_OPTION_ARG_STRING, &vacation, "no mail from the first day to the last (UTC), or off",
     "FROM..UNTIL"},
    {"topics", 0, 0, G_OPTION_ARG_STRING, &topics, "posts of these topics alone, or all", "NAME,...|all"},
    {"nonmatching", 0, 0, G_OPTION_ARG_STRING, &nonmatching, "besides, posts of no topic", "on|off"},
    G_OPTION_ENTRY_NULL,
};

static const Command add = {
    .name = "add", .arguments = "LIST ADDRESS...", .summary = "Add members, as ADDRESS or 'Name <ADDRESS>'", .least = 2,
    .most = -1, .options = add_options, .run = run_add,
};

static const Command invite = {
    .name = "invite",
    .arguments = "LIST ADDRESS...",
    .least = 2,
    .most = -1,
    .run = run_invite,
    .summary = "Ask people by mail to join, as ADDRESS or 'Name <ADDRESS>'",
    .details = "Who answers the letter is a member; no moderator is asked any more, whatever subscription_policy says.",
};

static const Command remove_member = {
    .name = "remove", .arguments = "LIST ADDRESS...", .summary = "Remove members", .least = 2, .most = -1,
    .options = remove_options, .run = run_remove,
};

static const Command ls = {
    .name = "ls", .arguments = "LIST", .summary = "Show the members in order of address", .least = 1, .most = 1,
    .options = ls_options, .run = run_ls,
};

static const Command show = {
    .name = "show", .arguments = "LIST ADDRESS", .summary = "Show a member, with vacation and topics", .least = 2,
    .most = 2, .options = show_options, .run = run_show,
};

static const Command set = {
    .name = "set", .arguments = "LIST ADDRESS", .summary = "Change what a member gets and may do", .least = 2,
    .most = 2, .options = set_options, .run = run_set,
    .details = "'default' takes back what was set on the member: the person's or the list's setting counts again.",
};

static const Command import = {
    .name = "import",
    .arguments = "LIST [FILE]",
    .summary = "Add members from a file or standard input",
    .details = "FILE is CSV with a first line that names its columns (address, display_name, delivery_mode,\n"
               "delivery_status; others are passed over), or has an address or 'Name <address>' a line.\n"
               "Of a file of Google Groups, --role owner and moderator take its owners and managers alone.\n"
               "Bad lines are reported as FILE:LINE: REASON, the others are added; then the exit code is 1.",
    .least = 1,
    .most = 2,
    .options = remove_options,
    .run = run_import,
};

static const Command *const verbs[] = {&add, &invite, &remove_member, &ls, &show, &set, &import, NULL};

const Command cmd_member = {
    .name = "member", .arguments = "", .summary = "Add, invite, remove, show, set or import members", .verbs = verbs,
};
