/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/ezmlm.h"

#include <string.h>

#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/moving/file.h"
#include "lists/moving/list_folder.h"

#define KIB INT64_C(1024)

/* Files of the directory that are read. */
static const char *const known[] = {
    "archived",   "digested", "editor",      "headeradd",    "headerremove", "listid",       "mimekeep",
    "mimeremove", "modpost",  "modpostonly", "modsub",       "msgsize",      "nosubconfirm", "nounsubconfirm",
    "num",        "outhost",  "outlocal",    "owner",        "prefix",       "public",       "remote",
    "sql",        "subdb",    "subpostonly", "text/trailer", NULL,
};

/* These settings have no equal. */
static const char *const lost[] = {
    "charset", "confirmpost", "copylines",    "digcount",   "digestcode", "digformat",  "digheaders", "digsize",
    "digtime", "headerkeep",  "headerreject", "mimereject", "modcanedit", "modcanlist", "modgetonly", "noreturnposts",
    "nowarn",  "omitbottom",  "sequence",     "subgetonly", "sublist",    NULL,
};

/* Other names in the directory, which are no settings: collections and archives, which are read or told elsewhere,
 * files that ezmlm keeps for itself, and files that follow from settings. */
static const char *const kept[] = {
    "allow",  "archive",  "archnum", "bounce",     "bouncer", "config",      "confirmer", "deny",
    "digest", "dignum",   "digissue", "flags",     "indexed", "inhost",      "inlocal",   "key",
    "lock",   "lockbounce", "Log",   "mailinglist", "manager", "mod",        "moderator", "subscribers",
    "text",   "threaded", "tmp",     "tstdig",     NULL,
};

/* Settings that say that there are moderators, and in which folder their addresses are. */
static const char *const moderated[] = {"modpost", "modsub", "remote"};

/* The first line; NULL: there is none. g_free() */
static char *first_line(const ListFolder *from, const char *name)
{
    g_auto(GStrv) lines = list_folder_lines(from, name);
    return g_strdup(*lines);
}

static bool load(ListFolder *from, const char *const *names, GError **error)
{
    for (; *names; names++) {
        g_autofree char *path = g_build_filename(from->directory, *names, NULL);
        if (!list_folder_load(from, *names, path, error))
            return false;
    }
    return true;
}

/* ---- collections of addresses ---- */

typedef bool TakeAddress(ListFolder *from, const char *address, void *data, GError **error);

typedef struct Collection {
    const char *name;
    TakeAddress *take;
    void *data;
} Collection;

static bool take_file(ListFolder *from, const char *name, const char *path, void *data, GError **error)
{
    (void)name;
    gsize length;
    GError *why = NULL;
    const Collection *to = data;
    g_autoptr(GBytes) bytes = moving_read_file(from->directory, path, &why);
    if (!bytes)
        return list_folder_pass_over(from, to->name, why, error);
    const char *at = g_bytes_get_data(bytes, &length), *end = at + length;
    while (at < end) {
        gsize size = strnlen(at, (gsize)(end - at));
        g_autofree char *record = g_strndup(at, size);
        g_autofree char *address = g_utf8_make_valid(*record == 'T' ? record + 1 : record, -1);
        if (*record && !to->take(from, address, to->data, error))
            return false;
        at += size + 1;
    }
    return true;
}

/* Walk through the addresses of the list, or of "digest", "mod", "allow", "deny". */
static bool each_address(ListFolder *from, const char *name, TakeAddress *take, void *data, GError **error)
{
    const Collection to = {*name ? name : "subscribers", take, data};
    g_autofree char *folder = g_build_filename(name, "subscribers", NULL);
    return list_folder_each(from, folder, take_file, (void *)&to, error);
}

/* Where moderators of posts (modpost), or of requests (modsub, remote), are; g_free(). */
static char *moderators_of(const ListFolder *from, const char *name)
{
    g_autofree char *line = first_line(from, name);
    bool named = line && *line != '/' && !strstr(line, "..");
    return named ? g_steal_pointer(&line) : g_strdup("mod");
}

/* ---- settings ---- */

static void set(GPtrArray *settings, const char *name, const char *key, const char *value)
{
    moving_settings_add(settings, name, key, g_strdup(value));
}

static bool add_word(ListFolder *from, const char *address, void *data, GError **error)
{
    (void)from, (void)error;
    g_autofree char *escaped = *address == '@' ? g_regex_escape_string(address, -1) : NULL;
    g_autofree char *pattern = escaped ? g_strdup_printf("^.*%s$", escaped) : NULL;
    moving_settings_add_word(data, pattern ? pattern : address);
    return true;
}

/* Set the right to post, by modpost, modpostonly and subpostonly. */
static bool set_posting(ListFolder *from, GPtrArray *settings, GError **error)
{
    const char *editor = g_hash_table_lookup(from->texts, "editor");
    bool held = list_folder_has(from, "modpost"), few = held && list_folder_has(from, "modpostonly");
    bool members = list_folder_has(from, "subpostonly") || (editor && strstr(editor, "ezmlm-issubn"));
    set(settings, "default_member_action", few ? "modpostonly" : "modpost", few ? "reject" : held ? "hold" : "defer");
    set(settings, "default_nonmember_action", members ? "subpostonly" : "modpost",
        few || (members && !held) ? "reject"
        : held                    ? "hold"
                                  : "accept");
    g_autoptr(GString) words = g_string_new(NULL);
    g_autofree char *moderators = few ? moderators_of(from, "modpost") : NULL;
    bool done = each_address(from, "allow", add_word, words, error) &&
                (!few || each_address(from, moderators, add_word, words, error));
    set(settings, "accept_these_nonmembers", "allow", words->str);
    return done;
}

static bool read_settings(ListFolder *from, GPtrArray *settings, GError **error)
{
    static const char *const usual[] = {"Precedence: bulk", "X-No-Archive: yes", "List-",
                                        "Return-Path",      "Return-Receipt-To", NULL};
    bool open = list_folder_has(from, "public"), confirm = !list_folder_has(from, "nosubconfirm");
    bool moderate = !open || list_folder_has(from, "modsub");
    set(settings, "subscription_policy", moderate ? "modsub" : "nosubconfirm",
        !moderate ? confirm ? "confirm" : "open"
        : confirm ? "confirm_then_moderate"
                  : "moderate");
    set(settings, "unsubscription_policy", "nounsubconfirm",
        list_folder_has(from, "nounsubconfirm") ? "open" : "confirm");
    if (!open)
        moving_tell(from->moving, MOVING_CHANGED, from->list_id, "public",
                    "it is not there, so whoever asks to join waits for a moderator; members can leave by mail");

    bool keep = list_folder_has(from, "mimekeep");
    const char *key = keep ? "mimekeep" : "mimeremove";
    g_auto(GStrv) types = list_folder_lines(from, key);
    g_autoptr(GString) words = g_string_new(NULL);
    for (char **type = types; *type; type++)
        moving_settings_add_word(words, *type);
    set(settings, "filter_content", key, *types ? "yes" : "no");
    set(settings, keep ? "pass_types" : "filter_types", key, words->str);

    g_autofree char *prefix = first_line(from, "prefix");
    if (prefix && strchr(prefix, '#'))
        moving_tell(from->moving, MOVING_CHANGED, from->list_id, "prefix",
                    "the number sign is no number of the post here");
    moving_settings_add(settings, "subject_prefix", "prefix", prefix ? g_strconcat(prefix, " ", NULL) : g_strdup(""));
    list_folder_fields(from, settings, "headeradd", "headerremove", usual);
    list_folder_footer(from, settings, "text/trailer");
    list_folder_number(from, settings, &(MovingSetting){"max_message_size", "msgsize", NULL}, KIB, 0);
    set(settings, "require_explicit_destination", "editor", "no");
    set(settings, "digests_enabled", "digested", list_folder_has(from, "digested") ? "yes" : "no");
    set(settings, "archive_policy", "archived", list_folder_has(from, "archived") ? "private" : "never");
    return set_posting(from, settings, error);
}

/* ---- members ---- */

typedef struct Kind {
    Role role;
    bool digest;
    GHashTable *free; /* folded addresses of those who may post where nobody else may; NULL: nobody is kept from it */
} Kind;

static bool add_free(ListFolder *from, const char *address, void *data, GError **error)
{
    (void)from, (void)error;
    char *key = mailbox_key(address);
    if (key)
        g_hash_table_add(data, key);
    return true;
}

static bool take_member(ListFolder *from, const char *address, void *data, GError **error)
{
    const Kind *kind = data;
    Preferences own = preferences_unset;
    own.delivery_mode = kind->digest ? MODE_MIME_DIGESTS : -1;
    g_autofree char *key = kind->free ? mailbox_key(address) : NULL;
    bool free = key && g_hash_table_contains(kind->free, key);
    return list_folder_member(from, address, kind->role, &own, free ? ACTION_ACCEPT : ACTION_UNSET, error);
}

static bool take_ban(ListFolder *from, const char *address, void *data, GError **error)
{
    (void)data;
    g_autofree char *escaped = *address == '@' ? g_regex_escape_string(address, -1) : NULL;
    g_autofree char *pattern = escaped ? g_strdup_printf("^.*%s$", escaped) : NULL;
    return moving_ban(from->moving, from->list_id, pattern ? pattern : address, error);
}

static bool move_members(ListFolder *from, GError **error)
{
    bool whole, done = moving_begin(from->moving, "members", from->list_id, MOVING_IN_PORTIONS, &whole, error);
    if (!done || whole)
        return done;
    bool few = list_folder_has(from, "modpost") && list_folder_has(from, "modpostonly");
    g_autoptr(GHashTable) free = few ? g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL) : NULL;
    g_autofree char *posts = moderators_of(from, "modpost");
    if (free && !each_address(from, posts, add_free, free, error))
        return false;

    g_auto(GStrv) lines = list_folder_lines(from, "owner"); /* which forward to addresses, or do something else */
    for (char **line = lines; *line; line++) {
        const char *address = **line == '&' ? *line + 1 : *line;
        if (**line == '#')
            continue;
        if (!mailbox_valid(address))
            moving_tell(from->moving, MOVING_LOST, from->list_id, "owner", "%s", *line);
        else if (!list_folder_member(from, address, ROLE_OWNER, NULL, ACTION_UNSET, error))
            return false;
    }
    const Kind moderator = {.role = ROLE_MODERATOR}, member = {.role = ROLE_MEMBER, .free = free},
               digest = {.role = ROLE_MEMBER, .digest = true, .free = free};
    for (size_t i = 0; i < G_N_ELEMENTS(moderated); i++) {
        g_autofree char *name = moderators_of(from, moderated[i]);
        if (list_folder_has(from, moderated[i]) && !each_address(from, name, take_member, (void *)&moderator, error))
            return false;
    }
    return each_address(from, "deny", take_ban, NULL, error) &&
           each_address(from, "", take_member, (void *)&member, error) &&
           each_address(from, "digest", take_member, (void *)&digest, error) && moving_end(from->moving, error);
}

/* ---- what waits, and what stays behind ---- */

static bool take_pending(ListFolder *from, const char *name, const char *path, void *data, GError **error)
{
    g_autofree char *file = g_build_filename("mod/pending", name, NULL);
    return list_folder_held(from, data, file, path, error);
}

static bool move_waiting(ListFolder *from, const List *list, GError **error)
{
    return list_folder_waiting(from, "mod/pending", take_pending, list, error);
}

/* Settings of later versions, and of programs that a site added. */
static bool tell_unknown(ListFolder *from, GError **error)
{
    GError *why = NULL;
    g_autoptr(GPtrArray) names = moving_names(from->directory, from->directory, &why);
    if (!names)
        return list_folder_pass_over(from, "", why, error);
    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i], *const all[] = {name, NULL};
        bool read = g_strv_contains(known, name) || g_strv_contains(lost, name) || g_strv_contains(kept, name);
        /* The folder with the addresses of moderators may have any name. */
        for (size_t at = 0; at < G_N_ELEMENTS(moderated) && !read; at++) {
            g_autofree char *folder = moderators_of(from, moderated[at]);
            read = list_folder_has(from, moderated[at]) && strcmp(folder, name) == 0;
        }
        if (read)
            continue;
        if (!load(from, all, error))
            return false;
        g_autofree char *line = first_line(from, name);
        moving_tell(from->moving, MOVING_LOST, from->list_id, name, "%s", line ? line : "is set");
    }
    return true;
}

static bool tell_behind(ListFolder *from, GError **error)
{
    unsigned unconfirmed, bounces, folders;
    if (!load(from, lost, error) || !list_folder_count(from, "mod/unconfirmed", &unconfirmed, error) ||
        !list_folder_count(from, "bounce", &bounces, error) || !list_folder_count(from, "archive", &folders, error))
        return false;
    for (const char *const *name = lost; *name; name++) {
        g_autofree char *line = first_line(from, *name);
        if (list_folder_has(from, *name))
            moving_tell(from->moving, MOVING_LOST, from->list_id, *name, "%s", line ? line : "is set");
    }
    if (!tell_unknown(from, error) || !list_folder_tell_texts(from, "trailer", error))
        return false;
    if (unconfirmed > 0)
        moving_tell(from->moving, MOVING_LOST, from->list_id, "mod/unconfirmed",
                    "%u posts wait for their senders to confirm them", unconfirmed);
    if (bounces > 0)
        moving_tell(from->moving, MOVING_LOST, from->list_id, "bounce",
                    "%u files about addresses whose mail comes back: they begin anew", bounces);
    list_folder_tell_archive(from, folders, "folders of posts");
    return true;
}

/* ---- a list ---- */

bool ezmlm_move(const char *directory, Moving *moving, GError **error)
{
    static const ListFolderReader reader = {read_settings, tell_behind, move_members, move_waiting};
    g_autoptr(GHashTable) texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    ListFolder from = {.moving = moving, .directory = directory, .list_id = (char *)directory, .texts = texts};
    if (!load(&from, known, error))
        return false;
    g_autofree char *local = first_line(&from, "outlocal"), *host = first_line(&from, "outhost");
    g_autofree char *number = first_line(&from, "num"), *id = first_line(&from, "listid");
    if (!local || !host)
        return moving_no_list(directory, "ezmlm", local ? "outhost" : "outlocal", error);
    g_autofree char *address = g_strdup_printf("%s@%s", local, host), *lower = g_ascii_strdown(address, -1);
    if (!mailbox_valid(lower))
        return fail(error, FAIL_CONFIG, "%s: outlocal and outhost name no address", directory);
    if (list_folder_has(&from, "subdb") || list_folder_has(&from, "sql"))
        return fail(error, FAIL_CONFIG,
                    "%s: its members are in a database (subdb, sql): bring them into files first, by "
                    "ezmlm-list and ezmlm-sub",
                    directory);
    /* listid may be "Talk <talk.example.com>". */
    char *begin = id ? strchr(id, '<') : NULL, *end = begin ? strchr(begin, '>') : NULL;
    g_autofree char *list_id = end && end > begin + 1 ? g_ascii_strdown(begin + 1, end - begin - 1)
                                                      : g_strdelimit(g_strdup(lower), "@", '.');
    from.address = lower;
    from.list_id = list_id;
    from.posts = number ? g_ascii_strtoll(number, NULL, 10) : 0;
    from.created_at = list_folder_time(&from, "key");
    from.last_post_at = list_folder_time(&from, "num");
    return list_folder_move(&from, &reader, error);
}
