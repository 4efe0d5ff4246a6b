/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/mlmmj.h"

#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/moving/file.h"
#include "lists/moving/setting_list.h"
#include "lists/workflow.h"
#include "mail/address.h"
#include "mail/message.h"

#define KIB INT64_C(1024)
#define DAY INT64_C(86400) /* seconds */
#define REQUEST_LIFE (30 * DAY * CLOCK_SECOND)

typedef struct Mlmmj {
    Moving *moving;
    const char *directory;
    char *list_id, *address;
    GHashTable *control; /* texts of the files of control/ by their names */
} Mlmmj;

/* Files of control/ that are read here; of the others, those that have no equal. */
static const char *const known[] = {
    "addtohdr",       "closedlist",  "closedlistsub", "customheaders", "delheaders",
    "footer",         "listaddress", "maxmailsize",   "moderated",     "moderators",
    "modnonsubposts", "modonlypost", "modreqlife",    "noarchive",     "nodigestsub",
    "nosubconfirm",   "notifymod",   "notifysub",     "notmetoo",      "owner",
    "prefix",         "submod",      "subonlypost",   "tocc",          NULL,
};

static bool has(const Mlmmj *from, const char *name)
{
    return g_hash_table_contains(from->control, name);
}

/* The lines of a file of control/ that are not empty; g_strfreev(). */
static char **lines_of(const Mlmmj *from, const char *name)
{
    const char *text = g_hash_table_lookup(from->control, name);
    g_auto(GStrv) all = g_strsplit(text ? text : "", "\n", -1);
    GStrvBuilder *lines = g_strv_builder_new();
    for (char **line = all; *line; line++)
        if (*g_strstrip(*line))
            g_strv_builder_add(lines, *line);
    char **made = g_strv_builder_end(lines);
    g_strv_builder_unref(lines);
    return made;
}

static bool has_line(const Mlmmj *from, const char *name, const char *wanted)
{
    g_auto(GStrv) lines = lines_of(from, name);
    bool found = false;
    for (char **line = lines; *line; line++)
        found |= mailbox_same(*line, wanted);
    return found;
}

/* ---- files ---- */

/* Tell what is wrong with a file and go on, unless the system failed. why is taken. */
static bool pass_over(Mlmmj *from, const char *file, GError *why, GError **error)
{
    if (g_error_matches(why, FAIL, FAIL_LATER)) {
        g_propagate_error(error, why);
        return false;
    }
    moving_tell(from->moving, MOVING_LEFT_OUT, from->list_id, file, "%s", why->message);
    g_error_free(why);
    return true;
}

static int by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

typedef bool Take(Mlmmj *from, const char *name, const char *path, void *data, GError **error);

/* Call take for each file of a folder, in the order of their names. A folder that is not there has none. */
static bool each_file(Mlmmj *from, const char *folder, Take *take, void *data, GError **error)
{
    const char *name;
    g_autofree char *directory = g_build_filename(from->directory, folder, NULL);
    g_autoptr(GError) closed = NULL;
    g_autoptr(GDir) open = g_dir_open(directory, 0, &closed);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    if (!open && !g_error_matches(closed, G_FILE_ERROR, G_FILE_ERROR_NOENT))
        return fail(error, FAIL_LATER, "%s", closed->message);
    while (open && (name = g_dir_read_name(open)))
        if (*name != '.')
            g_ptr_array_add(names, g_strdup(name));
    g_ptr_array_sort(names, by_name);
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *path = g_build_filename(directory, names->pdata[i], NULL);
        if (!take(from, names->pdata[i], path, data, error))
            return false;
    }
    return true;
}

static bool count_file(Mlmmj *from, const char *name, const char *path, void *data, GError **error)
{
    (void)from, (void)path, (void)error;
    /* In queue/, these stand beside a mail, or hold what was thrown away. */
    *(unsigned *)data += !g_str_has_suffix(name, ".mailfrom") && !g_str_has_suffix(name, ".reciptto") &&
                         !g_str_equal(name, "discarded");
    return true;
}

/* The text of a file; NULL: told, or with *error. g_free() */
static char *read_text(Mlmmj *from, const char *key, const char *path, GError **error)
{
    GError *why = NULL;
    gsize length;
    g_autoptr(GBytes) bytes = moving_read_file(path, &why);
    if (!bytes) {
        pass_over(from, key, why, error);
        return NULL;
    }
    const char *text = g_bytes_get_data(bytes, &length);
    return g_utf8_make_valid(text ? text : "", (gssize)length);
}

static bool read_control(Mlmmj *from, const char *name, const char *path, void *data, GError **error)
{
    (void)data;
    GError *failure = NULL;
    char *text = read_text(from, name, path, &failure);
    if (text)
        g_hash_table_insert(from->control, g_strdup(name), text);
    if (failure)
        g_propagate_error(error, failure);
    return !failure;
}

static int64_t time_of(const Mlmmj *from, const char *file)
{
    struct stat status;
    g_autofree char *path = g_build_filename(from->directory, file, NULL);
    return stat(path, &status) == 0 ? status.st_mtim.tv_sec * CLOCK_SECOND : 0;
}

/* ---- settings ---- */

static void set(GPtrArray *settings, const char *name, const char *key, const char *value)
{
    setting_list_add(settings, name, key, g_strdup(value));
}

/* The first line as a number, divided by unit and rounded up; otherwise: there is no such file. */
static void set_number(const Mlmmj *from, GPtrArray *settings, const char *name, const char *key, int64_t unit,
                       int64_t otherwise)
{
    g_auto(GStrv) lines = lines_of(from, key);
    int64_t number = *lines ? g_ascii_strtoll(*lines, NULL, 10) : otherwise * unit;
    number = CLAMP(number, 0, INT64_MAX - unit);
    setting_list_add(settings, name, key, g_strdup_printf("%" G_GINT64_FORMAT, (number + unit - 1) / unit));
}

static void set_posting(const Mlmmj *from, GPtrArray *settings)
{
    const char *refused = has(from, "modnonsubposts") ? "hold" : "reject";
    bool moderated = has(from, "moderated"), few = has(from, "modonlypost");
    const char *key = few ? "modonlypost" : has(from, "subonlypost") ? "subonlypost" : "moderated";
    set(settings, "default_member_action", few ? "modonlypost" : "moderated",
        few         ? refused
        : moderated ? "hold"
                    : "defer");
    set(settings, "default_nonmember_action", key,
        few || has(from, "subonlypost") ? refused
        : moderated                     ? "hold"
                                        : "accept");
    if (few) {
        g_autoptr(GString) words = g_string_new(NULL);
        g_auto(GStrv) moderators = lines_of(from, "moderators");
        for (char **one = moderators; *one; one++)
            setting_list_add_word(words, *one);
        set(settings, "accept_these_nonmembers", "moderators", words->str);
    }
}

static void set_joining(Mlmmj *from, GPtrArray *settings)
{
    const char *key = has(from, "closedlist") ? "closedlist" : "closedlistsub";
    bool closed = has(from, "closedlist") || has(from, "closedlistsub"), confirm = !has(from, "nosubconfirm");
    bool moderate = closed || has(from, "submod");
    set(settings, "subscription_policy", moderate ? "submod" : "nosubconfirm",
        !moderate ? confirm ? "confirm" : "open"
        : confirm ? "confirm_then_moderate"
                  : "moderate");
    set(settings, "unsubscription_policy", "nosubconfirm", confirm ? "confirm" : "open");
    if (closed)
        moving_tell(from->moving, MOVING_CHANGED, from->list_id, key, "whoever asks to join waits for a moderator%s",
                    has(from, "closedlist") ? ", and members can leave by mail" : "");
}

/* Reply-To is known; every other field stays behind. */
static void set_fields(Mlmmj *from, GPtrArray *settings)
{
    g_auto(GStrv) added = lines_of(from, "customheaders"), removed = lines_of(from, "delheaders");
    for (char **line = added; *line; line++) {
        char *value = strchr(*line, ':');
        g_autofree char *address = value ? g_strstrip(g_strdup(value + 1)) : NULL;
        if (!value || g_ascii_strncasecmp(*line, "Reply-To:", strlen("Reply-To:")) != 0) {
            moving_tell(from->moving, MOVING_LOST, from->list_id, "customheaders", "%s", *line);
            continue;
        }
        bool own = mailbox_same(address, from->address);
        set(settings, "reply_goes_to_list", "customheaders", own ? "point_to_list" : "explicit_header");
        set(settings, "reply_to_address", "customheaders", own ? "" : address);
        set(settings, "first_strip_reply_to", "customheaders", "yes");
    }
    for (char **line = removed; *line; line++)
        if (g_ascii_strcasecmp(*line, "Reply-To:") == 0)
            set(settings, "first_strip_reply_to", "delheaders", "yes");
        else
            moving_tell(from->moving, MOVING_LOST, from->list_id, "delheaders", "%s", *line);
}

static void set_texts(const Mlmmj *from, GPtrArray *settings)
{
    g_auto(GStrv) prefix = lines_of(from, "prefix"), addresses = lines_of(from, "listaddress");
    g_autoptr(GString) aliases = g_string_new(NULL);
    for (char **other = *addresses ? addresses + 1 : addresses; *other; other++)
        setting_list_add_word(aliases, *other);
    setting_list_add(settings, "subject_prefix", "prefix", *prefix ? g_strconcat(*prefix, " ", NULL) : g_strdup(""));
    set(settings, "acceptable_aliases", "listaddress", aliases->str);
    const char *footer = g_hash_table_lookup(from->control, "footer");
    g_autoptr(GString) text = g_string_new(footer ? footer : "");
    g_string_replace(text, "$", "$$", 0);
    set(settings, "msg_footer", "footer", text->str);
}

static void read_settings(Mlmmj *from, GPtrArray *settings)
{
    set_posting(from, settings);
    set_joining(from, settings);
    set_fields(from, settings);
    set_texts(from, settings);
    set(settings, "require_explicit_destination", "tocc", has(from, "tocc") ? "no" : "yes");
    set(settings, "admin_notify_mchanges", "notifysub", has(from, "notifysub") ? "yes" : "no");
    set(settings, "respond_to_post_requests", "notifymod", has(from, "notifymod") ? "yes" : "no");
    set(settings, "archive_policy", "noarchive", has(from, "noarchive") ? "never" : "private");
    set(settings, "personalize", "addtohdr", has(from, "addtohdr") ? "full" : "none");
    set(settings, "digests_enabled", "nodigestsub", has(from, "nodigestsub") ? "no" : "yes");
    set_number(from, settings, "max_message_size", "maxmailsize", KIB, 0);
    set_number(from, settings, "max_days_to_hold", "modreqlife", DAY, 7);
}

/* What has no equal; each file once, in order. */
static bool tell_lost(Mlmmj *from, const char *name, const char *path, void *data, GError **error)
{
    (void)path, (void)data, (void)error;
    g_auto(GStrv) lines = lines_of(from, name);
    if (!g_strv_contains(known, name))
        moving_tell(from->moving, MOVING_LOST, from->list_id, name, "%s", *lines ? *lines : "is set");
    return true;
}

static bool tell_behind(Mlmmj *from, GError **error)
{
    static const char *const folders[][2] = {
        {"archive", "posts: bring them by listrunner archive import"},
        {"bounce", "addresses whose mail comes back: they begin anew"},
        {"queue", "mails wait to be sent: let mlmmj send them"},
        {"subconf", "letters that ask whether somebody wants to join: they are good no more"},
        {"unsubconf", "letters that ask whether somebody wants to leave: they are good no more"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(folders); i++) {
        unsigned count = 0;
        if (!each_file(from, folders[i][0], count_file, &count, error))
            return false;
        if (count > 0)
            moving_tell(from->moving, MOVING_LOST, from->list_id, folders[i][0], "%u %s", count, folders[i][1]);
    }
    return each_file(from, "control", tell_lost, NULL, error);
}

/* ---- members ---- */

typedef struct Kind {
    const char *folder;
    int mode, status; /* -1: not set */
} Kind;

static bool take_member(Mlmmj *from, const char *address, Role role, const Kind *kind, GError **error)
{
    Preferences own = preferences_unset;
    own.delivery_mode = kind ? kind->mode : -1;
    own.delivery_status = kind ? kind->status : -1;
    own.receive_own_postings = kind && has(from, "notmetoo") ? 0 : -1;
    bool free = role == ROLE_MEMBER && has(from, "modonlypost") && has_line(from, "moderators", address);
    const BroughtMember member = {.list_id = from->list_id,
                                  .address = address,
                                  .role = role,
                                  .moderation_action = free ? ACTION_ACCEPT : ACTION_UNSET,
                                  .preferences = own};
    return moving_member(from->moving, &member, error);
}

static bool take_lines(Mlmmj *from, const char *text, Role role, const Kind *kind, GError **error)
{
    g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
    for (char **line = lines; *line; line++)
        if (*g_strstrip(*line) && !take_member(from, *line, role, kind, error))
            return false;
    return true;
}

static bool take_members(Mlmmj *from, const char *name, const char *path, void *data, GError **error)
{
    (void)name;
    const Kind *kind = data;
    GError *failure = NULL;
    g_autofree char *text = read_text(from, kind->folder, path, &failure);
    if (!failure)
        return take_lines(from, text, ROLE_MEMBER, kind, error);
    g_propagate_error(error, failure);
    return false;
}

static bool move_members(Mlmmj *from, GError **error)
{
    static const Kind kinds[] = {
        {"subscribers.d", -1, -1}, {"digesters.d", MODE_MIME_DIGESTS, -1}, {"nomailsubs.d", -1, DELIVERY_BY_USER}};
    bool whole, done = moving_begin(from->moving, "members", from->list_id, MOVING_IN_PORTIONS, &whole, error);
    if (!done || whole)
        return done;
    done = take_lines(from, g_hash_table_lookup(from->control, "owner"), ROLE_OWNER, NULL, error) &&
           take_lines(from, g_hash_table_lookup(from->control, "moderators"), ROLE_MODERATOR, NULL, error) &&
           take_lines(from, g_hash_table_lookup(from->control, "submod"), ROLE_MODERATOR, NULL, error);
    for (size_t i = 0; done && i < G_N_ELEMENTS(kinds); i++)
        done = each_file(from, kinds[i].folder, take_members, (void *)&kinds[i], error);
    return done && moving_end(from->moving, error);
}

/* ---- what waits ---- */

/* The author's address; g_free(). */
static char *author_of(GBytes *message)
{
    g_autoptr(Message) parsed = message_new(message);
    g_autofree char *value = message_value(parsed, "From");
    g_autoptr(GPtrArray) addresses = address_list_new();
    address_parse(value ? value : "", value ? strlen(value) : 0, addresses);
    const Address *first = addresses->len > 0 ? addresses->pdata[0] : NULL;
    return g_strdup(first ? first->mailbox : "");
}

/* Somebody asks to join: the address, and the kind of member. */
static bool take_request(Mlmmj *from, const char *name, const char *path, int64_t time, GError **error)
{
    GError *failure = NULL;
    g_autofree char *text = read_text(from, name, path, &failure);
    g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", 3);
    if (failure) {
        g_propagate_error(error, failure);
        return false;
    }
    const char *sort = *lines ? lines[1] : NULL;
    bool digest = g_strcmp0(sort, "SUB_DIGEST") == 0, nomail = g_strcmp0(sort, "SUB_NOMAIL") == 0;
    const Pending request = {.kind = PENDING_JOIN,
                             .list_id = from->list_id,
                             .address = *lines ? *lines : (char *)"",
                             .facts = FACT_VERIFIED | FACT_CONFIRMED,
                             .waits_for = PENDING_MODERATOR,
                             .made_at = time,
                             .asked_at = time,
                             .expires_at = clock_now() + REQUEST_LIFE,
                             .delivery_mode = digest ? MODE_MIME_DIGESTS : -1,
                             .delivery_status = nomail ? DELIVERY_BY_USER : -1,
                             .welcome = WELCOME_AS_LIST};
    return !text || moving_request(from->moving, &request, NULL, error);
}

static bool take_waiting(Mlmmj *from, const char *name, const char *path, void *data, GError **error)
{
    const List *list = data;
    GError *why = NULL;
    struct stat status;
    g_autofree char *key = g_build_filename("moderation", name, NULL);
    int64_t time = stat(path, &status) == 0 ? status.st_mtim.tv_sec * CLOCK_SECOND : clock_now();
    if (g_str_has_prefix(name, "subscribe"))
        return take_request(from, key, path, time, error);
    g_autoptr(GBytes) message = moving_read_file(path, &why);
    if (!message)
        return pass_over(from, key, why, error);
    g_autofree char *author = author_of(message);
    Held held = {.list_id = from->list_id,
                 .sender = author,
                 .reason = (char *)"it waited for a moderator in mlmmj",
                 .held_at = time,
                 .message = message};
    return moving_post(from->moving, list, &held, author, error);
}

static bool move_waiting(Mlmmj *from, const List *list, GError **error)
{
    bool whole;
    return moving_begin(from->moving, "waiting", from->list_id, MOVING_IN_PORTIONS, &whole, error) &&
           (whole ||
            (each_file(from, "moderation", take_waiting, (void *)list, error) && moving_end(from->moving, error)));
}

/* ---- a list ---- */

static bool make_list(Mlmmj *from, List **list, GError **error)
{
    GError *missing = NULL;
    g_autoptr(GPtrArray) settings = setting_list_new();
    g_autofree char *path = g_build_filename(from->directory, "index", NULL);
    g_autoptr(GBytes) index = moving_read_file(path, &missing);
    g_autofree char *number = index ? g_strndup(g_bytes_get_data(index, NULL) ?: "", g_bytes_get_size(index)) : NULL;
    int64_t posts = number ? g_ascii_strtoll(number, NULL, 10) : 0;
    g_clear_error(&missing);
    const MovingDomain domain = {strchr(from->address, '@') + 1, NULL, NULL};
    const MovingList made = {.list = {.address = from->address,
                                      .list_id = from->list_id,
                                      .created_at = time_of(from, "control/listaddress"),
                                      .last_post_at = posts > 0 ? time_of(from, "index") : 0,
                                      .post_id = CLAMP(posts, 0, INT32_MAX) + 1},
                             .settings = settings,
                             .volume = 1,
                             .next_digest = 1,
                             .watermark = -1};
    read_settings(from, settings);
    return moving_domain(from->moving, &domain, error) && moving_list(from->moving, &made, list, error);
}

static bool move_list(Mlmmj *from, GError **error)
{
    bool whole;
    List *made = NULL, *found = NULL;
    if (!moving_begin(from->moving, "list", from->list_id, MOVING_AT_ONCE, &whole, error))
        return false;
    if (whole)
        moving_there(from->moving, MOVING_LISTS);
    else if (!make_list(from, &made, error))
        return false;
    else if (!made)
        moving_cancel(from->moving);
    else if (!moving_end(from->moving, error))
        return false;
    list_free(made);
    if (!tell_behind(from, error) || !moving_find_list(from->moving, "list", from->list_id, &found, error))
        return false;
    g_autoptr(List) list = found;
    return !list || (move_members(from, error) && move_waiting(from, list, error));
}

bool mlmmj_move(const char *directory, Moving *moving, GError **error)
{
    g_autoptr(GHashTable) control = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autofree char *path = g_build_filename(directory, "control", "listaddress", NULL);
    g_autoptr(GBytes) bytes = moving_read_file(path, error);
    if (!bytes)
        return false;
    g_autofree char *text = g_strndup(g_bytes_get_data(bytes, NULL) ?: "", g_bytes_get_size(bytes));
    text[strcspn(text, "\r\n")] = '\0';
    g_autofree char *address = g_ascii_strdown(g_strstrip(text), -1);
    if (!mailbox_valid(address))
        return fail(error, FAIL_CONFIG, "%s: it names no address, so this is no list of mlmmj", path);
    g_autofree char *list_id = g_strdelimit(g_strdup(address), "@", '.');
    Mlmmj from = {moving, directory, list_id, address, control};
    return each_file(&from, "control", read_control, NULL, error) && move_list(&from, error);
}
