/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The settings of a list of Sympa. */
#include <string.h>

#include "lists/moving/sympa_internal.h"
#include "store/language.h"

#define KIB INT64_C(1024)
#define SIZE_DEFAULT (5 * KIB * KIB) /* max_size where neither list nor site says one */
#define TEXT_MAX ((size_t)1 << 20)   /* bytes of message_footer and such */

/* Paragraphs that are looked at below, or that say nothing about how the list behaves. */
static const char *const known[] = {
    "anonymous_sender",
    "archive",
    "clean_delay_queuemod",
    "creation",
    "custom_subject",
    "digest",
    "dmarc_protection",
    "editor",
    "lang",
    "latest_instantiation",
    "max_size",
    "owner",
    "process_archive",
    "reply_to_header",
    "review",
    "send",
    "serial",
    "status",
    "subject",
    "subscribe",
    "unsubscribe",
    "update",
    "visibility",
    "web_archive",
    NULL,
};

static void set(GPtrArray *settings, const char *name, const char *key, const char *value)
{
    moving_settings_add(settings, name, key, g_strdup(value));
}

static void tell(const SympaList *list, MovingNote note, const char *key, const char *text)
{
    moving_tell(list->sympa->moving, note, list->list_id, key, "%s", text);
}

/* The value of a paragraph of one line; NULL: there is none. */
static const char *value_of(const SympaList *list, const char *name)
{
    const SympaParagraph *paragraph = sympa_config_find(list->config, name);
    return paragraph && *paragraph->value ? paragraph->value : NULL;
}

/* ---- scenarios ---- */

typedef struct Scenario {
    const char *name, *value;
    const char *differs; /* NULL: it means the same here */
} Scenario;

/* The setting for the scenario that the list has; otherwise: that of Sympa itself. `unknown` is for one whose meaning
 * is not known here. */
static void set_scenario(const SympaList *list, GPtrArray *settings, const char *key, const char *otherwise,
                         const Scenario *all, const MovingSetting *unknown)
{
    const char *named = value_of(list, key);
    const Scenario *one = all;
    while (one->name && strcmp(one->name, named ? named : otherwise) != 0)
        one++;
    set(settings, unknown->name, key, one->name ? one->value : unknown->value);
    if (!one->name)
        moving_tell(list->sympa->moving, MOVING_CHANGED, list->list_id, key,
                    "the scenario \"%s\" is not known here: %s = %s", named, unknown->name, unknown->value);
    else if (one->differs)
        moving_tell(list->sympa->moving, MOVING_CHANGED, list->list_id, key, "%s: %s", one->name, one->differs);
}

#define UNSIGNED "a signature or confirmation of the author is not asked for"
#define PARTS "of which parts a post has does not matter here"

static const SympaSend sends[] = {
    {"closed", "reject", "reject", false, false, NULL},
    {"confidential", "defer", "discard", true, true, NULL},
    {"editordkim", "hold", "hold", true, false, UNSIGNED},
    {"editorkey", "hold", "hold", true, false, NULL},
    {"editorkeyonly", "hold", "hold", false, false, NULL},
    {"editorkeyonlyauth", "hold", "hold", false, false, NULL},
    {"newsletter", "reject", "reject", true, false, NULL},
    {"owner", "reject", "reject", false, true, NULL},
    {"ownerauth", "reject", "reject", false, true, UNSIGNED},
    {"private", "defer", "reject", true, true, NULL},
    {"private_smime", "defer", "reject", true, true, UNSIGNED},
    {"privateandeditorkey", "hold", "reject", true, false, NULL},
    {"privateandnomultipartoreditorkey", "defer", "hold", false, false, PARTS},
    {"privatekey", "defer", "reject", false, false, UNSIGNED},
    {"privatekeyandeditorkeyonly", "hold", "reject", false, false, UNSIGNED},
    {"privateoreditorkey", "defer", "hold", true, false, NULL},
    {"privateorpublickey", "defer", "accept", false, false, NULL},
    {"public", "defer", "accept", false, false, NULL},
    {"public_nobcc", "defer", "accept", false, false, "a post that does not name the list is held, not refused"},
    {"publickey", "defer", "accept", false, false, "members need not confirm their posts"},
    {"publicnoattachment", "defer", "accept", false, false, PARTS},
    {"publicnomultipart", "defer", "accept", false, false, PARTS},
};

SympaSend sympa_send(const GPtrArray *config)
{
    const SympaParagraph *send = sympa_config_find(config, "send");
    for (size_t i = 0; i < G_N_ELEMENTS(sends); i++)
        if (strcmp(sends[i].name, send && *send->value ? send->value : "private") == 0)
            return sends[i];
    return (SympaSend){NULL, "hold", "hold", false, false, "every post waits for a moderator"};
}

/* Set the right to post. */
static bool set_posting(const SympaList *list, GPtrArray *settings, GError **error)
{
    const SympaSend send = sympa_send(list->config);
    const char *named = value_of(list, "send"), *name = send.name ? send.name : "";
    g_autoptr(GString) free = g_string_new(NULL); /* who may post where the others may not */
    for (int at = 0; at < 2; at++) {
        if (!(at == 0 ? send.editors : send.owners))
            continue;
        g_autoptr(GPtrArray) staff = sympa_staff(list, at == 0 ? ROLE_MODERATOR : ROLE_OWNER, error);
        if (!staff)
            return false;
        for (guint i = 0; i < staff->len; i++)
            moving_settings_add_word(free, staff->pdata[i]);
    }
    set(settings, "default_member_action", "send", send.member);
    set(settings, "default_nonmember_action", "send", send.nonmember);
    set(settings, "accept_these_nonmembers", "send", free->str);
    bool asks = strcmp(name, "publickey") == 0 || strcmp(name, "privateorpublickey") == 0;
    set(settings, "sender_confirmation", "send", asks ? "yes" : "no");
    set(settings, "require_explicit_destination", "send", strcmp(name, "public_nobcc") == 0 ? "yes" : "no");
    if (!send.name)
        moving_tell(list->sympa->moving, MOVING_CHANGED, list->list_id, "send",
                    "the scenario \"%s\" is not known here: %s", named, send.differs);
    else if (send.differs)
        moving_tell(list->sympa->moving, MOVING_CHANGED, list->list_id, "send", "%s: %s", send.name, send.differs);
    return true;
}

static const Scenario joins[] = {
    {"auth", "confirm", NULL},
    {"auth_notify", "confirm", NULL},
    {"auth_notifydkim", "confirm", NULL},
    {"auth_owner", "confirm_then_moderate", NULL},
    {"auth_ownerdkim", "confirm_then_moderate", NULL},
    {"authdkim", "confirm", NULL},
    {"closed", "moderate", "whoever asks to join waits for a moderator"},
    {"open", "open", NULL},
    {"open_notify", "open", NULL},
    {"open_quiet", "open", NULL},
    {"owner", "moderate", NULL},
    {NULL, NULL, NULL},
};

static const Scenario leaves[] = {
    {"auth", "confirm", NULL},
    {"auth_notify", "confirm", NULL},
    {"auth_notifydkim", "confirm", NULL},
    {"authdkim", "confirm", NULL},
    {"closed", "moderate", "whoever asks to leave waits for a moderator"},
    {"open", "open", NULL},
    {"open_notify", "open", NULL},
    {"owner", "moderate", NULL},
    {NULL, NULL, NULL},
};

static const Scenario shows[] = {
    {"noconceal", "yes", NULL},
    {"conceal", "no", NULL},
    {"secret", "no", NULL},
    {NULL, NULL, NULL},
};

static const Scenario reviews[] = {
    {"public", "public", NULL},
    {"private", "members", NULL},
    {"owner", "moderators", NULL},
    {"listmaster", "moderators", "owners and moderators may see it"},
    {"closed", "moderators", "owners and moderators may see it"},
    {NULL, NULL, NULL},
};

/* Set the rights to join, to leave, and to see the list and its members. */
static void set_access(const SympaList *list, GPtrArray *settings)
{
    const MovingSetting unknown_join = {"subscription_policy", NULL, (char *)"confirm_then_moderate"},
                        unknown_leave = {"unsubscription_policy", NULL, (char *)"confirm"},
                        hidden = {"advertised", NULL, (char *)"no"},
                        few = {"member_roster_visibility", NULL, (char *)"moderators"};
    const char *join = value_of(list, "subscribe"), *leave = value_of(list, "unsubscribe");
    bool notified = (join && strstr(join, "_notify")) || (leave && strstr(leave, "_notify"));
    set_scenario(list, settings, "subscribe", "open", joins, &unknown_join);
    set_scenario(list, settings, "unsubscribe", "open", leaves, &unknown_leave);
    set(settings, "send_welcome_message", "subscribe", g_strcmp0(join, "open_quiet") == 0 ? "no" : "yes");
    set(settings, "admin_notify_mchanges", "subscribe", notified ? "yes" : "no");
    set_scenario(list, settings, "visibility", "conceal", shows, &hidden);
    set_scenario(list, settings, "review", "owner", reviews, &few);
}

/* ---- posts ---- */

static void set_reply(const SympaList *list, GPtrArray *settings)
{
    const SympaParagraph *reply = sympa_config_find(list->config, "reply_to_header");
    const char *value = sympa_config_value(reply, "value"), *other = sympa_config_value(reply, "other_email");
    bool all = g_strcmp0(value, "all") == 0, named = g_strcmp0(value, "other_email") == 0 && other && *other;
    set(settings, "reply_goes_to_list", "reply_to_header",
        all || g_strcmp0(value, "list") == 0 ? "point_to_list"
        : named                              ? "explicit_header"
                                             : "no_munging");
    set(settings, "reply_to_address", "reply_to_header", named ? other : "");
    set(settings, "first_strip_reply_to", "reply_to_header",
        g_strcmp0(sympa_config_value(reply, "apply"), "forced") == 0 ? "yes" : "no");
    if (all)
        tell(list, MOVING_CHANGED, "reply_to_header",
             "replies went to the author and the list, and go to the list (and to an author's own Reply-To)");
    if (g_strcmp0(value, "other_email") == 0 && !named)
        tell(list, MOVING_LEFT_OUT, "reply_to_header", "other_email is not there");
}

/* Sympa puts the prefix into square brackets, and may fill in the number of the post or the list's name. */
static void set_prefix(const SympaList *list, GPtrArray *settings)
{
    static const char *const numbers[] = {"[%list.sequence%]", "[% list.sequence %]", "[list->sequence]"},
                             *const names[] = {"[%list.name%]", "[% list.name %]", "[list->name]"};
    const char *subject = value_of(list, "custom_subject");
    g_autoptr(GString) prefix = g_string_new(subject ? subject : "");
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        g_string_replace(prefix, numbers[i], "%d", 0);
        g_string_replace(prefix, names[i], list->name, 0);
    }
    if (strstr(prefix->str, "[%") || strstr(prefix->str, "[list->"))
        tell(list, MOVING_CHANGED, "custom_subject", "what Sympa filled in there stays as it is written");
    moving_settings_add(settings, "subject_prefix", "custom_subject",
                     subject ? g_strdup_printf("[%s] ", prefix->str) : g_strdup(""));
}

/* Set the settings that are one value: the size, the language and such. */
static void set_values(const SympaList *list, GPtrArray *settings)
{
    const char *size = value_of(list, "max_size"), *lang = value_of(list, "lang");
    const char *subject = value_of(list, "subject"), *days = value_of(list, "clean_delay_queuemod");
    const char *anonymous = value_of(list, "anonymous_sender");
    int64_t bytes = size ? g_ascii_strtoll(size, NULL, 10) : SIZE_DEFAULT;
    bytes = CLAMP(bytes, 0, INT64_MAX - KIB);
    moving_settings_add(settings, "max_message_size", "max_size",
                     g_strdup_printf("%" G_GINT64_FORMAT, (bytes + KIB - 1) / KIB));
    if (lang)
        moving_settings_add(settings, "preferred_language", "lang", sympa_language(lang));
    set(settings, "description", "subject", subject ? subject : "");
    if (days)
        set(settings, "max_days_to_hold", "clean_delay_queuemod", days);
    set(settings, "anonymous_list", "anonymous_sender", anonymous ? "yes" : "no");
    if (anonymous)
        moving_tell(list->sympa->moving, MOVING_CHANGED, list->list_id, "anonymous_sender",
                    "the author is the list, not %s", anonymous);
}

/* "1,3,5 13:30": days of the week from Sunday, 0, on, and the time. */
static void set_digest(const SympaList *list, GPtrArray *settings)
{
    const char *text = value_of(list, "digest");
    set(settings, "digests_enabled", "digest", text ? "yes" : "no");
    if (!text)
        return;
    unsigned days = 0, count = 0;
    const char *clock = strrchr(text, ' ') ?: text;
    for (const char *at = text; at < clock; at++)
        if (g_ascii_isdigit(*at))
            days |= 1U << (unsigned)((*at - '0') % 7);
    for (unsigned day = 0; day < 7; day++)
        count += (days >> day) & 1;
    char *end = NULL;
    uint64_t hour = g_ascii_strtoull(clock, &end, 10), minute = *end == ':' ? g_ascii_strtoull(end + 1, NULL, 10) : 60;
    if (count == 0 || hour > 23 || minute > 59) {
        moving_tell(list->sympa->moving, MOVING_LEFT_OUT, list->list_id, "digest", "\"%s\" is no time", text);
        return;
    }
    set(settings, "digest_period", "digest", count == 1 ? "weekly" : "daily");
    moving_settings_add(settings, "digest_hour", "digest", g_strdup_printf("%u", (unsigned)hour));
    set(settings, "digest_size_threshold", "digest", "0");
    if (minute != 0 || (count != 7 && days != 2))
        moving_tell(list->sympa->moving, MOVING_CHANGED, list->list_id, "digest",
                    "it was sent at \"%s\", and is %s at %u:00", text, count == 1 ? "on Mondays" : "each day",
                    (unsigned)hour);
}

/* ---- archive, DMARC, language ---- */

static void set_archive(const SympaList *list, GPtrArray *settings)
{
    const SympaParagraph *archive = sympa_config_find(list->config, "archive"),
                         *web = sympa_config_find(list->config, "web_archive");
    const char *process = value_of(list, "process_archive");
    const char *access = sympa_config_value(archive, "web_access") ?: sympa_config_value(web, "access");
    if (!access)
        access = sympa_config_value(archive, "access");
    bool kept = process ? strcmp(process, "on") == 0 : archive || web;
    bool public = g_strcmp0(access, "public") == 0 || g_strcmp0(access, "open") == 0,
         private = g_strcmp0(access, "private") == 0;
    set(settings, "archive_policy", "archive", !kept ? "never" : public ? "public" : private ? "private" : "never");
    if (kept && !public && !private)
        moving_tell(list->sympa->moving, MOVING_CHANGED, list->list_id, "archive",
                    "fewer than all members may read it (web_access %s), which is not known here: no archive is kept, "
                    "until archive_policy says otherwise",
                    access ? access : "closed");
}

static void set_dmarc(const SympaList *list, GPtrArray *settings)
{
    const SympaParagraph *dmarc = sympa_config_find(list->config, "dmarc_protection");
    const char *mode = sympa_config_value(dmarc, "mode");
    g_auto(GStrv) modes = g_strsplit(mode ? mode : "none", ",", -1);
    bool some = false, all = false;
    for (char **one = modes; *one; one++) {
        const char *word = g_strstrip(*one);
        const char *differs = NULL;
        if (strcmp(word, "all") == 0)
            all = true;
        else if (g_str_has_prefix(word, "dkim")) {
            all = true;
            differs = "posts without a signature, too";
        } else if (g_str_has_prefix(word, "dmarc_")) {
            some = true;
            differs = strcmp(word, "dmarc_any") == 0 || strcmp(word, "dmarc_exists") == 0
                          ? "a policy of none changes nothing here"
                          : NULL;
        } else if (*word && strcmp(word, "none") != 0)
            moving_tell(list->sympa->moving, MOVING_LOST, list->list_id, "dmarc_protection", "%s: see dmarc_addresses",
                        word);
        if (differs)
            moving_tell(list->sympa->moving, MOVING_CHANGED, list->list_id, "dmarc_protection", "%s: %s", word,
                        differs);
    }
    set(settings, "dmarc_mitigate_action", "dmarc_protection", some || all ? "munge_from" : "no_mitigation");
    set(settings, "dmarc_mitigate_unconditionally", "dmarc_protection", all ? "yes" : "no");
    static const char *const rest[] = {"domain_regex", "other_email", "phrase"};
    for (size_t i = 0; i < G_N_ELEMENTS(rest); i++) {
        const char *value = sympa_config_value(dmarc, rest[i]);
        if (value)
            moving_tell(list->sympa->moving, MOVING_LOST, list->list_id, "dmarc_protection", "%s %s", rest[i], value);
    }
}

char *sympa_language(const char *lang)
{
    static const char languages[] = " " LANGUAGES " ";
    g_autofree char *code = g_strdelimit(g_strdup(lang), "-", '_'), *whole = g_strdup_printf(" %s ", code);
    if (!strstr(languages, whole))
        code[strcspn(code, "_")] = '\0';
    return g_steal_pointer(&code);
}

/* ---- files ---- */

static bool set_text(const SympaList *list, GPtrArray *settings, const char *file, const char *name, bool filled,
                     GError **error)
{
    GBytes *read = NULL;
    if (!sympa_read(list, file, TEXT_MAX, &read, error))
        return false;
    if (!read)
        return true;
    gsize length;
    g_autoptr(GBytes) bytes = read;
    const char *octets = g_bytes_get_data(bytes, &length);
    g_autofree char *valid = g_utf8_make_valid(octets ? octets : "", (gssize)length);
    g_autoptr(GString) text = g_string_new(valid);
    if (filled)
        g_string_replace(text, "$", "$$", 0);
    if (strstr(text->str, "[%"))
        tell(list, MOVING_CHANGED, file, "what Sympa filled in there stays as it is written");
    set(settings, name, file, text->str);
    return true;
}

/* ---- what has no equal ---- */

/* Lines of paragraphs above that are looked at, or that say nothing about how the list behaves. */
static const struct {
    const char *paragraph, *lines;
} read_lines[] = {
    {"archive", "access web_access"},
    {"creation", "date date_epoch email"},
    {"dmarc_protection", "domain_regex mode other_email phrase"},
    {"editor", "email gecos info"},
    {"latest_instantiation", "date date_epoch email"},
    {"owner", "email gecos info profile"},
    {"reply_to_header", "apply other_email value"},
    {"update", "date date_epoch email"},
    {"web_archive", "access"},
};

/* Tell what has no equal here. Of a paragraph that can stand there once, Sympa looks at the last; lines below one with
 * a value mean nothing. */
static void tell_rest(const SympaList *list)
{
    Moving *moving = list->sympa->moving;
    for (guint i = 0; i < list->config->len; i++) {
        const SympaParagraph *paragraph = list->config->pdata[i];
        const GPtrArray *entries = paragraph->entries;
        const SympaEntry *first = entries->len > 0 ? entries->pdata[0] : NULL;
        if (!g_strv_contains(known, paragraph->name)) {
            g_autoptr(GString) text = g_string_new(paragraph->value);
            for (guint at = 0; at < entries->len; at++) {
                const SympaEntry *entry = entries->pdata[at];
                bool secret = strstr(entry->key, "passw") != NULL;
                g_string_append_printf(text, "%s%s %s", text->len ? ", " : "", entry->key,
                                       secret ? "..." : entry->value);
            }
            bool source = g_str_has_prefix(paragraph->name, "include_");
            moving_tell(moving, MOVING_LOST, list->list_id, paragraph->name, "%s%s", text->str,
                        source ? " (who came from there is a member like all others)" : "");
            continue;
        }
        if (first && *paragraph->value) {
            g_autofree char *key = g_strdup_printf("config line %u", first->line);
            tell(list, MOVING_LEFT_OUT, key, "it belongs to no paragraph: an empty line is missing before it");
            continue;
        }
        const char *lines = "";
        for (size_t at = 0; at < G_N_ELEMENTS(read_lines); at++)
            if (strcmp(read_lines[at].paragraph, paragraph->name) == 0)
                lines = read_lines[at].lines;
        g_auto(GStrv) read = g_strsplit(lines, " ", -1);
        for (guint at = 0; at < entries->len; at++) {
            const SympaEntry *entry = entries->pdata[at];
            if (!g_strv_contains((const char *const *)read, entry->key))
                moving_tell(moving, MOVING_LOST, list->list_id, paragraph->name, "%s %s", entry->key, entry->value);
        }
    }
}

bool sympa_settings(const SympaList *list, GPtrArray *settings, GError **error)
{
    set_access(list, settings);
    set_reply(list, settings);
    set_prefix(list, settings);
    set_digest(list, settings);
    set_archive(list, settings);
    set_dmarc(list, settings);
    set_values(list, settings);
    tell_rest(list);
    return set_posting(list, settings, error) && set_text(list, settings, "info", "info", false, error) &&
           set_text(list, settings, "message_header", "msg_header", true, error) &&
           set_text(list, settings, "message_footer", "msg_footer", true, error);
}
