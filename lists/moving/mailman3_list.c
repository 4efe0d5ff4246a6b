/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Lists of Mailman 3 and their settings. */
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/moving/mailman3_internal.h"
#include "lists/moving/pickle.h"
#include "lists/moving/setting_list.h"
#include "lists/setting_check.h"

#define ACTIONS "hold|reject|discard|accept|defer"
#define POLICIES "open|confirm|moderate|confirm_then_moderate"
#define AUTORESPOND "none|respond_and_discard|respond_and_continue"

typedef enum ColumnKind {
    COLUMN_FLAG,
    COLUMN_NUMBER,
    COLUMN_TEXT,
    COLUMN_CHOICE,   /* words in the order of their numbers, from `first` on */
    COLUMN_INTERVAL, /* a time, counted from 1970 */
    COLUMN_WORDS,    /* a pickle of a list of texts */
    COLUMN_KIB,      /* a number with a point */
    COLUMN_TOPICS,   /* a pickle of a list of (name, pattern, description, flag) */
    COLUMN_LOST,     /* no equal here; `words` is the value that says nothing */
} ColumnKind;

/* The columns of the table mailinglist that are settings, by Mailman's names, which are ours too where `ours` is
 * NULL. */
typedef struct ListColumn {
    const char *name;
    ColumnKind kind;
    const char *words;
    int first;
    const char *ours;
} ListColumn;

static const ListColumn columns[] = {
    {"accept_these_nonmembers", COLUMN_WORDS, NULL, 0, NULL},
    {"admin_immed_notify", COLUMN_FLAG, NULL, 0, NULL},
    {"admin_notify_mchanges", COLUMN_FLAG, NULL, 0, NULL},
    {"administrivia", COLUMN_FLAG, NULL, 0, NULL},
    {"advertised", COLUMN_FLAG, NULL, 0, NULL},
    {"allow_list_posts", COLUMN_FLAG, NULL, 0, NULL},
    {"anonymous_list", COLUMN_FLAG, NULL, 0, NULL},
    {"archive_policy", COLUMN_CHOICE, "never|private|public", 0, NULL},
    {"archive_rendering_mode", COLUMN_CHOICE, "text|markdown", 1, NULL},
    {"autorespond_owner", COLUMN_CHOICE, AUTORESPOND, 0, NULL},
    {"autorespond_postings", COLUMN_CHOICE, AUTORESPOND, 0, NULL},
    {"autorespond_requests", COLUMN_CHOICE, AUTORESPOND, 0, NULL},
    {"autoresponse_grace_period", COLUMN_INTERVAL, NULL, 0, NULL},
    {"autoresponse_owner_text", COLUMN_TEXT, NULL, 0, NULL},
    {"autoresponse_postings_text", COLUMN_TEXT, NULL, 0, NULL},
    {"autoresponse_request_text", COLUMN_TEXT, NULL, 0, NULL},
    {"bounce_info_stale_after", COLUMN_INTERVAL, NULL, 0, NULL},
    {"bounce_matching_headers", COLUMN_TEXT, NULL, 0, NULL},
    {"bounce_notify_owner_on_bounce_increment", COLUMN_FLAG, NULL, 0, NULL},
    {"bounce_notify_owner_on_disable", COLUMN_FLAG, NULL, 0, NULL},
    {"bounce_notify_owner_on_removal", COLUMN_FLAG, NULL, 0, NULL},
    {"bounce_score_threshold", COLUMN_NUMBER, NULL, 0, NULL},
    {"bounce_you_are_disabled_warnings", COLUMN_NUMBER, NULL, 0, NULL},
    {"bounce_you_are_disabled_warnings_interval", COLUMN_INTERVAL, NULL, 0, NULL},
    {"collapse_alternatives", COLUMN_FLAG, NULL, 0, NULL},
    {"convert_html_to_plaintext", COLUMN_FLAG, NULL, 0, NULL},
    {"default_member_action", COLUMN_CHOICE, ACTIONS, 0, NULL},
    {"default_nonmember_action", COLUMN_CHOICE, ACTIONS, 0, NULL},
    {"description", COLUMN_TEXT, NULL, 0, NULL},
    {"digest_send_periodic", COLUMN_FLAG, NULL, 0, NULL},
    {"digest_size_threshold", COLUMN_KIB, NULL, 0, NULL},
    {"digest_volume_frequency", COLUMN_CHOICE, "yearly|monthly|quarterly|weekly|daily", 0, NULL},
    {"digests_enabled", COLUMN_FLAG, NULL, 0, NULL},
    {"discard_these_nonmembers", COLUMN_WORDS, NULL, 0, NULL},
    {"display_name", COLUMN_TEXT, NULL, 0, NULL},
    {"dmarc_addresses", COLUMN_WORDS, NULL, 0, NULL},
    {"dmarc_mitigate_action", COLUMN_CHOICE, "no_mitigation|munge_from|wrap_message|reject|discard", 0, NULL},
    {"dmarc_mitigate_unconditionally", COLUMN_FLAG, NULL, 0, NULL},
    {"dmarc_moderation_notice", COLUMN_TEXT, NULL, 0, NULL},
    {"dmarc_wrapped_message_text", COLUMN_TEXT, NULL, 0, NULL},
    {"emergency", COLUMN_FLAG, NULL, 0, NULL},
    {"filter_action", COLUMN_CHOICE, "hold|reject|discard|accept|defer|forward|preserve", 0, NULL},
    {"filter_content", COLUMN_FLAG, NULL, 0, NULL},
    {"first_strip_reply_to", COLUMN_FLAG, NULL, 0, NULL},
    {"forward_unrecognized_bounces_to", COLUMN_CHOICE, "discard|administrators|site_owner", 0, NULL},
    {"gateway_to_mail", COLUMN_FLAG, NULL, 0, NULL},
    {"gateway_to_news", COLUMN_FLAG, NULL, 0, NULL},
    {"hold_these_nonmembers", COLUMN_WORDS, NULL, 0, NULL},
    {"include_rfc2369_headers", COLUMN_FLAG, NULL, 0, NULL},
    {"info", COLUMN_TEXT, NULL, 0, NULL},
    {"linked_newsgroup", COLUMN_TEXT, NULL, 0, NULL},
    {"max_days_to_hold", COLUMN_NUMBER, NULL, 0, NULL},
    {"max_message_size", COLUMN_NUMBER, NULL, 0, NULL},
    {"max_num_recipients", COLUMN_NUMBER, NULL, 0, NULL},
    {"member_roster_visibility", COLUMN_CHOICE, "public|members|moderators", 0, NULL},
    {"newsgroup_moderation", COLUMN_CHOICE, "none|open_moderated|moderated", 0, NULL},
    {"nntp_prefix_subject_too", COLUMN_FLAG, NULL, 0, NULL},
    {"owner_chain", COLUMN_TEXT, NULL, 0, NULL},
    {"owner_pipeline", COLUMN_TEXT, NULL, 0, NULL},
    {"personalize", COLUMN_CHOICE, "none|individual|full", 0, NULL},
    {"posting_chain", COLUMN_TEXT, NULL, 0, NULL},
    {"posting_pipeline", COLUMN_TEXT, NULL, 0, NULL},
    {"preferred_language", COLUMN_TEXT, NULL, 0, NULL},
    {"process_bounces", COLUMN_FLAG, NULL, 0, NULL},
    {"reject_these_nonmembers", COLUMN_WORDS, NULL, 0, NULL},
    {"reply_goes_to_list", COLUMN_CHOICE, "no_munging|point_to_list|explicit_header|explicit_header_only", 0, NULL},
    {"reply_to_address", COLUMN_TEXT, NULL, 0, NULL},
    {"require_explicit_destination", COLUMN_FLAG, NULL, 0, NULL},
    {"respond_to_post_requests", COLUMN_FLAG, NULL, 0, NULL},
    {"send_goodbye_message", COLUMN_FLAG, NULL, 0, NULL},
    {"send_welcome_message", COLUMN_FLAG, NULL, 0, NULL},
    {"subject_prefix", COLUMN_TEXT, NULL, 0, NULL},
    {"subscription_policy", COLUMN_CHOICE, POLICIES, 0, NULL},
    {"topics", COLUMN_TOPICS, NULL, 0, NULL},
    {"topics_bodylines_limit", COLUMN_NUMBER, NULL, 0, NULL},
    {"topics_enabled", COLUMN_FLAG, NULL, 0, NULL},
    {"unsubscription_policy", COLUMN_CHOICE, POLICIES, 0, NULL},
    /* Of no effect in Mailman either, but for the last. */
    {"digest_is_default", COLUMN_LOST, "0", 0, NULL},
    {"encode_ascii_prefixes", COLUMN_LOST, "0", 0, NULL},
    {"forward_auto_discards", COLUMN_LOST, "1", 0, NULL},
    {"member_moderation_notice", COLUMN_LOST, "", 0, NULL},
    {"nonmember_rejection_notice", COLUMN_LOST, "", 0, NULL},
    {"obscure_addresses", COLUMN_LOST, "1", 0, NULL},
    {"scrub_nondigest", COLUMN_LOST, "0", 0, NULL},
};

enum {
    L_NUMBER,
    L_ID,
    L_NAME,
    L_HOST,
    L_CREATED,
    L_LAST_POST,
    L_POST,
    L_VOLUME,
    L_NEXT_DIGEST,
    L_DIGEST_SENT,
    L_PASSWORD,
    L_WATERMARK,
    L_SETTINGS
};

/* The rows of the table, with NULL for columns that an older Mailman has not. */
static char *make_query(Mailman3 *from, GError **error)
{
    g_autoptr(GString) sql = g_string_new(
        "SELECT `id`, `list_id`, `list_name`, `mail_host`, `created_at`, `last_post_at`, `post_id`, `volume`, "
        "`next_digest_number`, `digest_last_sent_at`, moderator_password, `usenet_watermark`");
    for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
        bool has;
        ColumnKind kind = columns[i].kind;
        if (!foreign_has(from->database, "mailinglist", columns[i].name, &has, error))
            return NULL;
        if (!has)
            g_string_append(sql, ", NULL");
        else if (kind == COLUMN_WORDS || kind == COLUMN_TOPICS)
            g_string_append_printf(sql, ", %s", columns[i].name);
        else
            g_string_append_printf(sql, ", CAST(%s%s AS TEXT)", kind == COLUMN_INTERVAL ? "@since@" : "",
                                   columns[i].name);
    }
    g_string_append(sql, " FROM mailinglist ORDER BY list_id");
    return g_string_free(g_steal_pointer(&sql), FALSE);
}

/* ---- settings ---- */

/* Lines of words; NULL, told: the pickle cannot be read. */
static char *words_of(Mailman3 *from, ForeignRows *rows, int column, const char *list_id, const ListColumn *named)
{
    static const char *const classes[] = {"sqlalchemy.ext.mutable.MutableList", "copyreg.", "copy_reg.", NULL};
    size_t length;
    g_autoptr(GError) fault = NULL;
    const void *bytes = foreign_bytes(rows, column, &length);
    if (!bytes)
        return NULL;
    g_autoptr(Pickle) pickle = pickle_read(bytes, length, classes, &fault);
    if (!pickle) {
        moving_tell(from->moving, MOVING_LEFT_OUT, list_id, named->name, "%s", fault->message);
        return NULL;
    }
    /* A MutableList is made of its items, or the items are appended to it. */
    const PickleValue *list = pickle_root(pickle), *inner = list->arguments;
    if (list->type == PICKLE_OBJECT && list->items->len == 0 && inner && inner->items && inner->items->len > 0)
        list = inner->items->pdata[0];
    g_autoptr(GString) words = g_string_new(NULL);
    for (guint i = 0; list->items && list->type != PICKLE_DICT && i < list->items->len; i++) {
        const PickleValue *item = list->items->pdata[i];
        const PickleValue *name = item, *pattern = NULL;
        if (named->kind == COLUMN_TOPICS && item->items && item->items->len >= 2) {
            name = item->items->pdata[0];
            pattern = item->items->pdata[1];
        }
        if (!pickle_string(name) || (named->kind == COLUMN_TOPICS && !pickle_string(pattern))) {
            moving_tell(from->moving, MOVING_LEFT_OUT, list_id, named->name, "one of its values is no text");
            continue;
        }
        g_autofree char *whole = pattern ? g_strdup_printf("%s: %s", pickle_string(name), pickle_string(pattern))
                                         : g_strdup(pickle_string(name));
        g_autofree char *valid = g_utf8_make_valid(g_strdelimit(whole, "\r\n", ' '), -1);
        setting_list_add_word(words, valid);
    }
    return g_string_free(g_steal_pointer(&words), FALSE);
}

static char *choice_of(const ListColumn *column, const char *text)
{
    g_auto(GStrv) words = g_strsplit(column->words, "|", -1);
    int64_t number = mm_integer(text, -1) - column->first;
    /* A number that is none of them is refused with the words that are allowed. */
    return number >= 0 && number < g_strv_length(words) ? g_strdup(words[number]) : g_strdup(text);
}

static char *kib_of(Mailman3 *from, const char *list_id, const char *text)
{
    double size = g_ascii_strtod(text, NULL);
    if (size > 0 && size < 1e9) /* rounded up */
        return g_strdup_printf("%d", (int)size + (size > (int)size));
    if (size != 0)
        return g_strdup(text);
    moving_tell(from->moving, MOVING_CHANGED, list_id, "digest_size_threshold",
                "0 sends a digest with each post in Mailman; it is 1 KiB now, and 0 would mean no limit");
    return g_strdup("1");
}

static void tell_lost(Mailman3 *from, const ListColumn *column, const char *list_id, const char *text)
{
    bool flag = strcmp(column->words, "0") == 0 || strcmp(column->words, "1") == 0;
    bool same = flag ? mm_flag(text) == mm_flag(column->words) : strcmp(text, column->words) == 0;
    if (!same)
        moving_tell(from->moving, MOVING_LOST, list_id, column->name, "%s", flag ? mm_flag(text) ? "yes" : "no" : text);
}

static char *value_of(Mailman3 *from, const ListColumn *column, const char *list_id, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    switch (column->kind) {
    case COLUMN_FLAG:
        return g_strdup(mm_flag(text) ? "yes" : "no");
    case COLUMN_CHOICE:
        return choice_of(column, valid);
    case COLUMN_INTERVAL:
        return g_strdup_printf("%" G_GINT64_FORMAT, mm_time(text) / CLOCK_SECOND);
    case COLUMN_KIB:
        return kib_of(from, list_id, text);
    case COLUMN_LOST:
        tell_lost(from, column, list_id, valid);
        return NULL;
    default:
        if (strcmp(text, valid) != 0)
            moving_tell(from->moving, MOVING_CHANGED, list_id, column->name,
                        "it is not UTF-8: the wrong bytes are "
                        "question marks now");
        return g_steal_pointer(&valid);
    }
}

static void read_settings(Mailman3 *from, ForeignRows *rows, const char *list_id, GPtrArray *settings)
{
    for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
        const ListColumn *column = &columns[i];
        int place = L_SETTINGS + (int)i;
        bool pickled = column->kind == COLUMN_WORDS || column->kind == COLUMN_TOPICS;
        const char *text = pickled ? NULL : foreign_text(rows, place);
        char *value = pickled ? words_of(from, rows, place, list_id, column)
                      : text  ? value_of(from, column, list_id, text)
                              : NULL;
        if (value)
            setting_list_add(settings, column->ours ? column->ours : column->name, column->name, value);
    }
}

/* ---- settings in tables of their own ---- */

static bool take_word(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    (void)from, (void)error;
    if (foreign_text(rows, 0))
        setting_list_add_word(data, foreign_text(rows, 0));
    return true;
}

static bool add_words(Mailman3 *from, const char *number, const char *name, const char *sql, GPtrArray *settings,
                      GError **error)
{
    g_autoptr(GString) words = g_string_new(NULL);
    if (!mm_each(from, sql, number, take_word, words, error))
        return false;
    if (words->len > 0)
        setting_list_add(settings, name, name, g_string_free(g_steal_pointer(&words), FALSE));
    return true;
}

typedef struct Archivers {
    int known, enabled;
} Archivers;

/* Of those that come with Mailman none has an archive for people. */
static bool take_archiver(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    static const char *const plain[] = {"mhonarc", "mail-archive", "prototype", NULL};
    Archivers *archivers = data;
    const char *name = foreign_text(rows, 0);
    (void)from, (void)error;
    if (name && !g_strv_contains(plain, name)) {
        archivers->known++;
        archivers->enabled += mm_flag(foreign_text(rows, 1));
    }
    return true;
}

static bool add_archivers(Mailman3 *from, const char *number, GPtrArray *settings, GError **error)
{
    Archivers archivers = {0};
    if (!mm_each(from, "SELECT `name`, `_is_enabled` FROM listarchiver WHERE `mailing_list_id` = $1", number,
                 take_archiver, &archivers, error))
        return false;
    if (archivers.known > 0 && archivers.enabled == 0)
        setting_list_add(settings, "archivers", "listarchiver", g_strdup(ARCHIVERS_NONE));
    return true;
}

/* Types and endings that are filtered; type is Mailman's number of the kind. */
static bool add_filter(Mailman3 *from, const char *number, int type, const char *name, GPtrArray *settings,
                       GError **error)
{
    g_autofree char *of = g_strdup_printf("%s %d", number, type);
    return add_words(from, of, name,
                     "SELECT `filter_pattern` FROM contentfilter WHERE `mailing_list_id` || ' ' || `filter_type` = $1 "
                     "ORDER BY id",
                     settings, error);
}

static bool read_tables(Mailman3 *from, const char *number, GPtrArray *settings, GError **error)
{
    return add_words(from, number, "acceptable_aliases",
                     "SELECT `alias` FROM acceptablealias WHERE `mailing_list_id` = $1 ORDER BY id", settings, error) &&
           add_filter(from, number, 0, "filter_types", settings, error) &&
           add_filter(from, number, 1, "pass_types", settings, error) &&
           add_filter(from, number, 2, "filter_extensions", settings, error) &&
           add_filter(from, number, 3, "pass_extensions", settings, error) &&
           add_archivers(from, number, settings, error);
}

/* ---- bans and header matches ---- */

static bool take_ban(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    const char *email = foreign_text(rows, 0);
    return !email || moving_ban(from->moving, data, email, error);
}

bool mm_bans(Mailman3 *from, const char *list_id, GError **error)
{
    return list_id ? mm_each(from, "SELECT `email` FROM ban WHERE list_id = $1 ORDER BY id", list_id, take_ban,
                             (void *)list_id, error)
                   : mm_each(from, "SELECT `email` FROM ban WHERE list_id IS NULL ORDER BY id", NULL, take_ban, NULL,
                             error);
}

static bool take_match(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    const List *list = data;
    const char *header = foreign_text(rows, 0), *pattern = foreign_text(rows, 1), *chain = foreign_text(rows, 2);
    const char *tag = foreign_text(rows, 3);
    if (!header || !pattern)
        return true;
    const HeaderMatch match = {.list_id = list->list_id,
                               .position = -1,
                               .header = (char *)header,
                               .pattern = (char *)pattern,
                               .target = (char *)(chain && *chain ? chain : NULL),
                               .tag = (char *)(tag && *tag ? tag : NULL)};
    return moving_header_match(from->moving, &match, error);
}

static bool take_small(Mailman3 *from, const char *number, const List *list, GError **error)
{
    return mm_bans(from, list->list_id, error) &&
           mm_each(from,
                   "SELECT `header`, `pattern`, `chain`, `tag` FROM headermatch WHERE `mailing_list_id` = $1 "
                   "ORDER BY position, id",
                   number, take_match, (void *)list, error) &&
           mm_templates(from, list, error) && mm_footer(from, list, error);
}

/* ---- lists ---- */

static char *password_of(Mailman3 *from, ForeignRows *rows, const char *list_id)
{
    size_t length;
    const char *bytes = foreign_bytes(rows, L_PASSWORD, &length);
    if (!bytes || length == 0)
        return NULL;
    g_autofree char *hash = g_strndup(bytes, length);
    if (*hash == '$' && g_utf8_validate(hash, -1, NULL))
        return g_steal_pointer(&hash);
    moving_tell(from->moving, MOVING_LEFT_OUT, list_id, "moderator_password", "its hash is not one of crypt(5)");
    return NULL;
}

static bool make_list(Mailman3 *from, ForeignRows *rows, List **list, GError **error)
{
    const char *list_id = foreign_text(rows, L_ID), *number = foreign_text(rows, L_NUMBER);
    g_autofree char *address = g_strdup_printf("%s@%s", foreign_text(rows, L_NAME), foreign_text(rows, L_HOST));
    g_autofree char *password = password_of(from, rows, list_id);
    g_autoptr(GPtrArray) settings = setting_list_new();
    const MovingList made = {.list = {.address = address,
                                      .list_id = list_id,
                                      .created_at = mm_time(foreign_text(rows, L_CREATED)),
                                      .last_post_at = mm_time(foreign_text(rows, L_LAST_POST)),
                                      .post_id = mm_integer(foreign_text(rows, L_POST), 1)},
                             .settings = settings,
                             .password_hash = password,
                             .volume = mm_integer(foreign_text(rows, L_VOLUME), 1),
                             .next_digest = mm_integer(foreign_text(rows, L_NEXT_DIGEST), 1),
                             .digest_sent_at = mm_time(foreign_text(rows, L_DIGEST_SENT)),
                             .watermark = mm_integer(foreign_text(rows, L_WATERMARK), -1)};
    read_settings(from, rows, list_id, settings);
    return read_tables(from, number, settings, error) && moving_list(from->moving, &made, list, error) &&
           (!*list || take_small(from, number, *list, error));
}

#define PART "list"

static bool take_list(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    bool whole;
    List *made = NULL;
    const char *list_id = foreign_text(rows, L_ID);
    (void)data;
    if (!list_id || !foreign_text(rows, L_NAME) || !foreign_text(rows, L_HOST)) {
        moving_tell(from->moving, MOVING_LEFT_OUT, list_id, foreign_text(rows, L_NUMBER),
                    "the list has no List-Id, name or domain");
        return true;
    }
    if (!moving_begin(from->moving, PART, list_id, MOVING_AT_ONCE, &whole, error))
        return false;
    if (whole) {
        moving_there(from->moving, MOVING_LISTS);
        return true;
    }
    if (!make_list(from, rows, &made, error))
        return false;
    g_autoptr(List) list = made;
    if (list)
        return moving_end(from->moving, error);
    moving_cancel(from->moving);
    return true;
}

/* What belongs to a list comes when all lists are there: only then is it known which addresses are those of lists. */
static bool take_rest(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    List *found = NULL;
    const char *list_id = foreign_text(rows, 0);
    (void)data;
    if (list_id && !moving_find_list(from->moving, PART, list_id, &found, error))
        return false;
    g_autoptr(List) list = found;
    return !list || (mm_members(from, list, error) && mm_held(from, list, error) && mm_digest(from, list, error));
}

bool mm_lists(Mailman3 *from, GError **error)
{
    g_autofree char *sql = make_query(from, error);
    return sql && mm_each(from, sql, NULL, take_list, NULL, error) &&
           mm_each(from, "SELECT `list_id` FROM mailinglist ORDER BY list_id", NULL, take_rest, NULL, error);
}

bool mm_site(Mailman3 *from, GError **error)
{
    bool whole;
    return moving_begin(from->moving, "site", NULL, MOVING_AT_ONCE, &whole, error) &&
           (whole ||
            (mm_bans(from, NULL, error) && mm_templates(from, NULL, error) && moving_end(from->moving, error)));
}
