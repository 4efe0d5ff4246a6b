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
#include "mail/charset.h"
#include "mail/mbox.h"
#include "store/language.h"
#include "store/lists/list_setting.h"

typedef struct Mailman2 {
    Moving *moving;
    const char *directory;
    const PickleValue *config;
    const char *charset; /* of texts that are bytes */
    char *list_id, *address;
    GHashTable *options, *names, *languages, *statuses, *bounces, *topics; /* of members: pickle_table() */
} Mailman2;

#define LETTERS "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

typedef enum KeyKind {
    KEY_FLAG,
    KEY_NUMBER,
    KEY_TEXT,
    KEY_CHOICE,  /* words in the order of its numbers */
    KEY_SECONDS, /* a time */
    KEY_DAYS,
    KEY_WORDS, /* a list of texts */
    KEY_LINES, /* words, one a line */
    KEY_ANSWER, /* a text with placeholders */
    KEY_NAMES,  /* addresses, patterns, and lists with "@" before their names */
    KEY_LOST,   /* no equal here; `words` is the default, as shown() has it */
    KEY_SECRET, /* the same, and the value is not told */
    KEY_READ,   /* read elsewhere, Mailman's own, or without effect here */
} KeyKind;

typedef struct Key {
    const char *name;
    KeyKind kind;
    const char *ours; /* NULL: the same name */
    const char *words;
} Key;

/* Mailman's names, as Listrunner takes them. */
static const Key keys[] = {
    {"accept_these_nonmembers", .kind = KEY_NAMES},
    {"acceptable_aliases", .kind = KEY_LINES},
    {"admin_immed_notify", .kind = KEY_FLAG},
    {"admin_notify_mchanges", .kind = KEY_FLAG},
    {"administrivia", .kind = KEY_FLAG},
    {"advertised", .kind = KEY_FLAG},
    {"anonymous_list", .kind = KEY_FLAG},
    {"autorespond_admin", .kind = KEY_CHOICE, .ours = "autorespond_owner", .words = "none|respond_and_continue"},
    {"autorespond_postings", .kind = KEY_CHOICE, .words = "none|respond_and_continue"},
    {"autorespond_requests", .kind = KEY_CHOICE, .words = "none|respond_and_discard|respond_and_continue"},
    {"autoresponse_admin_text", .kind = KEY_ANSWER, .ours = "autoresponse_owner_text"},
    {"autoresponse_graceperiod", .kind = KEY_DAYS, .ours = "autoresponse_grace_period"},
    {"autoresponse_postings_text", .kind = KEY_ANSWER},
    {"autoresponse_request_text", .kind = KEY_ANSWER},
    {"bounce_info_stale_after", .kind = KEY_SECONDS},
    {"bounce_matching_headers", .kind = KEY_TEXT},
    {"bounce_notify_owner_on_disable", .kind = KEY_FLAG},
    {"bounce_notify_owner_on_removal", .kind = KEY_FLAG},
    {"bounce_processing", .kind = KEY_FLAG, .ours = "process_bounces"},
    {"bounce_notify_owner_on_bounce_increment", .kind = KEY_FLAG},
    {"bounce_score_threshold", .kind = KEY_NUMBER},
    {"bounce_unrecognized_goes_to_list_owner", .kind = KEY_CHOICE, .ours = "forward_unrecognized_bounces_to",
     .words = "discard|administrators"},
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
    {"discard_these_nonmembers", .kind = KEY_NAMES},
    {"dmarc_moderation_action", .kind = KEY_CHOICE, .ours = "dmarc_mitigate_action",
     .words = "no_mitigation|munge_from|wrap_message|reject|discard"},
    {"dmarc_moderation_addresses", .kind = KEY_NAMES, .ours = "dmarc_addresses"},
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
    {"hold_these_nonmembers", .kind = KEY_NAMES},
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
    {"reject_these_nonmembers", .kind = KEY_NAMES},
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
    {"admin_member_chunksize", .kind = KEY_LOST, .words = "30"},
    {"archive_volume_frequency", .kind = KEY_LOST, .words = "1"},
    {"digest_footer", .kind = KEY_LOST},
    {"digest_header", .kind = KEY_LOST, .words = ""},
    {"dmarc_none_moderation_action", .kind = KEY_LOST, .words = "0"},
    {"dmarc_quarantine_moderation_action", .kind = KEY_LOST, .words = "1"},
    {"drop_cc", .kind = KEY_LOST, .words = "1"},
    {"encode_ascii_prefixes", .kind = KEY_LOST, .words = "2"},
    {"equivalent_domains", .kind = KEY_LOST, .words = ""},
    {"forward_auto_discards", .kind = KEY_LOST, .words = "1"},
    {"goodbye_msg", .kind = KEY_LOST, .words = ""},
    {"include_sender_header", .kind = KEY_LOST, .words = "1"},
    {"member_moderation_notice", .kind = KEY_LOST, .words = ""},
    {"member_verbosity_interval", .kind = KEY_LOST, .words = "300"},
    {"member_verbosity_threshold", .kind = KEY_LOST, .words = "0"},
    {"mime_is_default_digest", .kind = KEY_LOST, .words = "0"},
    {"new_member_options", .kind = KEY_LOST, .words = "256"},
    {"nntp_host", .kind = KEY_LOST, .words = ""},
    {"nondigestable", .kind = KEY_LOST, .words = "1"},
    {"nonmember_rejection_notice", .kind = KEY_LOST, .words = ""},
    {"obscure_addresses", .kind = KEY_LOST, .words = "1"},
    {"regular_exclude_ignore", .kind = KEY_LOST, .words = "1"},
    {"regular_exclude_lists", .kind = KEY_LOST, .words = ""},
    {"regular_include_lists", .kind = KEY_LOST, .words = ""},
    {"scrub_nondigest", .kind = KEY_LOST, .words = "0"},
    {"subscribe_auto_approval", .kind = KEY_LOST, .words = ""},
    {"umbrella_list", .kind = KEY_LOST, .words = "0"},
    {"umbrella_member_suffix", .kind = KEY_LOST, .words = "-owner"},
    {"welcome_msg", .kind = KEY_LOST, .words = ""},
    {"mod_password", .kind = KEY_SECRET},
    {"post_password", .kind = KEY_SECRET},
    {"_internal_name", .kind = KEY_READ},
    {"admin_responses", .kind = KEY_READ},
    {"archive", .kind = KEY_READ},
    {"archive_private", .kind = KEY_READ},
    {"available_languages", .kind = KEY_READ},
    {"ban_list", .kind = KEY_READ},
    {"bounce_info", .kind = KEY_READ},
    {"created_at", .kind = KEY_READ},
    {"data_version", .kind = KEY_READ},
    {"default_member_moderation", .kind = KEY_READ},
    {"delivery_status", .kind = KEY_READ},
    {"digest_last_sent_at", .kind = KEY_READ},
    {"digest_members", .kind = KEY_READ},
    {"from_is_list", .kind = KEY_READ},
    {"header_filter_rules", .kind = KEY_READ},
    {"hold_and_cmd_autoresponses", .kind = KEY_READ},
    {"host_name", .kind = KEY_READ},
    {"language", .kind = KEY_READ},
    {"last_post_time", .kind = KEY_READ},
    {"member_moderation_action", .kind = KEY_READ},
    {"members", .kind = KEY_READ},
    {"moderator", .kind = KEY_READ},
    {"msg_footer", .kind = KEY_READ},
    {"msg_header", .kind = KEY_READ},
    {"next_digest_number", .kind = KEY_READ},
    {"one_last_digest", .kind = KEY_READ},
    {"owner", .kind = KEY_READ},
    {"password", .kind = KEY_READ},
    {"passwords", .kind = KEY_READ},
    {"post_id", .kind = KEY_READ},
    {"postings_responses", .kind = KEY_READ},
    {"request_responses", .kind = KEY_READ},
    {"send_reminders", .kind = KEY_READ},
    {"topics", .kind = KEY_READ},
    {"topics_userinterest", .kind = KEY_READ},
    {"use_dollar_strings", .kind = KEY_READ},
    {"usenet_watermark", .kind = KEY_READ},
    {"user_options", .kind = KEY_READ},
    {"usernames", .kind = KEY_READ},
    {"volume", .kind = KEY_READ},
    {"web_page_url", .kind = KEY_READ},
};

/* ---- values ---- */

static int64_t mailman2_number(const PickleValue *value, int64_t fallback)
{
    if (value && (value->type == PICKLE_INTEGER || value->type == PICKLE_BOOL))
        return value->integer;
    if (!value || value->type != PICKLE_FLOAT || !(value->number > -1e15 && value->number < 1e15))
        return fallback;
    int64_t whole = (int64_t)value->number;
    return whole + (value->number > (double)whole);
}

static int64_t mailman2_time(const PickleValue *value)
{
    double seconds = value && value->type == PICKLE_FLOAT ? value->number : (double)mailman2_number(value, 0);
    return seconds > 0 && seconds < 1e11 ? (int64_t)(seconds * (double)CLOCK_SECOND) : 0;
}

static const char *mailman2_charset(const char *language)
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

static char *mailman2_text(const Mailman2 *from, const PickleValue *value)
{
    if (!pickle_string(value))
        return NULL;
    g_autoptr(GString) bytes = g_string_new(NULL), text = g_string_new(NULL);
    pickle_text_bytes(value, bytes);
    g_string_replace(bytes, "\r\n", "\n", 0);
    if (g_utf8_validate(bytes->str, -1, NULL))
        return g_strdup(bytes->str);
    if (!charset_decode(from->charset, bytes->str, strlen(bytes->str), false, text))
        return g_utf8_make_valid(bytes->str, -1);
    return g_utf8_make_valid(text->str, (gssize)text->len);
}

/* ---- settings ---- */

/* names: "@talk" is the list of that name at the same site. */
static char *words_of(const Mailman2 *from, const PickleValue *value, bool names)
{
    g_autoptr(GString) words = g_string_new(NULL);
    for (guint i = 0; value && value->type == PICKLE_LIST && i < value->items->len; i++) {
        g_autofree char *word = mailman2_text(from, value->items->pdata[i]);
        bool local = names && word && *word == '@' && !strchr(word + 1, '@');
        g_autofree char *list = local ? g_strconcat(word, strchr(from->address, '@'), NULL) : NULL;
        if (word)
            moving_settings_add_word(words, list ? list : word);
    }
    return g_string_free(g_steal_pointer(&words), FALSE);
}

/* A value of any type as it is told, in one line; "": it is empty. g_free() */
static char *shown(const Mailman2 *from, const PickleValue *value)
{
    g_autofree char *words = value->type == PICKLE_LIST ? words_of(from, value, false) : NULL;
    g_autofree char *text = words ? NULL : mailman2_text(from, value);
    if (text || (words && (*words || value->items->len == 0)))
        return g_strstrip(g_strdelimit(g_strdup(text ? text : words), "\r\n", ' '));
    if (value->items && value->type != PICKLE_OBJECT)
        return value->items->len == 0 ? g_strdup("")
                                      : g_strdup_printf("%u entries", value->type == PICKLE_DICT ? value->items->len / 2
                                                                                                 : value->items->len);
    return value->type == PICKLE_NONE ? g_strdup("")
                                      : g_strdup_printf("%" G_GINT64_FORMAT, mailman2_number(value, 0));
}

/* Mailman's names of values in texts. PAGE stands for the address of one of its pages, of which the list's page here
 * takes the place. */
#define PAGE "\001"
static const char *const placeholders[][2] = {
    {"real_name", "$display_name"},
    {"listname", "$display_name"},
    {"list_name", "$list_name"},
    {"_internal_name", "$list_name"},
    {"host_name", "$mail_host"},
    {"description", "$description"},
    {"info", "$info"},
    {"user_address", "$user_address"},
    {"user_name", "$user_name"},
    {"user_delivered_to", "$user_delivered_to"},
    {"requestemail", "$request_address"},
    {"owneremail", "$owner_address"},
    {"adminemail", "$owner_address"},
    {"listurl", PAGE},
    {"web_page_url", PAGE},
};

/* The text behind a placeholder that begins at `at`, "%(name)s", or where dollars is set "$name" or "${name}", and its
 * name. NULL: there begins none. */
static const char *read_placeholder(const char *at, bool dollars, char **name)
{
    bool brace = dollars && at[0] == '$' && at[1] == '{';
    const char *begin = dollars ? at + 1 + brace : at + 2;
    if (dollars ? at[0] != '$' : at[0] != '%' || at[1] != '(')
        return NULL;
    size_t length = strspn(begin, LETTERS "0123456789");
    const char *close = dollars ? brace ? "}" : "" : ")s";
    if (length == 0 || !g_str_has_prefix(begin + length, close))
        return NULL;
    *name = g_strndup(begin, length);
    return begin + length + strlen(close);
}

/* Mailman's text with the placeholders of Listrunner. *unknown: it has others, which stay as they are written. */
static char *usual_text(const char *text, bool dollars, bool *unknown)
{
    g_autoptr(GString) usual = g_string_new(NULL);
    while (*text) {
        size_t which = 0;
        g_autofree char *name = NULL;
        const char *next = read_placeholder(text, dollars, &name);
        while (next && which < G_N_ELEMENTS(placeholders) && strcmp(placeholders[which][0], name) != 0)
            which++;
        bool known = next && which < G_N_ELEMENTS(placeholders);
        bool twice = *text == (dollars ? '$' : '%') && text[1] == *text;
        *unknown |= next && !known;
        if (known)
            g_string_append(usual, placeholders[which][1]);
        else if (*text == '$')
            g_string_append(usual, "$$");
        else
            g_string_append_c(usual, *text);
        text = known ? next : text + 1 + twice;
    }
    return g_string_free(g_steal_pointer(&usual), FALSE);
}

/* Put the address of the list's page where text has that of a page of Mailman. Without pages the line goes. */
static char *with_page(Mailman2 *from, const char *key, const char *text)
{
    const WorkSite *site = moving_site(from->moving);
    g_autofree char *path = g_strconcat("/list/", from->list_id, NULL), *url = work_site_page(site, path);
    g_autoptr(GString) made = g_string_new(NULL);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    bool first = true;
    for (char **line = lines; *line; line++) {
        const char *page = strstr(*line, PAGE);
        if (page && !url)
            continue;
        g_string_append_printf(made, "%s%.*s", first ? "" : "\n", page ? (int)(page - *line) : -1, *line);
        if (page) /* "listinfo%(cgiext)s/%(_internal_name)s" belongs to the address */
            g_string_append_printf(made, "%s%s", url, page + strlen(PAGE) + strcspn(page + strlen(PAGE), " \t>)\"'"));
        first = false;
    }
    if (!url)
        moving_tell(from->moving, MOVING_CHANGED, from->list_id, key,
                    "lines with the address of a page of Mailman are left out, since [site] web_url is not set");
    return g_string_free(g_steal_pointer(&made), FALSE);
}

/* A text with placeholders; NULL: there is none. g_free() */
static char *template_of(Mailman2 *from, const char *key)
{
    bool unknown = false, dollars = mailman2_number(pickle_get(from->config, "use_dollar_strings"), 0) != 0;
    g_autofree char *text = mailman2_text(from, pickle_get(from->config, key));
    if (!text)
        return NULL;
    g_autoptr(GString) plain = g_string_new(text);
    g_string_replace(plain, PAGE, "", 0);
    g_string_replace(plain, dollars ? "${cgiext}" : "%(cgiext)s", "", 0);
    g_autofree char *usual = usual_text(plain->str, dollars, &unknown);
    if (unknown)
        moving_tell(from->moving, MOVING_CHANGED, from->list_id, key,
                    "a value that Mailman filled in has no equal here, and stays as it is written");
    return strstr(usual, PAGE) ? with_page(from, key, usual) : g_steal_pointer(&usual);
}

static char *value_of(Mailman2 *from, const Key *key, const PickleValue *value)
{
    int64_t number = mailman2_number(value, key->kind == KEY_CHOICE ? -1 : 0);
    switch (key->kind) {
    case KEY_FLAG:
        return g_strdup(number != 0 ? "yes" : "no");
    case KEY_NUMBER:
    case KEY_SECONDS:
        return g_strdup_printf("%" G_GINT64_FORMAT, number);
    case KEY_DAYS:
        return g_strdup_printf("%" G_GINT64_FORMAT "d", number);
    case KEY_CHOICE: {
        g_auto(GStrv) words = g_strsplit(key->words, "|", -1);
        return number >= 0 && number < g_strv_length(words) ? g_strdup(words[number])
                                                            : g_strdup_printf("%" G_GINT64_FORMAT, number);
    }
    case KEY_WORDS:
        return words_of(from, value, false);
    case KEY_NAMES:
        return words_of(from, value, true);
    case KEY_LINES: {
        g_autoptr(GString) words = g_string_new(NULL);
        g_autofree char *text = mailman2_text(from, value);
        g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
        for (char **line = lines; *line; line++)
            if (*g_strstrip(*line))
                moving_settings_add_word(words, *line);
        return g_string_free(g_steal_pointer(&words), FALSE);
    }
    case KEY_TEXT:
        return mailman2_text(from, value);
    case KEY_ANSWER:
        return template_of(from, key->name);
    default:
        return NULL;
    }
}

/* Tell of a value that has no equal here, unless it is what Mailman has by itself. */
static void tell_lost(Mailman2 *from, const Key *key, const PickleValue *value)
{
    g_autofree char *text = shown(from, value);
    bool usual_footer = strstr(text, "____") && strstr(text, "mailing list") && strstr(text, "listinfo") &&
                        strlen(text) < 300; /* as Mailman gives it to each list */
    if (!*text || (key->words ? strcmp(text, key->words) == 0 : key->kind == KEY_LOST && usual_footer))
        return;
    if (key->kind == KEY_SECRET)
        moving_tell(from->moving, MOVING_LOST, from->list_id, key->name,
                    "it is set, and posts with it in a field Approved are not let through; set moderator_password");
    else
        moving_tell(from->moving, MOVING_LOST, from->list_id, key->name, "%s", text);
}

/* A topic's pattern fits where one of its lines does. */
static char *topics_of(Mailman2 *from)
{
    g_autoptr(GString) topics = g_string_new(NULL);
    const PickleValue *rows = pickle_get(from->config, "topics");
    for (guint i = 0; rows && rows->type == PICKLE_LIST && i < rows->items->len; i++) {
        const PickleValue *row = rows->items->pdata[i];
        g_autofree char *name = row->items && row->items->len > 1 ? mailman2_text(from, row->items->pdata[0]) : NULL;
        g_autofree char *text = name ? mailman2_text(from, row->items->pdata[1]) : NULL;
        g_auto(GStrv) lines = g_strsplit_set(text ? text : "", "\r\n", -1);
        g_autoptr(GString) topic = g_string_new(NULL);
        for (char **line = lines; *line; line++)
            if (*g_strstrip(*line)) /* an empty one would fit every post */
                g_string_append_printf(topic, "%s%s", topic->len ? "|" : "", *line);
        if (topic->len > 0) {
            g_string_prepend(topic, ": ");
            g_string_prepend(topic, name);
            moving_settings_add_word(topics, topic->str);
        } else if (name) {
            moving_tell(from->moving, MOVING_LEFT_OUT, from->list_id, "topics", "%s has no pattern", name);
        }
    }
    return g_string_free(g_steal_pointer(&topics), FALSE);
}

/* Settings that are made of two, or whose values are not one to one. */
static void add_others(Mailman2 *from, GPtrArray *settings)
{
    static const char *const actions[] = {"hold", "reject", "discard"}, *const frames[] = {"msg_header", "msg_footer"};
    int64_t action = mailman2_number(pickle_get(from->config, "member_moderation_action"), 0);
    bool moderated = mailman2_number(pickle_get(from->config, "default_member_moderation"), 0) != 0;
    moving_settings_add(settings, "default_member_action", "default_member_moderation",
                     g_strdup(moderated ? actions[CLAMP(action, 0, 2)] : "defer"));
    bool archived = mailman2_number(pickle_get(from->config, "archive"), 1) != 0;
    bool closed = mailman2_number(pickle_get(from->config, "archive_private"), 0) != 0;
    moving_settings_add(settings, "archive_policy", "archive",
                     g_strdup(!archived ? "never"
                              : closed  ? "private"
                                        : "public"));
    int64_t always = mailman2_number(pickle_get(from->config, "from_is_list"), 0);
    if (always == 1 || always == 2) {
        moving_settings_add(settings, "dmarc_mitigate_action", "from_is_list",
                         g_strdup(always == 1 ? "munge_from" : "wrap_message"));
        moving_settings_add(settings, "dmarc_mitigate_unconditionally", "from_is_list", g_strdup("yes"));
    }
    moving_settings_add(settings, "topics", "topics", topics_of(from));
    for (size_t i = 0; i < G_N_ELEMENTS(frames); i++) {
        char *text = template_of(from, frames[i]);
        if (text)
            moving_settings_add(settings, frames[i], frames[i], text);
    }
}

static void mailman2_settings(Mailman2 *from, GPtrArray *settings)
{
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        const Key *key = &keys[i];
        const PickleValue *value = pickle_get(from->config, key->name);
        if (!value || value->type == PICKLE_NONE)
            continue;
        char *text = value_of(from, key, value);
        if (text)
            moving_settings_add(settings, key->ours ? key->ours : key->name, key->name, text);
        else if (key->kind == KEY_LOST || key->kind == KEY_SECRET)
            tell_lost(from, key, value);
    }
    add_others(from, settings);

    /* Languages besides the one that mail is in. */
    g_autoptr(GString) others = g_string_new(NULL);
    const char *own = pickle_string(pickle_get(from->config, "preferred_language"));
    const PickleValue *all = pickle_get(from->config, "available_languages");
    for (guint i = 0; all && all->type == PICKLE_LIST && i < all->items->len; i++) {
        const char *language = pickle_string(all->items->pdata[i]);
        if (language && g_strcmp0(language, own) != 0)
            g_string_append_printf(others, "%s%s", others->len ? ", " : "", language);
    }
    if (others->len > 0)
        moving_tell(from->moving, MOVING_LOST, from->list_id, "available_languages", "%s", others->str);

    /* Tell the settings that are unknown here, unless they are empty or 0. */
    const GPtrArray *items = from->config->items;
    for (guint i = 0; i + 1 < items->len; i += 2) {
        size_t at = 0;
        const char *name = pickle_string(items->pdata[i]);
        while (name && at < G_N_ELEMENTS(keys) && strcmp(keys[at].name, name) != 0)
            at++;
        g_autofree char *text = shown(from, items->pdata[i + 1]);
        if (name && at == G_N_ELEMENTS(keys) && *text && strcmp(text, "0") != 0)
            moving_tell(from->moving, MOVING_LOST, from->list_id, name, "%s", text);
    }
}

/* ---- bans and header filters ---- */

static bool mailman2_bans(Mailman2 *from, GError **error)
{
    const PickleValue *bans = pickle_get(from->config, "ban_list");
    for (guint i = 0; bans && bans->type == PICKLE_LIST && i < bans->items->len; i++) {
        g_autofree char *email = mailman2_text(from, bans->items->pdata[i]);
        if (email && !moving_ban(from->moving, from->list_id, email, error))
            return false;
    }
    return true;
}

/* The names of fields that a pattern of names means, "To|Cc" or "[Ss]ender"; NULL: they cannot be told. g_strfreev() */
static char **field_names(const char *pattern)
{
    g_autoptr(GString) plain = g_string_new(NULL);
    for (const char *at = pattern; *at; at++) {
        bool letter = at[0] == '[' && at[1] && at[2] && at[3] == ']';
        if (letter && g_ascii_tolower(at[1]) == g_ascii_tolower(at[2])) { /* fields have no case */
            g_string_append_c(plain, at[1]);
            at += 3;
        } else if (*at != '\\' || !at[1] || g_ascii_isalnum(at[1])) {
            g_string_append_c(plain, *at);
        }
    }
    size_t group = g_str_has_prefix(plain->str, "(?:") ? 3 : g_str_has_prefix(plain->str, "(");
    if (group > 0 && plain->str[plain->len - 1] == ')') {
        g_string_truncate(plain, plain->len - 1);
        g_string_erase(plain, 0, (gssize)group);
    }
    g_auto(GStrv) names = g_strsplit(plain->str, "|", -1);
    bool good = group > 0 || g_strv_length(names) == 1; /* "^To|Cc: x" means something else */
    for (char **name = names; *name; name++)
        good &= **name && strspn(*name, LETTERS "0123456789-") == strlen(*name);
    return good ? g_steal_pointer(&names) : NULL;
}

/* One line of a rule, a pattern of a whole field; action NULL: that is none here. */
static bool take_filter(Mailman2 *from, char *line, const char *action, GError **error)
{
    g_autofree char *whole = g_strdup(line);
    char *name = *line == '^' ? line + 1 : line, *close = *name == '(' ? strchr(name, ')') : NULL;
    char *colon = strchr(close ? close : name, ':');
    g_auto(GStrv) names = NULL;
    if (colon && action) {
        *colon = '\0';
        names = field_names(name);
    }
    if (!names) {
        moving_tell(from->moving, MOVING_LEFT_OUT, from->list_id, "header_filter_rules",
                    "\"%s\" is no field with a pattern, or its action is none", whole);
        return true;
    }
    for (char **one = names; *one; one++) {
        const HeaderMatch match = {.list_id = from->list_id,
                                   .position = -1,
                                   .header = *one,
                                   .pattern = g_strchug(colon + 1),
                                   .target = (char *)action};
        if (!moving_header_match(from->moving, &match, error))
            return false;
    }
    return true;
}

/* A rule is (patterns, action, flag), a pattern of a whole field a line. */
static bool mailman2_filters(Mailman2 *from, GError **error)
{
    static const char *const actions[] = {"defer", "hold", "reject", "discard", NULL, NULL, "accept", "hold"};
    const PickleValue *rules = pickle_get(from->config, "header_filter_rules");
    for (guint i = 0; rules && rules->type == PICKLE_LIST && i < rules->items->len; i++) {
        const PickleValue *rule = rules->items->pdata[i];
        g_autofree char *text = rule->items && rule->items->len > 1 ? mailman2_text(from, rule->items->pdata[0]) : NULL;
        int64_t action = text ? mailman2_number(rule->items->pdata[1], -1) : -1;
        g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
        bool known = action >= 0 && action < (int64_t)G_N_ELEMENTS(actions);
        for (char **line = lines; *line; line++)
            if (*g_strstrip(*line) && **line != '#' &&
                !take_filter(from, *line, known ? actions[action] : NULL, error))
                return false;
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
    g_autoptr(GPtrArray) settings = moving_settings_new();
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
