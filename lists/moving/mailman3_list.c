/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Lists of Mailman 3 with their settings, and texts of letters. */
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "lists/letters/template_name.h"
#include "lists/making/setting_check.h"
#include "lists/moving/file.h"
#include "lists/moving/mailman3_internal.h"
#include "lists/moving/pickle.h"
#include "store/lists/domain.h"
#include "store/lists/list_setting.h"

/*
 * Texts of letters of Mailman 3. It takes a text from the URI that its table `template` has for a list, its domain or
 * the site; else from a file below VAR/templates, where a list's own come first:
 *
 *   lists/LIST-ID/LANGUAGE/NAME.txt   lists/ADDRESS/LANGUAGE/NAME.txt
 *   domains/DOMAIN/LANGUAGE/NAME.txt  site/LANGUAGE/NAME.txt
 *
 * and else its own. Mailman's own texts are not copied: Listrunner has its own of the same meaning, in the language of
 * who reads them. The footer alone is, since it is part of what a list's posts look like.
 */
#define INSTALLED "mailman:///"
#define NONE ((char *)"")
#define FOOTER "list:member:regular:footer"
#define FOOTER_OF_ALL "list:member:generic:footer"

/* ---- files ---- */

/* directory: as moving_read_file() has it. */
static bool put_file(Mailman3 *from, const char *directory, const char *path, const TemplateText *like, GError **error)
{
    GError *why = NULL;
    TemplateText text = *like;
    g_autoptr(GBytes) bytes = moving_read_file(directory, path, &why);
    if (!bytes && g_error_matches(why, FAIL, FAIL_LATER)) {
        g_propagate_error(error, why);
        return false;
    }
    if (!bytes) {
        moving_tell(from->moving, MOVING_LEFT_OUT, like->place, like->name, "%s", why->message);
        g_error_free(why);
        return true;
    }
    g_autofree char *content = g_utf8_make_valid(g_bytes_get_data(bytes, NULL), (gssize)g_bytes_get_size(bytes));
    text.text = content;
    return moving_template(from->moving, &text, error);
}

/* Take the templates in the directories LANGUAGE of one below VAR/templates. */
static bool take_directory(Mailman3 *from, const char *kind, const char *name, const char *place, GError **error)
{
    g_autofree char *path = g_build_filename(from->var, "templates", kind, name, NULL);
    g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
    const char *language;
    while (directory && (language = g_dir_read_name(directory)))
        for (const TemplateName *row = template_table; row->mailman; row++) {
            g_autofree char *base = g_strconcat(row->mailman, ".txt", NULL);
            g_autofree char *file = g_build_filename(path, language, base, NULL);
            const TemplateText text = {.name = (char *)row->mailman,
                                       .place = (char *)place,
                                       .language = (char *)language,
                                       .uri = NONE,
                                       .username = NONE,
                                       .password = NONE,
                                       .fault = NONE};
            struct stat status;
            g_autoptr(GError) missing = NULL;
            auto_fd there = moving_open(from->var, file, 0, &status, &missing);
            if (!g_error_matches(missing, FAIL, FAIL_MISSING) && !put_file(from, from->var, file, &text, error))
                return false;
        }
    return true;
}

/* ---- the table ---- */

/* The file that "mailman:///.../NAME" means, below VAR/templates; NULL: there is none, so it is one of Mailman's. */
static char *installed_file(Mailman3 *from, const List *list, const char *host, const char *uri)
{
    g_autofree char *name = g_path_get_basename(uri);
    const char *language = list ? list->settings->preferred_language : "en";
    const struct {
        const char *kind, *of;
    } places[] = {{"lists", list ? list->list_id : NULL},
                  {"lists", list ? list->posting_address : NULL},
                  {"domains", host},
                  {"site", ""}};
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(places); i++) {
        const char *of = places[i % G_N_ELEMENTS(places)].of;
        if (!of)
            continue;
        g_autofree char *path = g_build_filename(from->var, "templates", places[i % G_N_ELEMENTS(places)].kind, of,
                                                 i < G_N_ELEMENTS(places) ? language : "en", name, NULL);
        struct stat status;
        if (moving_stat(from->var, path, &status))
            return g_steal_pointer(&path);
    }
    return NULL;
}

typedef struct TemplatesOf {
    const List *list;
    char *place, *host;
} TemplatesOf;

static bool take_template(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    const TemplatesOf *of = data;
    const char *name = foreign_text(rows, 0), *uri = foreign_text(rows, 1);
    const char *user = foreign_text(rows, 2), *password = foreign_text(rows, 3);
    if (!name || !uri)
        return true;
    if (!template_name_find(name)) {
        moving_tell(from->moving, MOVING_LOST, of->place, name, "there is no such text; Mailman has it from %s", uri);
        return true;
    }
    const TemplateText text = {.name = (char *)name,
                               .place = of->place,
                               .language = NONE,
                               .uri = (char *)uri,
                               .username = (char *)(user ? user : ""),
                               .password = (char *)(password ? password : ""),
                               .fault = NONE};
    TemplateText own = text;
    own.uri = own.username = own.password = NONE;
    if (g_str_has_prefix(uri, "file://")) {
        struct stat status;
        g_autofree char *path = g_filename_from_uri(uri, NULL, NULL);
        if (!path || !g_path_is_absolute(path) || !moving_stat("/", path, &status) || status.st_mode & S_IROTH)
            return put_file(from, path ? "/" : "", path ? path : uri, &own, error);
        /* Root reads here what Mailman's own user could not, so a file that is not for everybody to read is none of
         * Mailman's texts. */
        moving_tell(from->moving, MOVING_LEFT_OUT, own.place, own.name, "%s: not everybody may read it", path);
        return true;
    }
    if (!g_str_has_prefix(uri, INSTALLED))
        return moving_template(from->moving, &text, error);
    g_autofree char *path = installed_file(from, of->list, of->host, uri);
    if (path)
        return put_file(from, from->var, path, &own, error);
    moving_tell(from->moving, MOVING_CHANGED, *of->place ? of->place : "site", name,
                "Mailman's text %s is not below VAR/templates; Listrunner's own takes its place", uri);
    return true;
}

static bool take_place(Mailman3 *from, const char *context, TemplatesOf *of, GError **error)
{
    if (context)
        return mm_each(from,
                       "SELECT `name`, `uri`, `username`, `password` FROM template WHERE context = $1 ORDER BY id",
                       context, take_template, of, error);
    return mm_each(from,
                   "SELECT `name`, `uri`, `username`, `password` FROM template WHERE context IS NULL OR context = '' "
                   "ORDER BY id",
                   NULL, take_template, of, error);
}

static bool take_domain(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    const char *host = foreign_text(rows, 0);
    (void)data;
    if (!host)
        return true;
    g_autofree char *place = template_text_place(host), *kept = g_strdup(host);
    TemplatesOf of = {NULL, place, kept};
    return take_place(from, kept, &of, error) && take_directory(from, "domains", kept, place, error);
}

static bool mm_templates(Mailman3 *from, const List *list, GError **error)
{
    if (list) {
        TemplatesOf of = {list, list->list_id, list->mail_host};
        return take_place(from, list->list_id, &of, error) &&
               take_directory(from, "lists", list->list_id, list->list_id, error) &&
               take_directory(from, "lists", list->posting_address, list->list_id, error);
    }
    TemplatesOf of = {NULL, NONE, NULL};
    return take_place(from, NULL, &of, error) && take_directory(from, "site", "", "", error) &&
           mm_each(from, "SELECT `mail_host` FROM domain ORDER BY id", NULL, take_domain, NULL, error);
}

/* ---- the footer ---- */

/* Mailman writes these lines below posts where nobody set anything, in the languages of its own texts, else in
 * English. */
static const struct {
    const char *language, *line, *leave;
} footers[] = {
    {"en", "$display_name mailing list -- $listname", "To unsubscribe send an email to "},
    {"de", "$display_name Mailingliste -- $listname",
     "Zur Abmeldung von dieser Mailingliste senden Sie eine Nachricht an "},
    {"es", "Lista de correo $display_name -- $listname", "Para desuscribirse envíe un email a "},
    {"fr", "Liste de diffusion $display_name -- $listname", "Pour vous désinscrire, envoyez un courriel à "},
    {"it", "$display_name mailing list -- $listname", "Per annullare l'iscrizione invia un'email a "},
    {"pt", "Lista discussão $display_name -- $listname", "Para se desinscrever, envie um e-mail para "},
    {"pt_BR", "Lista discussão $display_name -- $listname", "Para se desinscrever, envie um e-mail para "},
};

static bool mm_footer(Mailman3 *from, const List *list, GError **error)
{
    static const char *const names[] = {FOOTER, FOOTER_OF_ALL};
    size_t language = 0;
    g_autofree char *domain = template_text_place(list->mail_host);
    const char *places[] = {list->list_id, domain, ""};
    for (size_t i = 0; i < G_N_ELEMENTS(places) * G_N_ELEMENTS(names); i++) {
        bool set;
        if (!moving_template_is_set(from->moving, places[i / 2], names[i % 2], &set, error))
            return false;
        if (set)
            return true;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(footers); i++)
        if (strcmp(footers[i].language, list->settings->preferred_language) == 0)
            language = i;
    g_autofree char *footer = g_strdup_printf(
        "_______________________________________________\n%s\n%s${short_listname}-leave@${domain}\n",
        footers[language].line, footers[language].leave);
    return moving_setting(from->moving, list, &(MovingSetting){"msg_footer", FOOTER, footer}, error);
}

#define ACTIONS "hold|reject|discard|accept|defer"
#define POLICIES "open|confirm|moderate|confirm_then_moderate"
#define AUTORESPOND "none|respond_and_discard|respond_and_continue"

typedef enum Mailman3Kind {
    COLUMN_FLAG,
    COLUMN_NUMBER,
    COLUMN_TEXT,
    COLUMN_CHOICE,   /* words in the order of their numbers, from `first` on */
    COLUMN_INTERVAL, /* a time, counted from 1970 */
    COLUMN_WORDS,    /* a pickle of a list of texts */
    COLUMN_KIB,      /* a number with a point */
    COLUMN_TOPICS,   /* a pickle of a list of (name, pattern, description, flag) */
    COLUMN_LOST,     /* no equal here; `words` is the value that says nothing */
} Mailman3Kind;

typedef struct ListColumn {
    const char *name;
    Mailman3Kind kind;
    const char *words; /* of a choice, or what is lost */
    int first;
} ListColumn;

/* The columns of the table mailinglist that are settings; Mailman's names are ours, too. */
static const ListColumn columns[] = {
    {"accept_these_nonmembers", .kind = COLUMN_WORDS},
    {"admin_immed_notify", .kind = COLUMN_FLAG},
    {"admin_notify_held_with_attachment", .kind = COLUMN_FLAG},
    {"admin_notify_mchanges", .kind = COLUMN_FLAG},
    {"administrivia", .kind = COLUMN_FLAG},
    {"advertised", .kind = COLUMN_FLAG},
    {"allow_list_posts", .kind = COLUMN_FLAG},
    {"anonymous_list", .kind = COLUMN_FLAG},
    {"archive_policy", .kind = COLUMN_CHOICE, .words = "never|private|public"},
    {"archive_rendering_mode", .kind = COLUMN_CHOICE, .words = "text|markdown", .first = 1},
    {"autorespond_owner", .kind = COLUMN_CHOICE, .words = AUTORESPOND},
    {"autorespond_postings", .kind = COLUMN_CHOICE, .words = AUTORESPOND},
    {"autorespond_requests", .kind = COLUMN_CHOICE, .words = AUTORESPOND},
    {"autoresponse_grace_period", .kind = COLUMN_INTERVAL},
    {"autoresponse_owner_text", .kind = COLUMN_TEXT},
    {"autoresponse_postings_text", .kind = COLUMN_TEXT},
    {"autoresponse_request_text", .kind = COLUMN_TEXT},
    {"bounce_info_stale_after", .kind = COLUMN_INTERVAL},
    {"bounce_matching_headers", .kind = COLUMN_TEXT},
    {"bounce_notify_owner_on_bounce_increment", .kind = COLUMN_FLAG},
    {"bounce_notify_owner_on_disable", .kind = COLUMN_FLAG},
    {"bounce_notify_owner_on_removal", .kind = COLUMN_FLAG},
    {"bounce_score_threshold", .kind = COLUMN_NUMBER},
    {"bounce_you_are_disabled_warnings", .kind = COLUMN_NUMBER},
    {"bounce_you_are_disabled_warnings_interval", .kind = COLUMN_INTERVAL},
    {"collapse_alternatives", .kind = COLUMN_FLAG},
    {"convert_html_to_plaintext", .kind = COLUMN_FLAG},
    {"default_member_action", .kind = COLUMN_CHOICE, .words = ACTIONS},
    {"default_nonmember_action", .kind = COLUMN_CHOICE, .words = ACTIONS},
    {"description", .kind = COLUMN_TEXT},
    {"digest_send_periodic", .kind = COLUMN_FLAG},
    {"digest_size_threshold", .kind = COLUMN_KIB},
    {"digest_volume_frequency", .kind = COLUMN_CHOICE, .words = "yearly|monthly|quarterly|weekly|daily"},
    {"digests_enabled", .kind = COLUMN_FLAG},
    {"discard_these_nonmembers", .kind = COLUMN_WORDS},
    {"display_name", .kind = COLUMN_TEXT},
    {"dmarc_addresses", .kind = COLUMN_WORDS},
    {"dmarc_mitigate_action", .kind = COLUMN_CHOICE, .words = "no_mitigation|munge_from|wrap_message|reject|discard"},
    {"dmarc_mitigate_unconditionally", .kind = COLUMN_FLAG},
    {"dmarc_moderation_notice", .kind = COLUMN_TEXT},
    {"dmarc_wrapped_message_text", .kind = COLUMN_TEXT},
    {"emergency", .kind = COLUMN_FLAG},
    {"filter_action", .kind = COLUMN_CHOICE, .words = "hold|reject|discard|accept|defer|forward|preserve"},
    {"filter_content", .kind = COLUMN_FLAG},
    {"first_strip_reply_to", .kind = COLUMN_FLAG},
    {"forward_unrecognized_bounces_to", .kind = COLUMN_CHOICE, .words = "discard|administrators|site_owner"},
    {"gateway_to_mail", .kind = COLUMN_FLAG},
    {"gateway_to_news", .kind = COLUMN_FLAG},
    {"hold_these_nonmembers", .kind = COLUMN_WORDS},
    {"include_rfc2369_headers", .kind = COLUMN_FLAG},
    {"info", .kind = COLUMN_TEXT},
    {"linked_newsgroup", .kind = COLUMN_TEXT},
    {"max_days_to_hold", .kind = COLUMN_NUMBER},
    {"max_message_size", .kind = COLUMN_NUMBER},
    {"max_num_recipients", .kind = COLUMN_NUMBER},
    {"member_roster_visibility", .kind = COLUMN_CHOICE, .words = "public|members|moderators"},
    {"newsgroup_moderation", .kind = COLUMN_CHOICE, .words = "none|open_moderated|moderated"},
    {"nntp_prefix_subject_too", .kind = COLUMN_FLAG},
    {"owner_chain", .kind = COLUMN_TEXT},
    {"owner_pipeline", .kind = COLUMN_TEXT},
    {"personalize", .kind = COLUMN_CHOICE, .words = "none|individual|full"},
    {"posting_chain", .kind = COLUMN_TEXT},
    {"posting_pipeline", .kind = COLUMN_TEXT},
    {"preferred_language", .kind = COLUMN_TEXT},
    {"process_bounces", .kind = COLUMN_FLAG},
    {"reject_these_nonmembers", .kind = COLUMN_WORDS},
    {"reply_goes_to_list", .kind = COLUMN_CHOICE,
     .words = "no_munging|point_to_list|explicit_header|explicit_header_only"},
    {"reply_to_address", .kind = COLUMN_TEXT},
    {"require_explicit_destination", .kind = COLUMN_FLAG},
    {"respond_to_post_requests", .kind = COLUMN_FLAG},
    {"send_goodbye_message", .kind = COLUMN_FLAG},
    {"send_welcome_message", .kind = COLUMN_FLAG},
    {"subject_prefix", .kind = COLUMN_TEXT},
    {"subscription_policy", .kind = COLUMN_CHOICE, .words = POLICIES},
    {"topics", .kind = COLUMN_TOPICS},
    {"topics_bodylines_limit", .kind = COLUMN_NUMBER},
    {"topics_enabled", .kind = COLUMN_FLAG},
    {"unsubscription_policy", .kind = COLUMN_CHOICE, .words = POLICIES},
    /* Of no effect in Mailman either, but for the last. */
    {"digest_is_default", .kind = COLUMN_LOST, .words = "0"},
    {"encode_ascii_prefixes", .kind = COLUMN_LOST, .words = "0"},
    {"forward_auto_discards", .kind = COLUMN_LOST, .words = "1"},
    {"member_moderation_notice", .kind = COLUMN_LOST, .words = ""},
    {"nonmember_rejection_notice", .kind = COLUMN_LOST, .words = ""},
    {"obscure_addresses", .kind = COLUMN_LOST, .words = "1"},
    {"scrub_nondigest", .kind = COLUMN_LOST, .words = "0"},
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
        moving_settings_add_word(words, valid);
    }
    return g_string_free(g_steal_pointer(&words), FALSE);
}

static char *value_of(Mailman3 *from, const ListColumn *column, const char *list_id, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    switch (column->kind) {
    case COLUMN_FLAG:
        return g_strdup(mm_flag(text) ? "yes" : "no");
    case COLUMN_CHOICE: {
        g_auto(GStrv) words = g_strsplit(column->words, "|", -1);
        int64_t number = mm_integer(valid, -1) - column->first;
        /* A number that is none of them is refused with the words that are allowed. */
        return number >= 0 && number < g_strv_length(words) ? g_strdup(words[number]) : g_steal_pointer(&valid);
    }
    case COLUMN_INTERVAL:
        return g_strdup_printf("%" G_GINT64_FORMAT, mm_time(text) / CLOCK_SECOND);
    case COLUMN_KIB: {
        double size = g_ascii_strtod(text, NULL);
        if (size > 0 && size < 1e9) /* rounded up */
            return g_strdup_printf("%d", (int)size + (size > (int)size));
        if (size != 0)
            return g_strdup(text);
        /* Mailman 3.3.10 sends no digest because of its size where the threshold is 0, as we do; older ones, which lack
         * a column of that version, send one with each post. */
        if (!(from->lacks & LACKS_BASE_URL))
            return g_strdup("0");
        moving_tell(from->moving, MOVING_CHANGED, list_id, "digest_size_threshold",
                    "0 sends a digest with each post in Mailman; it is 1 KiB now, and 0 would mean no limit");
        return g_strdup("1");
    }
    case COLUMN_LOST: {
        bool flag = strcmp(column->words, "0") == 0 || strcmp(column->words, "1") == 0;
        if (flag ? mm_flag(valid) != mm_flag(column->words) : strcmp(valid, column->words) != 0)
            moving_tell(from->moving, MOVING_LOST, list_id, column->name, "%s",
                        flag ? mm_flag(valid) ? "yes" : "no" : valid);
        return NULL;
    }
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
            moving_settings_add(settings, column->name, column->name, value);
    }
}

/* ---- settings in tables of their own ---- */

static bool take_word(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    (void)from, (void)error;
    if (foreign_text(rows, 0))
        moving_settings_add_word(data, foreign_text(rows, 0));
    return true;
}

static bool add_words(Mailman3 *from, const char *number, const char *name, const char *sql, GPtrArray *settings,
                      GError **error)
{
    g_autoptr(GString) words = g_string_new(NULL);
    if (!mm_each(from, sql, number, take_word, words, error))
        return false;
    if (words->len > 0)
        moving_settings_add(settings, name, name, g_string_free(g_steal_pointer(&words), FALSE));
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

/* Settings that have tables of their own. */
static bool read_tables(Mailman3 *from, const char *number, GPtrArray *settings, GError **error)
{
    static const char *const filters[] = {"filter_types", "pass_types", "filter_extensions", "pass_extensions"};
    Archivers archivers = {0};
    if (!add_words(from, number, "acceptable_aliases",
                   "SELECT `alias` FROM acceptablealias WHERE `mailing_list_id` = $1 ORDER BY id", settings, error))
        return false;
    for (size_t type = 0; type < G_N_ELEMENTS(filters); type++) { /* Mailman's number of the kind */
        g_autofree char *of = g_strdup_printf("%s %zu", number, type);
        if (!add_words(from, of, filters[type],
                       "SELECT `filter_pattern` FROM contentfilter WHERE `mailing_list_id` || ' ' || `filter_type` = "
                       "$1 ORDER BY id",
                       settings, error))
            return false;
    }
    if (!mm_each(from, "SELECT `name`, `_is_enabled` FROM listarchiver WHERE `mailing_list_id` = $1", number,
                 take_archiver, &archivers, error))
        return false;
    if (archivers.known > 0 && archivers.enabled == 0)
        moving_settings_add(settings, "archivers", "listarchiver", g_strdup(ARCHIVERS_NONE));
    return true;
}

/* ---- bans and header matches ---- */

static bool take_ban(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    const char *email = foreign_text(rows, 0);
    return !email || moving_ban(from->moving, data, email, error);
}

static bool import_bans(Mailman3 *from, const char *list_id, GError **error)
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

/* ---- lists ---- */

typedef struct RowMaking {
    Mailman3 *from;
    ForeignRows *rows;
} RowMaking;

static bool make_list(void *data, List **list, GError **error)
{
    const RowMaking *making = data;
    Mailman3 *from = making->from;
    ForeignRows *rows = making->rows;
    size_t length;
    const char *list_id = foreign_text(rows, L_ID), *number = foreign_text(rows, L_NUMBER);
    const char *bytes = foreign_bytes(rows, L_PASSWORD, &length);
    g_autofree char *address = g_strdup_printf("%s@%s", foreign_text(rows, L_NAME), foreign_text(rows, L_HOST));
    g_autofree char *password = bytes && length > 0 ? g_strndup(bytes, length) : NULL;
    if (password && (*password != '$' || !g_utf8_validate(password, -1, NULL))) {
        moving_tell(from->moving, MOVING_LEFT_OUT, list_id, "moderator_password", "its hash is not one of crypt(5)");
        g_clear_pointer(&password, g_free);
    }
    g_autoptr(GPtrArray) settings = moving_settings_new();
    const MovingList made = {.list = {.address = address,
                                      .list_id = list_id,
                                      .created_at = mm_time(foreign_text(rows, L_CREATED)),
                                      .last_post_at = mm_time(foreign_text(rows, L_LAST_POST)),
                                      .post_id = mm_integer(foreign_text(rows, L_POST), 1),
                                      .archive = -1,
                                      .password_hash = password},
                             .settings = settings,
                             .volume = mm_integer(foreign_text(rows, L_VOLUME), 1),
                             .next_digest = mm_integer(foreign_text(rows, L_NEXT_DIGEST), 1),
                             .digest_sent_at = mm_time(foreign_text(rows, L_DIGEST_SENT)),
                             .watermark = mm_integer(foreign_text(rows, L_WATERMARK), -1)};
    read_settings(from, rows, list_id, settings);
    if (!read_tables(from, number, settings, error) || !moving_list(from->moving, &made, list, error))
        return false;
    if (!*list)
        return true;
    g_autofree char *matches = g_strdup_printf("SELECT `header`, `pattern`, `chain`, %s FROM headermatch "
                                               "WHERE `mailing_list_id` = $1 ORDER BY position, id",
                                               from->lacks & LACKS_TAGS ? "NULL" : "`tag`");
    return import_bans(from, (*list)->list_id, error) && mm_each(from, matches, number, take_match, *list, error) &&
           mm_templates(from, *list, error) && mm_footer(from, *list, error);
}

static bool take_list(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    bool in;
    const char *list_id = foreign_text(rows, L_ID);
    (void)data;
    if (!list_id || !foreign_text(rows, L_NAME) || !foreign_text(rows, L_HOST)) {
        moving_tell(from->moving, MOVING_LEFT_OUT, list_id, foreign_text(rows, L_NUMBER),
                    "the list has no List-Id, name or domain");
        return true;
    }
    if (!mm_wants(from, list_id))
        return true;
    return moving_make(from->moving, list_id, make_list, &(RowMaking){from, rows}, &in, error);
}

/* Take the rows that belong to lists. This comes when all lists are there: only then is it known which addresses are
 * lists' own. */
static bool take_rest(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    List *found = NULL;
    const char *list_id = foreign_text(rows, 0);
    (void)data;
    if (list_id && !mm_wants(from, list_id))
        return true;
    if (list_id && !moving_find_list(from->moving, list_id, &found, error))
        return false;
    g_autoptr(List) list = found;
    return !list || (mm_members(from, list, error) && mm_held(from, list, error) && mm_digest(from, list, error));
}

bool mm_lists(Mailman3 *from, GError **error)
{
    /* The rows of the table, with NULL for columns that an older Mailman has not. Lists with many members and posts
     * come first: where the name of one is a sub-address of another (talk-owner beside talk), the later one is left
     * out. */
    g_autoptr(GString) sql = g_string_new(
        "SELECT `id`, `list_id`, `list_name`, `mail_host`, `created_at`, `last_post_at`, `post_id`, `volume`, "
        "`next_digest_number`, `digest_last_sent_at`, moderator_password, ");
    g_string_append(sql, from->lacks & LACKS_WATERMARK ? "NULL" : "`usenet_watermark`");
    for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
        bool has;
        Mailman3Kind kind = columns[i].kind;
        if (!foreign_has(from->database, "mailinglist", columns[i].name, &has, error))
            return false;
        if (!has)
            g_string_append(sql, ", NULL");
        else if (kind == COLUMN_WORDS || kind == COLUMN_TOPICS)
            g_string_append_printf(sql, ", %s", columns[i].name);
        else
            g_string_append_printf(sql, ", `%s%s`", kind == COLUMN_INTERVAL ? "@since@" : "", columns[i].name);
    }
    g_string_append(sql, " FROM mailinglist ORDER BY (SELECT COUNT(*) FROM member m WHERE m.list_id = "
                         "mailinglist.list_id AND m.role = 1) DESC, `post_id` DESC, list_id");
    return mm_each(from, sql->str, NULL, take_list, NULL, error) &&
           mm_each(from, "SELECT `list_id` FROM mailinglist ORDER BY list_id", NULL, take_rest, NULL, error);
}

bool mm_site(Mailman3 *from, GError **error)
{
    bool whole;
    return moving_begin(from->moving, "site", NULL, MOVING_AT_ONCE, &whole, error) &&
           (whole ||
            (import_bans(from, NULL, error) && mm_templates(from, NULL, error) && moving_end(from->moving, error)));
}
