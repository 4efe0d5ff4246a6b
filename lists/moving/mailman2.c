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
#include "lists/moving/pickle.h"
#include "lists/moving/setting_list.h"
#include "mail/charset.h"
#include "mail/mbox.h"
#include "store/language.h"

typedef struct Mailman2 {
    Moving *moving;
    const char *directory;
    const PickleValue *config;
    const char *charset; /* of texts that are bytes */
    char *list_id, *address;
    GHashTable *options, *names, *languages, *statuses; /* of members: pickle_table() */
} Mailman2;

typedef enum KeyKind {
    KEY_FLAG,
    KEY_NUMBER,
    KEY_TEXT,
    KEY_CHOICE,  /* words in the order of its numbers */
    KEY_SECONDS, /* a time */
    KEY_DAYS,
    KEY_WORDS, /* a list of texts */
    KEY_LINES, /* words, one a line */
    KEY_LOST,  /* no equal here; `words` is the value that says nothing */
} KeyKind;

typedef struct Key {
    const char *name;
    KeyKind kind;
    const char *ours; /* NULL: the same name */
    const char *words;
} Key;

#define AUTORESPOND "none|respond_and_continue|respond_and_discard"

/* Mailman's names, as Listrunner takes them. */
static const Key keys[] = {
    {"accept_these_nonmembers", .kind = KEY_WORDS},
    {"acceptable_aliases", .kind = KEY_LINES},
    {"admin_immed_notify", .kind = KEY_FLAG},
    {"admin_notify_mchanges", .kind = KEY_FLAG},
    {"administrivia", .kind = KEY_FLAG},
    {"advertised", .kind = KEY_FLAG},
    {"anonymous_list", .kind = KEY_FLAG},
    {"autorespond_admin", .kind = KEY_CHOICE, .ours = "autorespond_owner", .words = "none|respond_and_continue"},
    {"autorespond_postings", .kind = KEY_CHOICE, .words = "none|respond_and_continue"},
    {"autorespond_requests", .kind = KEY_CHOICE, .words = AUTORESPOND},
    {"autoresponse_admin_text", .kind = KEY_TEXT, .ours = "autoresponse_owner_text"},
    {"autoresponse_graceperiod", .kind = KEY_DAYS, .ours = "autoresponse_grace_period"},
    {"autoresponse_postings_text", .kind = KEY_TEXT},
    {"autoresponse_request_text", .kind = KEY_TEXT},
    {"bounce_info_stale_after", .kind = KEY_SECONDS},
    {"bounce_matching_headers", .kind = KEY_TEXT},
    {"bounce_notify_owner_on_disable", .kind = KEY_FLAG},
    {"bounce_notify_owner_on_removal", .kind = KEY_FLAG},
    {"bounce_processing", .kind = KEY_FLAG, .ours = "process_bounces"},
    {"bounce_score_threshold", .kind = KEY_NUMBER},
    {"bounce_you_are_disabled_warnings", .kind = KEY_NUMBER},
    {"bounce_you_are_disabled_warnings_interval", .kind = KEY_SECONDS},
    {"collapse_alternatives", .kind = KEY_FLAG},
    {"convert_html_to_plaintext", .kind = KEY_FLAG},
    {"description", .kind = KEY_TEXT},
    {"digest_is_default", .kind = KEY_FLAG},
    {"digest_send_periodic", .kind = KEY_FLAG},
    {"digest_size_threshhold", .kind = KEY_NUMBER, .ours = "digest_size_threshold"},
    {"digest_volume_frequency", .kind = KEY_CHOICE, .words = "yearly|monthly|quarterly|weekly|daily"},
    {"digestable", .kind = KEY_FLAG, .ours = "digests_enabled"},
    {"discard_these_nonmembers", .kind = KEY_WORDS},
    {"dmarc_moderation_action", .kind = KEY_CHOICE, .ours = "dmarc_mitigate_action",
     .words = "no_mitigation|munge_from|wrap_message|reject|discard"},
    {"dmarc_moderation_notice", .kind = KEY_TEXT},
    {"dmarc_wrapped_message_text", .kind = KEY_TEXT},
    {"emergency", .kind = KEY_FLAG},
    {"filter_action", .kind = KEY_CHOICE, .words = "discard|reject|forward|preserve"},
    {"filter_content", .kind = KEY_FLAG},
    {"filter_filename_extensions", .kind = KEY_WORDS, .ours = "filter_extensions"},
    {"filter_mime_types", .kind = KEY_WORDS, .ours = "filter_types"},
    {"first_strip_reply_to", .kind = KEY_FLAG},
    {"gateway_to_mail", .kind = KEY_FLAG},
    {"gateway_to_news", .kind = KEY_FLAG},
    {"generic_nonmember_action", .kind = KEY_CHOICE, .ours = "default_nonmember_action",
     .words = "accept|hold|reject|discard"},
    {"hold_these_nonmembers", .kind = KEY_WORDS},
    {"include_list_post_header", .kind = KEY_FLAG, .ours = "allow_list_posts"},
    {"include_rfc2369_headers", .kind = KEY_FLAG},
    {"info", .kind = KEY_TEXT},
    {"linked_newsgroup", .kind = KEY_TEXT},
    {"max_days_to_hold", .kind = KEY_NUMBER},
    {"max_message_size", .kind = KEY_NUMBER},
    {"max_num_recipients", .kind = KEY_NUMBER},
    {"news_moderation", .kind = KEY_CHOICE, .ours = "newsgroup_moderation", .words = "none|open_moderated|moderated"},
    {"news_prefix_subject_too", .kind = KEY_FLAG, .ours = "nntp_prefix_subject_too"},
    {"pass_filename_extensions", .kind = KEY_WORDS, .ours = "pass_extensions"},
    {"pass_mime_types", .kind = KEY_WORDS, .ours = "pass_types"},
    {"personalize", .kind = KEY_CHOICE, .words = "none|individual|full"},
    {"preferred_language", .kind = KEY_TEXT},
    {"private_roster", .kind = KEY_CHOICE, .ours = "member_roster_visibility", .words = "public|members|moderators"},
    {"real_name", .kind = KEY_TEXT, .ours = "display_name"},
    {"reject_these_nonmembers", .kind = KEY_WORDS},
    {"reply_goes_to_list", .kind = KEY_CHOICE, .words = "no_munging|point_to_list|explicit_header"},
    {"reply_to_address", .kind = KEY_TEXT},
    {"require_explicit_destination", .kind = KEY_FLAG},
    {"respond_to_post_requests", .kind = KEY_FLAG},
    {"send_goodbye_msg", .kind = KEY_FLAG, .ours = "send_goodbye_message"},
    {"send_welcome_msg", .kind = KEY_FLAG, .ours = "send_welcome_message"},
    {"subject_prefix", .kind = KEY_TEXT},
    {"subscribe_policy", .kind = KEY_CHOICE, .ours = "subscription_policy",
     .words = "open|confirm|moderate|confirm_then_moderate"},
    {"topics_bodylines_limit", .kind = KEY_NUMBER},
    {"topics_enabled", .kind = KEY_FLAG},
    {"unsubscribe_policy", .kind = KEY_CHOICE, .ours = "unsubscription_policy", .words = "confirm|moderate"},
    {"digest_footer", .kind = KEY_LOST},
    {"digest_header", .kind = KEY_LOST, .words = ""},
    {"goodbye_msg", .kind = KEY_LOST, .words = ""},
    {"member_moderation_notice", .kind = KEY_LOST, .words = ""},
    {"nonmember_rejection_notice", .kind = KEY_LOST, .words = ""},
    {"regular_exclude_lists", .kind = KEY_LOST, .words = ""},
    {"regular_include_lists", .kind = KEY_LOST, .words = ""},
    {"subscribe_auto_approval", .kind = KEY_LOST, .words = ""},
    {"welcome_msg", .kind = KEY_LOST, .words = ""},
};

/* ---- values ---- */

/* Rounded up. */
static int64_t number_of(const PickleValue *value, int64_t fallback)
{
    if (value && (value->type == PICKLE_INTEGER || value->type == PICKLE_BOOL))
        return value->integer;
    if (!value || value->type != PICKLE_FLOAT || !(value->number > -1e15 && value->number < 1e15))
        return fallback;
    int64_t whole = (int64_t)value->number;
    return whole + (value->number > (double)whole);
}

static int64_t time_of(const PickleValue *value)
{
    double seconds = value && value->type == PICKLE_FLOAT ? value->number : (double)number_of(value, 0);
    return seconds > 0 && seconds < 1e11 ? (int64_t)(seconds * (double)CLOCK_SECOND) : 0;
}

/* The charset of Mailman's texts in a language; "": UTF-8. */
static const char *charset_of(const char *language)
{
    static const struct {
        const char *languages, *charset;
    } known[] = {{"en ca da de es et eu fi fr gl ia it nl no pt pt_BR sv", "iso-8859-1"},
                 {"cs hr hu pl sl", "iso-8859-2"},
                 {"ru", "koi8-r"},
                 {"ja", "euc-jp"},
                 {"ko", "euc-kr"},
                 {"tr", "iso-8859-9"},
                 {"el", "iso-8859-7"},
                 {"lt", "iso-8859-13"},
                 {"zh_TW", "big5"}};
    for (size_t i = 0; language && i < G_N_ELEMENTS(known); i++) {
        g_auto(GStrv) languages = g_strsplit(known[i].languages, " ", -1);
        if (g_strv_contains((const char *const *)languages, language))
            return known[i].charset;
    }
    return "";
}

/* Text in UTF-8: as it is where it is valid, else of the list's charset. NULL: it is no text. g_free() */
static char *text_of(const Mailman2 *from, const PickleValue *value)
{
    if (!pickle_string(value))
        return NULL;
    g_autoptr(GString) bytes = g_string_new(NULL), text = g_string_new(NULL);
    pickle_text_bytes(value, bytes);
    if (g_utf8_validate(bytes->str, -1, NULL))
        return g_strdup(bytes->str);
    if (!charset_decode(from->charset, bytes->str, strlen(bytes->str), false, text))
        return g_utf8_make_valid(bytes->str, -1);
    return g_utf8_make_valid(text->str, (gssize)text->len);
}

/* ---- settings ---- */

static char *words_of(const Mailman2 *from, const PickleValue *value)
{
    g_autoptr(GString) words = g_string_new(NULL);
    for (guint i = 0; value && value->type == PICKLE_LIST && i < value->items->len; i++) {
        g_autofree char *word = text_of(from, value->items->pdata[i]);
        if (word)
            setting_list_add_word(words, word);
    }
    return g_string_free(g_steal_pointer(&words), FALSE);
}

static char *lines_of(const Mailman2 *from, const PickleValue *value)
{
    g_autoptr(GString) words = g_string_new(NULL);
    g_autofree char *text = text_of(from, value);
    g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
    for (char **line = lines; *line; line++)
        if (*g_strstrip(*line))
            setting_list_add_word(words, *line);
    return g_string_free(g_steal_pointer(&words), FALSE);
}

static char *choice_of(const Key *key, const PickleValue *value)
{
    g_auto(GStrv) words = g_strsplit(key->words, "|", -1);
    int64_t number = number_of(value, -1);
    return number >= 0 && number < g_strv_length(words) ? g_strdup(words[number])
                                                        : g_strdup_printf("%" G_GINT64_FORMAT, number);
}

/* key->words NULL: as a rule Mailman's own text, of which nothing is told. */
static void tell_lost(Mailman2 *from, const Key *key, const PickleValue *value)
{
    g_autofree char *text = value->type == PICKLE_LIST ? words_of(from, value) : text_of(from, value);
    if (key->words && text && strcmp(g_strstrip(text), key->words) != 0)
        moving_tell(from->moving, MOVING_LOST, from->list_id, key->name, "%s", text);
}

static char *value_of(Mailman2 *from, const Key *key, const PickleValue *value)
{
    switch (key->kind) {
    case KEY_FLAG:
        return g_strdup(number_of(value, 0) != 0 ? "yes" : "no");
    case KEY_NUMBER:
    case KEY_SECONDS:
        return g_strdup_printf("%" G_GINT64_FORMAT, number_of(value, 0));
    case KEY_DAYS:
        return g_strdup_printf("%" G_GINT64_FORMAT "d", number_of(value, 0));
    case KEY_CHOICE:
        return choice_of(key, value);
    case KEY_WORDS:
        return words_of(from, value);
    case KEY_LINES:
        return lines_of(from, value);
    case KEY_TEXT:
        return text_of(from, value);
    default:
        tell_lost(from, key, value);
        return NULL;
    }
}

/* "%(real_name)s" is "$real_name" here, under other names. */
static char *usual_footer(const char *text)
{
    static const char *const names[][2] = {{"%(real_name)s", "$display_name"},
                                           {"%(list_name)s", "$list_name"},
                                           {"%(_internal_name)s", "$list_name"},
                                           {"%(host_name)s", "$mail_host"},
                                           {"%(description)s", "$description"},
                                           {"%(info)s", "$info"},
                                           {"%(user_address)s", "$user_address"},
                                           {"%(user_name)s", "$user_name"},
                                           {"%(user_delivered_to)s", "$user_delivered_to"},
                                           {"%%", "%"}};
    g_autoptr(GString) usual = g_string_new(text);
    g_string_replace(usual, "$", "$$", 0);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        g_string_replace(usual, names[i][0], names[i][1], 0);
    return g_string_free(g_steal_pointer(&usual), FALSE);
}

static void add_frame(Mailman2 *from, const char *name, GPtrArray *settings)
{
    g_autofree char *text = text_of(from, pickle_get(from->config, name));
    if (!text)
        return;
    g_autofree char *usual = usual_footer(text);
    if (strstr(usual, "%("))
        moving_tell(from->moving, MOVING_CHANGED, from->list_id, name,
                    "a value that Mailman filled in has no equal here, and stays as it is written");
    setting_list_add(settings, name, name, g_steal_pointer(&usual));
}

/* Settings that are made of two, or whose values are not one to one. */
static void add_others(Mailman2 *from, GPtrArray *settings)
{
    static const char *const actions[] = {"hold", "reject", "discard"};
    int64_t action = number_of(pickle_get(from->config, "member_moderation_action"), 0);
    bool moderated = number_of(pickle_get(from->config, "default_member_moderation"), 0) != 0;
    setting_list_add(settings, "default_member_action", "default_member_moderation",
                     g_strdup(moderated ? actions[CLAMP(action, 0, 2)] : "defer"));
    bool archived = number_of(pickle_get(from->config, "archive"), 1) != 0;
    bool closed = number_of(pickle_get(from->config, "archive_private"), 0) != 0;
    setting_list_add(settings, "archive_policy", "archive",
                     g_strdup(!archived ? "never"
                              : closed  ? "private"
                                        : "public"));
    int64_t always = number_of(pickle_get(from->config, "from_is_list"), 0);
    if (always == 1 || always == 2) {
        setting_list_add(settings, "dmarc_mitigate_action", "from_is_list",
                         g_strdup(always == 1 ? "munge_from" : "wrap_message"));
        setting_list_add(settings, "dmarc_mitigate_unconditionally", "from_is_list", g_strdup("yes"));
    }
    g_autoptr(GString) topics = g_string_new(NULL);
    const PickleValue *rows = pickle_get(from->config, "topics");
    for (guint i = 0; rows && rows->type == PICKLE_LIST && i < rows->items->len; i++) {
        const PickleValue *row = rows->items->pdata[i];
        g_autofree char *name = row->items && row->items->len > 1 ? text_of(from, row->items->pdata[0]) : NULL;
        g_autofree char *pattern = name ? text_of(from, row->items->pdata[1]) : NULL;
        g_autofree char *topic = pattern ? g_strdup_printf("%s: %s", name, g_strdelimit(pattern, "\r\n", '|')) : NULL;
        if (topic)
            setting_list_add_word(topics, topic);
    }
    setting_list_add(settings, "topics", "topics", g_strdup(topics->str));
    add_frame(from, "msg_header", settings);
    add_frame(from, "msg_footer", settings);
}

static void read_settings(Mailman2 *from, GPtrArray *settings)
{
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        const PickleValue *value = pickle_get(from->config, keys[i].name);
        char *text = value && value->type != PICKLE_NONE ? value_of(from, &keys[i], value) : NULL;
        if (text)
            setting_list_add(settings, keys[i].ours ? keys[i].ours : keys[i].name, keys[i].name, text);
    }
    add_others(from, settings);
}

/* ---- bans and header filters ---- */

static bool take_bans(Mailman2 *from, GError **error)
{
    const PickleValue *bans = pickle_get(from->config, "ban_list");
    for (guint i = 0; bans && bans->type == PICKLE_LIST && i < bans->items->len; i++) {
        g_autofree char *email = text_of(from, bans->items->pdata[i]);
        if (email && !moving_ban(from->moving, from->list_id, email, error))
            return false;
    }
    return true;
}

/* A rule is (patterns, action, flag), a pattern of a whole field a line. */
static bool take_filters(Mailman2 *from, GError **error)
{
    static const char *const actions[] = {"defer", "hold", "reject", "discard", NULL, NULL, "accept", "hold"};
    const PickleValue *rules = pickle_get(from->config, "header_filter_rules");
    for (guint i = 0; rules && rules->type == PICKLE_LIST && i < rules->items->len; i++) {
        const PickleValue *rule = rules->items->pdata[i];
        g_autofree char *text = rule->items && rule->items->len > 1 ? text_of(from, rule->items->pdata[0]) : NULL;
        int64_t action = text ? number_of(rule->items->pdata[1], -1) : -1;
        g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
        for (char **line = lines; *line; line++) {
            g_strstrip(*line);
            char *colon = strchr(*line, ':');
            const char *name = **line == '^' ? *line + 1 : *line;
            if (!**line || **line == '#')
                continue;
            if (!colon || action < 0 || action >= (int64_t)G_N_ELEMENTS(actions) || !actions[action]) {
                moving_tell(from->moving, MOVING_LEFT_OUT, from->list_id, "header_filter_rules",
                            "\"%s\" is no field with a pattern, or its action is none", *line);
                continue;
            }
            *colon = '\0';
            const HeaderMatch match = {.list_id = from->list_id,
                                       .position = -1,
                                       .header = (char *)name,
                                       .pattern = g_strchug(colon + 1),
                                       .target = (char *)actions[action]};
            if (!moving_header_match(from->moving, &match, error))
                return false;
        }
    }
    return true;
}

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

static int status_of(const Mailman2 *from, const char *key, int64_t options)
{
    static const int statuses[] = {-1, DELIVERY_UNKNOWN, DELIVERY_BY_USER, DELIVERY_BY_MODERATOR, DELIVERY_BY_BOUNCES};
    const PickleValue *pair = g_hash_table_lookup(from->statuses, key);
    int64_t number = pair && pair->items && pair->items->len > 0 ? number_of(pair->items->pdata[0], 0) : 0;
    if (number > 0 && number < (int64_t)G_N_ELEMENTS(statuses))
        return statuses[number];
    return options & NO_MAIL ? DELIVERY_BY_USER : -1;
}

static bool take_member(Mailman2 *from, const List *list, const char *key, const PickleValue *written, bool digest,
                        GError **error)
{
    int64_t options = number_of(g_hash_table_lookup(from->options, key), 0);
    g_autofree char *name = text_of(from, g_hash_table_lookup(from->names, key));
    g_autofree char *language = text_of(from, g_hash_table_lookup(from->languages, key));
    const char *email = pickle_string(written) && *pickle_string(written) ? pickle_string(written) : key;
    Preferences own = preferences_unset;
    own.delivery_mode = digest ? options & PLAIN ? MODE_PLAINTEXT_DIGESTS : MODE_MIME_DIGESTS : -1;
    own.delivery_status = status_of(from, key, options);
    own.acknowledge_posts = options & ACKNOWLEDGE ? 1 : -1;
    own.receive_own_postings = options & NOT_OWN ? 0 : -1;
    own.receive_list_copy = options & NO_COPY ? 0 : -1;
    own.hide_address = options & CONCEALED ? -1 : 0;
    if (language && g_strcmp0(language, list->preferred_language) != 0 && language_check("", language, NULL))
        g_strlcpy(own.preferred_language, language, sizeof own.preferred_language);
    bool disabled = own.delivery_status == DELIVERY_BY_BOUNCES;
    Action stricter = list->default_member_action == ACTION_DEFER ? ACTION_HOLD : (Action)list->default_member_action;
    bool by_rule = list->default_member_action != ACTION_DEFER;
    const BroughtMember member = {.list_id = list->list_id,
                                  .address = email,
                                  .display_name = name,
                                  .role = ROLE_MEMBER,
                                  .moderation_action = options & MODERATED ? stricter
                                                       : by_rule           ? ACTION_DEFER
                                                                           : ACTION_UNSET,
                                  .preferences = own,
                                  .disabled_at = disabled ? clock_now() : 0,
                                  .next_at = disabled ? clock_now() : 0};
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
        const BroughtMember member = {.list_id = from->list_id,
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
    bool whole;
    return moving_begin(from->moving, "members", from->list_id, MOVING_IN_PORTIONS, &whole, error) &&
           (whole ||
            (take_role(from, "owner", ROLE_OWNER, error) && take_role(from, "moderator", ROLE_MODERATOR, error) &&
             take_members(from, list, "members", false, error) &&
             take_members(from, list, "digest_members", true, error) && moving_end(from->moving, error)));
}

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

static bool take_posts(Mailman2 *from, FILE *file, GError **error)
{
    MboxMail mail = {0};
    const char *lines;
    g_autoptr(MboxReader) reader = mbox_reader_new(file);
    for (;;) {
        GError *broken = NULL;
        if (!mbox_reader_next(reader, &mail, &broken))
            return pass_over(from, "digest.mbox", broken, error);
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

static bool read_digest(Mailman2 *from, GError **error)
{
    g_autofree char *path = g_build_filename(from->directory, "digest.mbox", NULL);
    struct stat status;
    GError *why = NULL;
    auto_fd fd = moving_open(from->directory, path, 0, &status, &why);
    if (fd < 0 && g_error_matches(why, FAIL, FAIL_MISSING)) {
        g_error_free(why);
        return true;
    }
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    if (!file)
        return why ? pass_over(from, "digest.mbox", why, error) : fail_errno(error, FAIL_LATER, "%s", path);
    auto_fd_steal(&fd);
    bool done = take_posts(from, file, error);
    fclose(file);
    return done;
}

static bool move_digest(Mailman2 *from, GError **error)
{
    bool whole;
    return moving_begin(from->moving, "digest", from->list_id, MOVING_AT_ONCE, &whole, error) &&
           (whole || (read_digest(from, error) && moving_end(from->moving, error)));
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
                                      .created_at = time_of(pickle_get(from->config, "created_at")),
                                      .last_post_at = time_of(pickle_get(from->config, "last_post_time")),
                                      .post_id = number_of(pickle_get(from->config, "post_id"), 1)},
                             .settings = settings,
                             .volume = number_of(pickle_get(from->config, "volume"), 1),
                             .next_digest = number_of(pickle_get(from->config, "next_digest_number"), 1),
                             .digest_sent_at = time_of(pickle_get(from->config, "digest_last_sent_at")),
                             .watermark = number_of(pickle_get(from->config, "usenet_watermark"), -1)};
    read_settings(from, settings);
    return moving_domain(from->moving, &domain, error) && moving_list(from->moving, &made, list, error) &&
           (!*list || (take_bans(from, error) && take_filters(from, error)));
}

static bool move_list(Mailman2 *from, GError **error)
{
    bool in;
    List *found = NULL;
    if (!moving_make(from->moving, from->list_id, make_list, from, &in, error) || !tell_requests(from, error) ||
        !moving_find_list(from->moving, from->list_id, &found, error))
        return false;
    g_autoptr(List) list = found;
    return !list || (move_members(from, list, error) && move_digest(from, error));
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
                          statuses = pickle_table(pickle_get(config, "delivery_status"));
    Mailman2 from = {.moving = moving,
                     .directory = directory,
                     .config = config,
                     .charset = charset_of(language),
                     .list_id = list_id,
                     .address = address,
                     .options = options,
                     .names = names,
                     .languages = languages,
                     .statuses = statuses};
    return move_list(&from, error);
}
