/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/mailman2.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "lists/moving/file.h"
#include "lists/moving/mailman2_internal.h"
#include "lists/moving/setting_list.h"
#include "mail/mbox.h"
#include "store/language.h"
#include "store/lists/list_setting.h"

/* ---- members ---- */

/* Flags of user_options. */
enum {
    NO_MAIL = 1,
    NOT_OWN = 2,
    ACKNOWLEDGE = 4,
    PLAIN = 8,
    CONCEALED = 16,
    OTHER_TOPICS = 64,
    MODERATED = 128,
    NO_COPY = 256
};

/* A date as (year, month, day); 0: it is none. */
static int64_t date_of(const PickleValue *value)
{
    if (!value || value->type != PICKLE_LIST || value->items->len < 3)
        return 0;
    int64_t year = mailman2_number(value->items->pdata[0], 0), month = mailman2_number(value->items->pdata[1], 0),
            day = mailman2_number(value->items->pdata[2], 0);
    g_autoptr(GDateTime) date = year < 1970 || year > 9999 || month < 1 || month > 12 || day < 1 || day > 31
                                    ? NULL
                                    : g_date_time_new_utc((int)year, (int)month, (int)day, 0, 0, 0);
    return date ? g_date_time_to_unix(date) * CLOCK_SECOND : 0;
}

/* Set the member's bounces, and when the bounce runner has to look at them again (runners/bounces/score.h). */
static void set_standing(const Mailman2 *from, CarryMember *member, const List *list, const char *key)
{
    const PickleValue *info = g_hash_table_lookup(from->bounces, key), *state = info ? info->state : NULL;
    const PickleValue *score = pickle_get(state, "score");
    double points = score && score->type == PICKLE_FLOAT ? score->number : (double)mailman2_number(score, 0);
    bool disabled = member->preferences.delivery_status == DELIVERY_BY_BOUNCES;
    member->bounced_at = date_of(pickle_get(state, "date"));
    if (disabled) {
        const PickleValue *left = pickle_get(state, "noticesleft");
        int64_t warnings = list->settings->bounce_you_are_disabled_warnings;
        member->warnings = CLAMP(warnings - mailman2_number(left, warnings), 0, warnings);
        member->warned_at = member->warnings > 0 ? date_of(pickle_get(state, "lastnotice")) : 0;
        member->disabled_at = member->bounced_at > 0 ? member->bounced_at : clock_now();
        member->next_at = MAX(member->warned_at + list->settings->bounce_you_are_disabled_warnings_interval,
                              clock_now());
    } else if (member->bounced_at > 0 && points > 0) {
        member->score = (int64_t)(CLAMP(points, 0, 1e6) * 100);
        member->next_at = member->bounced_at + list->settings->bounce_info_stale_after + 1;
    }
}

static bool take_member(Mailman2 *from, const List *list, const char *key, const PickleValue *written, bool digest,
                        GError **error)
{
    static const Action actions[] = {ACTION_HOLD, ACTION_REJECT, ACTION_DISCARD};
    static const int statuses[] = {-1, DELIVERY_UNKNOWN, DELIVERY_BY_USER, DELIVERY_BY_MODERATOR, DELIVERY_BY_BOUNCES};
    int64_t options = mailman2_number(g_hash_table_lookup(from->options, key), 0);
    g_autofree char *name = mailman2_text(from, g_hash_table_lookup(from->names, key));
    g_autofree char *language = mailman2_text(from, g_hash_table_lookup(from->languages, key));
    const char *email = pickle_string(written) && *pickle_string(written) ? pickle_string(written) : key;
    const PickleValue *pair = g_hash_table_lookup(from->statuses, key);
    int64_t status = pair && pair->items && pair->items->len > 0 ? mailman2_number(pair->items->pdata[0], 0) : 0;
    Preferences own = preferences_unset;
    own.delivery_mode = digest ? options & PLAIN ? MODE_PLAINTEXT_DIGESTS : MODE_MIME_DIGESTS : -1;
    own.delivery_status = status > 0 && status < (int64_t)G_N_ELEMENTS(statuses) ? statuses[status]
                          : options & NO_MAIL                                    ? DELIVERY_BY_USER
                                                                                 : -1;
    own.acknowledge_posts = options & ACKNOWLEDGE ? 1 : -1;
    own.receive_own_postings = options & NOT_OWN ? 0 : -1;
    own.receive_list_copy = options & NO_COPY ? 0 : -1;
    own.hide_address = options & CONCEALED ? -1 : 0;
    if (language && g_strcmp0(language, list->settings->preferred_language) != 0 && language_check("", language, NULL))
        g_strlcpy(own.preferred_language, language, sizeof own.preferred_language);
    int64_t stricter = CLAMP(mailman2_number(pickle_get(from->config, "member_moderation_action"), 0), 0, 2);
    bool by_rule = list->settings->default_member_action != ACTION_DEFER;
    CarryMember member = {.list_id = list->list_id,
                            .address = email,
                            .display_name = name,
                            .role = ROLE_MEMBER,
                            .moderation_action = options & MODERATED ? actions[stricter]
                                                 : by_rule           ? ACTION_DEFER
                                                                     : ACTION_UNSET,
                            .preferences = own};
    set_standing(from, &member, list, key);
    const PickleValue *topics = g_hash_table_lookup(from->topics, key);
    g_autoptr(GString) wanted = g_string_new(NULL);
    for (guint i = 0; topics && topics->type == PICKLE_LIST && i < topics->items->len; i++) {
        g_autofree char *topic = mailman2_text(from, topics->items->pdata[i]);
        if (topic && *topic && !strpbrk(topic, "\r\n"))
            g_string_append_printf(wanted, "%s%s", wanted->len > 0 ? "\n" : "", topic);
    }
    member.topics = wanted->len > 0 ? wanted->str : NULL;
    member.topics_unmatched = options & OTHER_TOPICS;
    return moving_member(from->moving, &member, error);
}

static bool take_members(Mailman2 *from, const List *list, const char *key, bool digest, GError **error)
{
    const PickleValue *members = pickle_get(from->config, key);
    for (guint i = 0; members && members->type == PICKLE_DICT && i + 1 < members->items->len; i += 2) {
        const char *address = pickle_string(members->items->pdata[i]);
        if (address && !take_member(from, list, address, members->items->pdata[i + 1], digest, error))
            return false;
    }
    return true;
}

static bool take_role(Mailman2 *from, const char *key, Role role, GError **error)
{
    const PickleValue *addresses = pickle_get(from->config, key);
    for (guint i = 0; addresses && addresses->type == PICKLE_LIST && i < addresses->items->len; i++) {
        const char *address = pickle_string(addresses->items->pdata[i]);
        const CarryMember member = {.list_id = from->list_id,
                                      .address = address,
                                      .role = role,
                                      .moderation_action = ACTION_UNSET,
                                      .preferences = preferences_unset};
        if (address && !moving_member(from->moving, &member, error))
            return false;
    }
    return true;
}

static bool move_members(Mailman2 *from, const List *list, GError **error)
{
    static const char *const kinds[][2] = {
        {"admin_responses", "owner"}, {"postings_responses", "postings"}, {"request_responses", "requests"}};
    bool whole;
    if (!moving_begin(from->moving, "members", from->list_id, MOVING_IN_PORTIONS, &whole, error))
        return false;
    if (whole)
        return true;
    if (!take_role(from, "owner", ROLE_OWNER, error) || !take_role(from, "moderator", ROLE_MODERATOR, error) ||
        !take_members(from, list, "members", false, error) || !take_members(from, list, "digest_members", true, error))
        return false;

    /* When each address got its last automatic answer; Mailman keeps when it may get the next one. */
    int64_t grace = mailman2_number(pickle_get(from->config, "autoresponse_graceperiod"), 90) * 86400 * CLOCK_SECOND;
    for (size_t kind = 0; kind < G_N_ELEMENTS(kinds); kind++) {
        const PickleValue *answers = pickle_get(from->config, kinds[kind][0]);
        for (guint i = 0; answers && answers->type == PICKLE_DICT && i + 1 < answers->items->len; i += 2) {
            const char *address = pickle_string(answers->items->pdata[i]);
            int64_t time = mailman2_time(answers->items->pdata[i + 1]) - grace;
            if (address && time > 0 &&
                !moving_answered(from->moving, from->list_id, kinds[kind][1], address, time, error))
                return false;
        }
    }

    /* Members who left the digest while it was collected. */
    const PickleValue *left = pickle_get(from->config, "one_last_digest");
    for (guint i = 0; left && left->type == PICKLE_DICT && i + 1 < left->items->len; i += 2) {
        const char *address = pickle_string(left->items->pdata[i]);
        int64_t options = address ? mailman2_number(g_hash_table_lookup(from->options, address), 0) : 0;
        if (address && !moving_last_digest(from->moving, from->list_id, address,
                                           options & PLAIN ? MODE_PLAINTEXT_DIGESTS : MODE_MIME_DIGESTS, error))
            return false;
    }
    return moving_end(from->moving, error);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FILE, fclose)

/* ---- the digest, and what waits ---- */

/* Tell what is wrong with a file and go on, unless the system failed. why is taken. */
static bool pass_over(Mailman2 *from, const char *file, GError *why, GError **error)
{
    if (g_error_matches(why, FAIL, FAIL_LATER)) {
        g_propagate_prefixed_error(error, why, "%s/%s: ", from->directory, file);
        return false;
    }
    moving_tell(from->moving, MOVING_LEFT_OUT, from->list_id, file, "%s", why->message);
    g_error_free(why);
    return true;
}

static bool read_digest(Mailman2 *from, GError **error)
{
    g_autofree char *path = g_build_filename(from->directory, "digest.mbox", NULL);
    struct stat status;
    GError *why = NULL;
    MboxMail mail = {0};
    const char *lines;
    auto_fd fd = moving_open(from->directory, path, 0, &status, &why);
    if (fd < 0 && g_error_matches(why, FAIL, FAIL_MISSING)) {
        g_error_free(why);
        return true;
    }
    g_autoptr(FILE) file = fd < 0 ? NULL : fdopen(fd, "r");
    if (!file)
        return why ? pass_over(from, "digest.mbox", why, error) : fail_errno(error, FAIL_LATER, "%s", path);
    auto_fd_steal(&fd);
    g_autoptr(MboxReader) reader = mbox_reader_new(file);
    for (;;) {
        if (!mbox_reader_next(reader, &mail, &why))
            return pass_over(from, "digest.mbox", why, error);
        if (!mail.octets && mbox_reader_doubts(reader, &lines) > 0)
            moving_tell(from->moving, MOVING_CHANGED, from->list_id, "digest.mbox",
                        "lines that begin with \"From \" and are followed by a header field were taken as text: %s",
                        lines);
        if (!mail.octets)
            return true;
        g_autoptr(GBytes) post = g_bytes_new(mail.octets->str, mail.octets->len);
        int64_t time = mail.from_time ? mail.from_time : clock_now();
        if (!moving_digest_post(from->moving, from->list_id, post, time, error))
            return false;
    }
}

/* Held posts and requests: rows of request.pck, less its version. */
static bool tell_requests(Mailman2 *from, GError **error)
{
    GError *why = NULL;
    g_autofree char *path = g_build_filename(from->directory, "request.pck", NULL);
    g_autoptr(GBytes) bytes = moving_read_file(from->directory, path, &why);
    g_autoptr(Pickle) pickle = bytes ? pickle_read(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes), NULL, &why)
                                     : NULL;
    if (g_error_matches(why, FAIL, FAIL_MISSING)) {
        g_error_free(why);
        return true;
    }
    if (!pickle)
        return pass_over(from, "request.pck", why, error);
    const PickleValue *root = pickle_root(pickle);
    guint rows = root->type == PICKLE_DICT ? root->items->len / 2 : 0;
    rows -= pickle_get(root, "version") != NULL;
    if (rows > 0)
        moving_tell(from->moving, MOVING_LOST, from->list_id, "request.pck",
                    "%u held posts and requests wait there: decide about them in Mailman", rows);
    return true;
}

/* ---- a list ---- */

static bool make_list(void *data, List **list, GError **error)
{
    Mailman2 *from = data;
    g_autoptr(GPtrArray) settings = setting_list_new();
    const MovingDomain domain = {strchr(from->address, '@') + 1, NULL, NULL};
    const MovingList made = {.list = {.address = from->address,
                                      .list_id = from->list_id,
                                      .created_at = mailman2_time(pickle_get(from->config, "created_at")),
                                      .last_post_at = mailman2_time(pickle_get(from->config, "last_post_time")),
                                      .post_id = mailman2_number(pickle_get(from->config, "post_id"), 1),
                                      .archive = -1},
                             .settings = settings,
                             .volume = mailman2_number(pickle_get(from->config, "volume"), 1),
                             .next_digest = mailman2_number(pickle_get(from->config, "next_digest_number"), 1),
                             .digest_sent_at = mailman2_time(pickle_get(from->config, "digest_last_sent_at")),
                             .watermark = mailman2_number(pickle_get(from->config, "usenet_watermark"), -1)};
    mailman2_settings(from, settings);
    return moving_domain(from->moving, &domain, error) && moving_list(from->moving, &made, list, error) &&
           (!*list || (mailman2_bans(from, error) && mailman2_filters(from, error)));
}

bool mailman2_move(const char *directory, Moving *moving, GError **error)
{
    static const char *const classes[] = {"Mailman.", "copy_reg.", "__builtin__.object", NULL};
    g_autofree char *path = g_build_filename(directory, "config.pck", NULL);
    g_autoptr(GBytes) bytes = moving_read_mark(directory, "Mailman 2.1", "config.pck", error);
    if (!bytes)
        return false;
    g_autoptr(GError) broken = NULL;
    g_autoptr(Pickle) pickle = pickle_read(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes), classes, &broken);
    const PickleValue *config = pickle ? pickle_root(pickle) : NULL;
    const char *host = pickle_string(pickle_get(config, "host_name"));
    const char *name = pickle_string(pickle_get(config, "_internal_name"));
    g_autofree char *own = g_path_get_basename(directory);
    if (!host || !pickle_get(config, "members"))
        return fail(error, FAIL_CONFIG, "%s: it is no list of Mailman 2.1%s%s", path, broken ? ": " : "",
                    broken ? broken->message : "");
    g_autofree char *upper = g_strdup_printf("%s@%s", name ? name : own, host), *address = g_ascii_strdown(upper, -1);
    g_autofree char *list_id = g_strdelimit(g_strdup(address), "@", '.');
    g_autofree char *language = g_strdup(pickle_string(pickle_get(config, "preferred_language")));
    g_autoptr(GHashTable) options = pickle_table(pickle_get(config, "user_options")),
                          names = pickle_table(pickle_get(config, "usernames")),
                          languages = pickle_table(pickle_get(config, "language")),
                          statuses = pickle_table(pickle_get(config, "delivery_status")),
                          bounces = pickle_table(pickle_get(config, "bounce_info")),
                          topics = pickle_table(pickle_get(config, "topics_userinterest"));
    Mailman2 from = {.moving = moving,
                     .directory = directory,
                     .config = config,
                     .charset = mailman2_charset(language),
                     .list_id = list_id,
                     .address = address,
                     .options = options,
                     .names = names,
                     .languages = languages,
                     .statuses = statuses,
                     .bounces = bounces,
                     .topics = topics};
    bool in, whole;
    List *found = NULL;
    if (!moving_make(moving, list_id, make_list, &from, &in, error) || !tell_requests(&from, error) ||
        !moving_find_list(moving, list_id, &found, error))
        return false;
    g_autoptr(List) list = found;
    if (!list)
        return true;
    return move_members(&from, list, error) && moving_begin(moving, "digest", list_id, MOVING_AT_ONCE, &whole, error) &&
           (whole || (read_digest(&from, error) && moving_end(moving, error)));
}
