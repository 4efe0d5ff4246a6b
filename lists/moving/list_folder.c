/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/list_folder.h"

#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/mailbox.h"
#include "lists/moving/file.h"
#include "mail/address.h"
#include "mail/message.h"

/* ---- files ---- */

bool list_folder_has(const ListFolder *from, const char *name)
{
    return g_hash_table_contains(from->texts, name);
}

char **list_folder_lines(const ListFolder *from, const char *name)
{
    const char *text = g_hash_table_lookup(from->texts, name);
    g_auto(GStrv) all = g_strsplit(text ? text : "", "\n", -1);
    GStrvBuilder *lines = g_strv_builder_new();
    for (char **line = all; *line; line++)
        if (*g_strstrip(*line))
            g_strv_builder_add(lines, *line);
    char **made = g_strv_builder_end(lines);
    g_strv_builder_unref(lines);
    return made;
}

bool list_folder_pass_over(ListFolder *from, const char *file, GError *why, GError **error)
{
    if (g_error_matches(why, FAIL, FAIL_LATER)) {
        g_propagate_error(error, why);
        return false;
    }
    moving_tell(from->moving, MOVING_LEFT_OUT, from->list_id, file, "%s", why->message);
    g_error_free(why);
    return true;
}

bool list_folder_each(ListFolder *from, const char *folder, ListFolderTake *take, void *data, GError **error)
{
    g_autofree char *directory = g_build_filename(from->directory, folder, NULL);
    GError *why = NULL;
    g_autoptr(GPtrArray) names = moving_names(from->directory, directory, &why);
    if (!names)
        return list_folder_pass_over(from, folder, why, error);
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *path = g_build_filename(directory, names->pdata[i], NULL);
        if (!take(from, names->pdata[i], path, data, error))
            return false;
    }
    return true;
}

static bool count_file(ListFolder *from, const char *name, const char *path, void *data, GError **error)
{
    (void)from, (void)path, (void)error;
    /* In a queue of mlmmj, these stand beside a mail, or hold what was thrown away. */
    *(unsigned *)data += !g_str_has_suffix(name, ".mailfrom") && !g_str_has_suffix(name, ".reciptto") &&
                         !g_str_equal(name, "discarded");
    return true;
}

bool list_folder_count(ListFolder *from, const char *folder, unsigned *count, GError **error)
{
    *count = 0;
    return list_folder_each(from, folder, count_file, count, error);
}

/* As it is typed into a shell; g_free(). */
static char *shell_word(const char *text)
{
    static const char plain[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "@%+=:,./_-";
    return strspn(text, plain) == strlen(text) ? g_strdup(text) : g_shell_quote(text);
}

void list_folder_tell_archive(const ListFolder *from, unsigned count, const char *what)
{
    g_autofree char *path = g_build_filename(from->directory, "archive", NULL);
    g_autofree char *whole = g_canonicalize_filename(path, NULL), *folder = shell_word(whole);
    g_autofree char *address = shell_word(from->address);
    if (count > 0)
        moving_tell(from->moving, MOVING_LOST, from->list_id, "archive", "%u %s: listrunner archive import %s %s",
                    count, what, address, folder);
}

bool list_folder_tell_texts(ListFolder *from, const char *read, GError **error)
{
    unsigned count;
    g_autofree char *path = g_build_filename(from->directory, "text", read ? read : "", NULL);
    struct stat status;
    if (!list_folder_count(from, "text", &count, error))
        return false;
    count -= count > 0 && read && moving_stat(from->directory, path, &status);
    if (count > 0)
        moving_tell(from->moving, MOVING_LOST, from->list_id, "text",
                    "%u texts of letters: Listrunner sends its own; listrunner template set has others", count);
    return true;
}

bool list_folder_text(ListFolder *from, const char *key, const char *path, char **text, GError **error)
{
    gsize length;
    GError *why = NULL;
    g_autoptr(GBytes) bytes = moving_read_file(from->directory, path, &why);
    const char *octets = bytes ? g_bytes_get_data(bytes, &length) : NULL;
    *text = bytes ? g_utf8_make_valid(octets ? octets : "", (gssize)length) : NULL;
    return bytes || list_folder_pass_over(from, key, why, error);
}

bool list_folder_load(ListFolder *from, const char *name, const char *path, GError **error)
{
    char *text = NULL;
    struct stat status;
    g_autoptr(GError) missing = NULL;
    auto_fd file = moving_open(from->directory, path, 0, &status, &missing);
    if (g_error_matches(missing, FAIL, FAIL_MISSING))
        return true;
    bool done = list_folder_text(from, name, path, &text, error);
    if (text)
        g_hash_table_insert(from->texts, g_strdup(name), text);
    return done;
}

int64_t list_folder_time(const ListFolder *from, const char *file)
{
    struct stat status;
    g_autofree char *path = g_build_filename(from->directory, file, NULL);
    return moving_stat(from->directory, path, &status) ? status.st_mtim.tv_sec * CLOCK_SECOND : 0;
}

/* ---- settings ---- */

static void set(GPtrArray *settings, const char *name, const char *key, const char *value)
{
    moving_settings_add(settings, name, key, g_strdup(value));
}

void list_folder_number(const ListFolder *from, GPtrArray *settings, const MovingSetting *setting, int64_t unit,
                        int64_t otherwise)
{
    g_auto(GStrv) lines = list_folder_lines(from, setting->key);
    int64_t number = *lines ? g_ascii_strtoll(*lines, NULL, 10) : otherwise * unit;
    number = CLAMP(number, 0, INT64_MAX - unit);
    moving_settings_add(settings, setting->name, setting->key,
                     g_strdup_printf("%" G_GINT64_FORMAT, (number + unit - 1) / unit));
}

static bool is_usual(const char *const *usual, const char *line)
{
    while (*usual && g_ascii_strncasecmp(line, *usual, strlen(*usual)) != 0)
        usual++;
    return *usual != NULL;
}

void list_folder_fields(ListFolder *from, GPtrArray *settings, const char *added, const char *removed,
                        const char *const *usual)
{
    static const char reply[] = "Reply-To";
    g_auto(GStrv) more = list_folder_lines(from, added), fewer = list_folder_lines(from, removed);
    for (char **line = more; *line; line++)
        if (g_ascii_strncasecmp(*line, reply, strlen(reply)) == 0 && (*line)[strlen(reply)] == ':') {
            g_autofree char *address = g_strstrip(g_strdup(*line + strlen(reply) + 1));
            bool own = mailbox_same(address, from->address);
            set(settings, "reply_goes_to_list", added, own ? "point_to_list" : "explicit_header");
            set(settings, "reply_to_address", added, own ? "" : address);
            set(settings, "first_strip_reply_to", added, "yes");
        } else if (!is_usual(usual, *line))
            moving_tell(from->moving, MOVING_LOST, from->list_id, added, "%s", *line);
    for (char **line = fewer; *line; line++)
        if (g_ascii_strncasecmp(*line, reply, strlen(reply)) == 0)
            set(settings, "first_strip_reply_to", removed, "yes");
        else if (!is_usual(usual, *line))
            moving_tell(from->moving, MOVING_LOST, from->list_id, removed, "%s", *line);
}

void list_folder_footer(const ListFolder *from, GPtrArray *settings, const char *name)
{
    const char *footer = g_hash_table_lookup(from->texts, name);
    g_autoptr(GString) text = g_string_new(footer ? footer : "");
    g_string_replace(text, "$", "$$", 0);
    set(settings, "msg_footer", name, text->str);
}

/* ---- members, and what waits ---- */

bool list_folder_member(ListFolder *from, const char *address, Role role, const Preferences *preferences, Action action,
                        GError **error)
{
    const CarryMember member = {.list_id = from->list_id,
                                  .address = address,
                                  .role = role,
                                  .moderation_action = action,
                                  .preferences = preferences ? *preferences : preferences_unset};
    return moving_member(from->moving, &member, error);
}

bool list_folder_waiting(ListFolder *from, const char *folder, ListFolderTake *take, const List *list, GError **error)
{
    bool whole;
    return moving_begin(from->moving, "waiting", from->list_id, MOVING_IN_PORTIONS, &whole, error) &&
           (whole || (list_folder_each(from, folder, take, (void *)list, error) && moving_end(from->moving, error)));
}

bool list_folder_held(ListFolder *from, const List *list, const char *file, const char *path, GError **error)
{
    GError *why = NULL;
    struct stat status;
    g_autoptr(GBytes) message = moving_read_file(from->directory, path, &why);
    if (!message)
        return list_folder_pass_over(from, file, why, error);
    g_autoptr(Message) parsed = message_new(message);
    g_autofree char *value = message_value(parsed, "From");
    g_autoptr(GPtrArray) addresses = address_list_new();
    address_parse(value ? value : "", value ? strlen(value) : 0, addresses);
    char *author = addresses->len > 0 ? ((const Address *)addresses->pdata[0])->mailbox : (char *)"";
    Held held = {.list_id = from->list_id,
                 .sender = author,
                 .reason = (char *)"it waited for a moderator before the list moved here",
                 .held_at = moving_stat(from->directory, path, &status) ? status.st_mtim.tv_sec * CLOCK_SECOND
                                                                : clock_now(),
                 .message = message};
    return moving_post(from->moving, list, &held, author, error);
}

/* ---- a list ---- */

typedef struct FolderMaking {
    ListFolder *from;
    const ListFolderReader *reader;
} FolderMaking;

static bool make_list(void *data, List **list, GError **error)
{
    const FolderMaking *making = data;
    ListFolder *from = making->from;
    g_autoptr(GPtrArray) settings = moving_settings_new();
    const MovingDomain domain = {strchr(from->address, '@') + 1, NULL, NULL};
    const MovingList made = {.list = {.address = from->address,
                                      .list_id = from->list_id,
                                      .created_at = from->created_at,
                                      .last_post_at = from->posts > 0 ? from->last_post_at : 0,
                                      .post_id = CLAMP(from->posts, 0, INT32_MAX) + 1,
                                      .archive = -1},
                             .settings = settings,
                             .volume = 1,
                             .next_digest = 1,
                             .watermark = -1};
    return making->reader->settings(from, settings, error) && moving_domain(from->moving, &domain, error) &&
           moving_list(from->moving, &made, list, error);
}

bool list_folder_move(ListFolder *from, const ListFolderReader *reader, GError **error)
{
    bool in;
    List *found = NULL;
    if (!moving_make(from->moving, from->list_id, make_list, &(FolderMaking){from, reader}, &in, error) ||
        !reader->behind(from, error) || !moving_find_list(from->moving, from->list_id, &found, error))
        return false;
    g_autoptr(List) list = found;
    return !list || (reader->members(from, error) && reader->waiting(from, list, error));
}
