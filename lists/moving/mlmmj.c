/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/mlmmj.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/moving/file.h"
#include "lists/moving/list_folder.h"
#include "lists/people/subscription.h"

#define LIST_ADDRESS "control/listaddress"
#define KIB INT64_C(1024)
#define DAY INT64_C(86400) /* seconds */
#define REQUEST_LIFE (30 * DAY * CLOCK_SECOND)

/* Files of control/ that are read here; of the others, those that have no equal. */
static const char *const known[] = {
    "addtohdr",       "closedlist",  "closedlistsub", "customheaders", "delheaders",
    "footer",         "listaddress", "maxmailsize",   "moderated",     "moderators",
    "modnonsubposts", "modonlypost", "modreqlife",    "noarchive",     "nodigestsub",
    "nosubconfirm",   "notifymod",   "notifysub",     "notmetoo",      "owner",
    "prefix",         "submod",      "subonlypost",   "tocc",          NULL,
};

static bool read_control(ListFolder *from, const char *name, const char *path, void *data, GError **error)
{
    (void)data;
    return list_folder_load(from, name, path, error);
}

/* ---- settings ---- */

static void set(GPtrArray *settings, const char *name, const char *key, const char *value)
{
    moving_settings_add(settings, name, key, g_strdup(value));
}

static bool read_settings(ListFolder *from, GPtrArray *settings, GError **error)
{
    (void)error;
    const char *refused = list_folder_has(from, "modnonsubposts") ? "hold" : "reject";
    bool moderated = list_folder_has(from, "moderated"), few = list_folder_has(from, "modonlypost");
    bool members = list_folder_has(from, "subonlypost");
    set(settings, "default_member_action", few ? "modonlypost" : "moderated",
        few         ? refused
        : moderated ? "hold"
                    : "defer");
    set(settings, "default_nonmember_action",
        few       ? "modonlypost"
        : members ? "subonlypost"
                  : "moderated",
        few || members ? refused
        : moderated    ? "hold"
                       : "accept");
    if (few) {
        g_autoptr(GString) words = g_string_new(NULL);
        g_auto(GStrv) moderators = list_folder_lines(from, "moderators");
        for (char **one = moderators; *one; one++)
            moving_settings_add_word(words, *one);
        set(settings, "accept_these_nonmembers", "moderators", words->str);
    }

    bool to_all = list_folder_has(from, "closedlist"), closed = to_all || list_folder_has(from, "closedlistsub");
    bool confirm = !list_folder_has(from, "nosubconfirm"), moderate = closed || list_folder_has(from, "submod");
    set(settings, "subscription_policy", moderate ? "submod" : "nosubconfirm",
        !moderate ? confirm ? "confirm" : "open"
        : confirm ? "confirm_then_moderate"
                  : "moderate");
    set(settings, "unsubscription_policy", "nosubconfirm", confirm ? "confirm" : "open");
    if (closed)
        moving_tell(from->moving, MOVING_CHANGED, from->list_id, to_all ? "closedlist" : "closedlistsub",
                    "whoever asks to join waits for a moderator%s", to_all ? ", and members can leave by mail" : "");

    list_folder_fields(from, settings, "customheaders", "delheaders", (const char *const[]){NULL});
    list_folder_footer(from, settings, "footer");
    g_auto(GStrv) prefix = list_folder_lines(from, "prefix"), addresses = list_folder_lines(from, "listaddress");
    g_autoptr(GString) aliases = g_string_new(NULL);
    for (char **other = *addresses ? addresses + 1 : addresses; *other; other++)
        moving_settings_add_word(aliases, *other);
    moving_settings_add(settings, "subject_prefix", "prefix", *prefix ? g_strconcat(*prefix, " ", NULL) : g_strdup(""));
    set(settings, "acceptable_aliases", "listaddress", aliases->str);
    set(settings, "require_explicit_destination", "tocc", list_folder_has(from, "tocc") ? "no" : "yes");
    set(settings, "admin_notify_mchanges", "notifysub", list_folder_has(from, "notifysub") ? "yes" : "no");
    set(settings, "respond_to_post_requests", "notifymod", list_folder_has(from, "notifymod") ? "yes" : "no");
    set(settings, "archive_policy", "noarchive", list_folder_has(from, "noarchive") ? "never" : "private");
    set(settings, "personalize", "addtohdr", list_folder_has(from, "addtohdr") ? "full" : "none");
    set(settings, "digests_enabled", "nodigestsub", list_folder_has(from, "nodigestsub") ? "no" : "yes");
    list_folder_number(from, settings, &(MovingSetting){"max_message_size", "maxmailsize", NULL}, KIB, 0);
    list_folder_number(from, settings, &(MovingSetting){"max_days_to_hold", "modreqlife", NULL}, DAY, 7);
    return true;
}

/* Tell the settings that have no equal; each file once, in order. */
static bool tell_lost(ListFolder *from, const char *name, const char *path, void *data, GError **error)
{
    (void)path, (void)data, (void)error;
    g_auto(GStrv) lines = list_folder_lines(from, name);
    if (!g_strv_contains(known, name))
        moving_tell(from->moving, MOVING_LOST, from->list_id, name, "%s", *lines ? *lines : "is set");
    return true;
}

static bool tell_behind(ListFolder *from, GError **error)
{
    static const char *const folders[][2] = {
        {"bounce", "addresses whose mail comes back: they begin anew"},
        {"queue", "mails wait to be sent: let mlmmj send them"},
        {"subconf", "letters that ask whether somebody wants to join: they are good no more"},
        {"unsubconf", "letters that ask whether somebody wants to leave: they are good no more"},
    };
    unsigned count;
    if (!list_folder_count(from, "archive", &count, error))
        return false;
    list_folder_tell_archive(from, count, "posts");
    for (size_t i = 0; i < G_N_ELEMENTS(folders); i++) {
        if (!list_folder_count(from, folders[i][0], &count, error))
            return false;
        if (count > 0)
            moving_tell(from->moving, MOVING_LOST, from->list_id, folders[i][0], "%u %s", count, folders[i][1]);
    }
    return list_folder_each(from, "control", tell_lost, NULL, error) && list_folder_tell_texts(from, NULL, error);
}

/* ---- members ---- */

typedef struct MlmmjKind {
    const char *folder;
    int mode, status; /* -1: not set */
} MlmmjKind;

/* Members of a role, an address a line; kind NULL: it is no kind of members. */
static bool take_lines(ListFolder *from, const char *text, Role role, const MlmmjKind *kind, GError **error)
{
    bool few = role == ROLE_MEMBER && list_folder_has(from, "modonlypost");
    g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1), moderators = list_folder_lines(from, "moderators");
    Preferences own = preferences_unset;
    own.delivery_mode = kind ? kind->mode : -1;
    own.delivery_status = kind ? kind->status : -1;
    own.receive_own_postings = kind && list_folder_has(from, "notmetoo") ? 0 : -1;
    for (char **line = lines; *line; line++) {
        bool free = false; /* may post where other members may not */
        if (!*g_strstrip(*line))
            continue;
        for (char **one = moderators; few && *one; one++)
            free |= mailbox_same(*one, *line);
        if (!list_folder_member(from, *line, role, &own, free ? ACTION_ACCEPT : ACTION_UNSET, error))
            return false;
    }
    return true;
}

static bool take_members(ListFolder *from, const char *name, const char *path, void *data, GError **error)
{
    (void)name;
    char *read = NULL;
    const MlmmjKind *kind = data;
    bool done = list_folder_text(from, kind->folder, path, &read, error);
    g_autofree char *text = read;
    return done && take_lines(from, text, ROLE_MEMBER, kind, error);
}

static bool move_members(ListFolder *from, GError **error)
{
    static const MlmmjKind kinds[] = {
        {"subscribers.d", -1, -1}, {"digesters.d", MODE_MIME_DIGESTS, -1}, {"nomailsubs.d", -1, DELIVERY_BY_USER}};
    bool whole, done = moving_begin(from->moving, "members", from->list_id, MOVING_IN_PORTIONS, &whole, error);
    if (!done || whole)
        return done;
    done = take_lines(from, g_hash_table_lookup(from->texts, "owner"), ROLE_OWNER, NULL, error) &&
           take_lines(from, g_hash_table_lookup(from->texts, "moderators"), ROLE_MODERATOR, NULL, error) &&
           take_lines(from, g_hash_table_lookup(from->texts, "submod"), ROLE_MODERATOR, NULL, error);
    for (size_t i = 0; done && i < G_N_ELEMENTS(kinds); i++)
        done = list_folder_each(from, kinds[i].folder, take_members, (void *)&kinds[i], error);
    return done && moving_end(from->moving, error);
}

/* ---- what waits ---- */

static bool take_waiting(ListFolder *from, const char *name, const char *path, void *data, GError **error)
{
    char *read = NULL;
    g_autofree char *file = g_build_filename("moderation", name, NULL);
    if (!g_str_has_prefix(name, "subscribe"))
        return list_folder_held(from, data, file, path, error);
    if (!list_folder_text(from, file, path, &read, error))
        return false;
    g_autofree char *text = read;
    if (!text)
        return true;
    /* Somebody asks to join: the address, and the kind of member. */
    int64_t time = list_folder_time(from, file);
    g_auto(GStrv) lines = g_strsplit(text, "\n", 3);
    const char *sort = *lines ? lines[1] : NULL;
    bool digest = g_strcmp0(sort, "SUB_DIGEST") == 0, nomail = g_strcmp0(sort, "SUB_NOMAIL") == 0;
    g_autoptr(Mailbox) address = mailbox_new(*lines ? *lines : "");
    const Pending request = {.kind = PENDING_JOIN,
                             .list_id = from->list_id,
                             .address = address,
                             .facts = FACT_VERIFIED | FACT_CONFIRMED,
                             .waits_for = PENDING_MODERATOR,
                             .made_at = time,
                             .asked_at = time,
                             .expires_at = clock_now() + REQUEST_LIFE,
                             .delivery_mode = digest ? MODE_MIME_DIGESTS : -1,
                             .delivery_status = nomail ? DELIVERY_BY_USER : -1,
                             .welcome = WELCOME_AS_LIST};
    return moving_request(from->moving, &request, NULL, error);
}

static bool move_waiting(ListFolder *from, const List *list, GError **error)
{
    return list_folder_waiting(from, "moderation", take_waiting, list, error);
}

/* ---- a list ---- */

bool mlmmj_move(const char *directory, Moving *moving, GError **error)
{
    g_autoptr(GHashTable) texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(GBytes) bytes = moving_read_mark(directory, "mlmmj", LIST_ADDRESS, error);
    if (!bytes)
        return false;
    g_autofree char *text = g_strndup(g_bytes_get_data(bytes, NULL) ?: "", g_bytes_get_size(bytes));
    text[strcspn(text, "\r\n")] = '\0';
    g_autofree char *address = g_ascii_strdown(g_strstrip(text), -1);
    if (!mailbox_valid(address))
        return fail(error, FAIL_CONFIG, LIST_ADDRESS " names no address, so this is no list of mlmmj");
    g_autofree char *list_id = g_strdelimit(g_strdup(address), "@", '.');
    static const ListFolderReader reader = {read_settings, tell_behind, move_members, move_waiting};
    ListFolder from = {
        .moving = moving, .directory = directory, .list_id = list_id, .address = address, .texts = texts};
    from.created_at = list_folder_time(&from, LIST_ADDRESS);
    from.last_post_at = list_folder_time(&from, "index");
    g_autofree char *path = g_build_filename(directory, "index", NULL);
    if (!list_folder_load(&from, "index", path, error))
        return false;
    const char *number = g_hash_table_lookup(texts, "index"); /* of the last post */
    from.posts = number ? g_ascii_strtoll(number, NULL, 10) : 0;
    g_hash_table_remove(texts, "index");
    return list_folder_each(&from, "control", read_control, NULL, error) && list_folder_move(&from, &reader, error);
}
