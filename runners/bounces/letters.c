/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/bounces/letters.h"

#include "base/clock.h"
#include "base/log.h"
#include "mail/notice.h"
#include "mail/template.h"
#include "runners/keys.h"

#define ATTACH_MAX (256 * 1024) /* octets; of larger mails the header is enough */

/* A mail in the making. */
typedef struct Mail {
    const char *template;
    const char *queue;
    char *to;          /* of the header */
    char **recipients; /* consumed */
    char *sender;      /* of the envelope */
    const char *whom;  /* for its Message-ID */
    bool attached;
} Mail;

static char *points(int64_t hundredths)
{
    g_autofree char *whole = g_strdup_printf("%" G_GINT64_FORMAT, hundredths / SCORE_POINT);
    int rest = (int)(hundredths % SCORE_POINT);
    return rest == 0 ? g_steal_pointer(&whole) : g_strdup_printf("%s.%02d", whole, rest);
}

static const char *date_of(int64_t time, char text[16])
{
    g_autofree char *whole = clock_text(time);
    g_snprintf(text, 16, "%.10s", whole);
    return text;
}

/* The template with the values; NULL with a line in the log. */
static char *fill(const Case *given, const Letter *letter, const char *name, const TemplateValue *more)
{
    const List *list = given->list;
    g_autoptr(GError) error = NULL;
    g_autofree char *text = template_load(given->bounces->shared->templates, list->preferred_language, name, &error);
    if (!text) {
        log_warn("%s list=%s no notice: %s", entry_trace(given->entry), list->list_id, error->message);
        return NULL;
    }
    const Failed *failed = letter->failed;
    g_autofree char *owner = post_list_address(list, "owner"), *score = points(letter->score);
    g_autofree char *threshold = g_strdup_printf("%" G_GINT64_FORMAT, list->bounce_score_threshold);
    g_autofree char *left =
        g_strdup_printf("%" G_GINT64_FORMAT, MAX(list->bounce_you_are_disabled_warnings - letter->warnings, 0));
    char next[16], removed[16];
    int64_t rest = MAX(list->bounce_you_are_disabled_warnings - letter->warnings, 0);
    const TemplateValue values[] = {
        {"list_name", *list->display_name ? list->display_name : list->list_name},
        {"posting_address", list->posting_address},
        {"owner_address", owner},
        {"address", letter->address},
        {"status", failed && *failed->status ? failed->status : "-"},
        {"reason", failed ? failed->reason : "-"},
        {"text", failed && *failed->text ? failed->text : failed ? failed->reason : ""},
        {"score", score},
        {"threshold", threshold},
        {"warnings_left", left},
        {"next", date_of(letter->next_at, next)},
        {"removal", date_of(letter->next_at + rest * list->bounce_you_are_disabled_warnings_interval, removed)},
        {more ? more->name : NULL, more ? more->value : NULL},
        {0},
    };
    g_autofree char *filled = template_fill(text, values);
    return g_utf8_make_valid(filled, -1);
}

static bool is_8bit(const GPtrArray *pieces)
{
    for (unsigned at = 0; at < pieces->len; at++) {
        gsize length;
        const unsigned char *octets = g_bytes_get_data(pieces->pdata[at], &length);
        for (gsize place = 0; place < length; place++)
            if (octets[place] >= 128)
                return true;
    }
    return false;
}

static void add_draft(Case *given, Mail *mail, const GPtrArray *pieces, const char *id)
{
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, given->list->list_id);
    meta_set_string(meta, KEY_SENDER, mail->sender);
    meta_set_string(meta, KEY_ENVELOPE_SENDER, mail->sender);
    meta_set_string(meta, KEY_MESSAGE_ID, id);
    meta_set_string(meta, KEY_PRIORITY, "notice");
    if (is_8bit(pieces))
        meta_set_bool(meta, KEY_BODY_8BIT, true);
    Draft *draft = draft_new(mail->queue, meta);
    for (unsigned at = 0; at < pieces->len; at++)
        draft_add_message(draft, pieces->pdata[at]);
    list_runner_set_recipients(draft, g_steal_pointer(&mail->recipients));
    outcome_add(given->outcome, draft);
}

static void send_mail(Case *given, const Letter *letter, Mail *mail, const TemplateValue *more)
{
    g_autofree char *text = fill(given, letter, mail->template, more);
    if (text && mail->recipients) {
        const List *list = given->list;
        g_autofree char *from = post_list_address(list, "owner");
        g_autofree char *whom = g_compute_checksum_for_string(G_CHECKSUM_SHA1, mail->whom, -1);
        g_autofree char *id = g_strdup_printf("%s.%s.%.12s@%s", mail->template, entry_trace(given->entry), whom,
                                              list->mail_host);
        g_autoptr(GBytes) about = entry_message(given->entry);
        bool small = g_bytes_get_size(about) <= ATTACH_MAX;
        Notice notice = {.from_name = list->display_name, .from = from, .to = mail->to, .text = text, .id = id,
                         .date = given->now, .about = about,
                         .personal = strcmp(mail->queue, "out") == 0, /* "bulk" would not come back */
                         .attach = !mail->attached ? NOTICE_ALONE : small ? NOTICE_MESSAGE : NOTICE_HEADER};
        g_autoptr(GPtrArray) pieces = notice_compose(&notice);
        add_draft(given, mail, pieces, id);
    }
    g_clear_pointer(&mail->recipients, g_strfreev);
    g_free(mail->to);
    g_free(mail->sender);
}

static char **only(const char *address)
{
    char **all = g_new0(char *, 2);
    all[0] = g_strdup(address);
    return all;
}

/* Owners and moderators, or who runs the site where there are none. */
static bool owners_of(const Case *given, char ***recipients, GError **error)
{
    g_auto(GStrv) all = list_administrators(given->bounces->shared->store, given->list->list_id, error);
    if (!all)
        return false;
    *recipients = *all ? g_steal_pointer(&all) : only(given->bounces->shared->site_owner);
    return true;
}

static void send_probe(Case *given, const Letter *letter)
{
    g_autofree char *local = NULL;
    VerpList list = case_verp_list(given, &local);
    g_autoptr(GString) sender = g_string_new(NULL);
    verp_make(given->bounces->keys, VERP_PROBE, &list, letter->address, given->now, sender);
    /* Straight to out: virgin would add Precedence. */
    Mail mail = {.template = "bounce_probe", .queue = "out", .to = g_strdup(letter->address),
                 .recipients = only(letter->address), .sender = g_strdup(sender->str), .whom = letter->address,
                 .attached = given->has_mail};
    send_mail(given, letter, &mail, NULL);
}

static void send_warning(Case *given, const Letter *letter)
{
    Mail mail = {.template = "bounce_warning", .queue = "virgin", .to = g_strdup(letter->address),
                 .recipients = only(letter->address), .sender = g_strdup(""), .whom = letter->address};
    send_mail(given, letter, &mail, NULL);
}

static bool tell_owners(Case *given, const Letter *letter, GError **error)
{
    bool complaint = letter->failed && letter->failed->class == BOUNCE_COMPLAINT;
    Mail mail = {.template = complaint                      ? "bounce_owner_complaint"
                             : letter->acts & SCORE_REMOVE  ? "bounce_owner_removed"
                             : letter->acts & SCORE_DISABLE ? "bounce_owner_disabled"
                                                            : "bounce_owner_score",
                 .queue = "virgin", .whom = letter->address, .attached = given->has_mail};
    if (!owners_of(given, &mail.recipients, error))
        return false;
    mail.to = post_list_address(given->list, "owner");
    mail.sender = g_strdup("");
    send_mail(given, letter, &mail, NULL);
    return true;
}

bool letters_send(Case *given, const Letter *letter, GError **error)
{
    if (letter->acts & SCORE_PROBE)
        send_probe(given, letter);
    if (letter->acts & SCORE_WARN)
        send_warning(given, letter);
    return !(letter->acts & SCORE_TELL_OWNER) || tell_owners(given, letter, error);
}

bool letters_forward(Case *given, const char *why, bool last, GError **error)
{
    Mail mail = {.template = "bounce_unrecognized", .queue = "virgin", .whom = "", .attached = true};
    bool site = given->list->forward_unrecognized_bounces_to == FORWARD_SITE_OWNER;
    if (site)
        mail.recipients = only(given->bounces->shared->site_owner);
    else if (!owners_of(given, &mail.recipients, error))
        return false;
    mail.to = site ? g_strdup(given->bounces->shared->site_owner) : post_list_address(given->list, "owner");
    mail.sender = g_strdup("");
    g_autofree char *note = g_strdup_printf("%s%s", why, last ? "\n\nFurther ones of today are not sent to you." : "");
    send_mail(given, &(Letter){.address = ""}, &mail, &(TemplateValue){"why", note});
    return true;
}
