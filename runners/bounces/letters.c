/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/bounces/letters.h"

#include "base/clock.h"
#include "runners/keys.h"
#include "runners/list_letter.h"

#define ATTACH_MAX (256 * 1024) /* octets; of larger mails the header is enough */

/* A mail in the making. */
typedef struct Mail {
    const char *template;
    char *to;         /* of the header */
    ListLetterWay way;
    const char *whom; /* for its Message-ID */
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
        {"outcome", failed ? bounce_outcome(failed->class) : "-"},
        {"text", failed && *failed->text ? failed->text : failed ? failed->reason : ""},
        {"score", score},
        {"threshold", threshold},
        {"warnings_left", left},
        {"next", date_of(letter->next_at, next)},
        {"removal", date_of(letter->next_at + rest * list->bounce_you_are_disabled_warnings_interval, removed)},
        {more ? more->name : NULL, more ? more->value : NULL},
        {0},
    };
    return list_letter_text(given->entry, list, given->bounces->shared->templates, name, values);
}

static void send_mail(Case *given, const Letter *letter, Mail *mail, const TemplateValue *more)
{
    g_autofree char *text = fill(given, letter, mail->template, more);
    if (text) {
        const List *list = given->list;
        g_autofree char *from = post_list_address(list, "owner");
        g_autofree char *whom = g_compute_checksum_for_string(G_CHECKSUM_SHA1, mail->whom, -1);
        g_autofree char *id = g_strdup_printf("%s.%s.%.12s@%s", mail->template, entry_trace(given->entry), whom,
                                              list->mail_host);
        g_autoptr(GBytes) about = entry_message(given->entry);
        bool small = g_bytes_get_size(about) <= ATTACH_MAX;
        Notice notice = {.from_name = list->display_name, .from = from, .to = mail->to, .text = text, .id = id,
                         .date = given->now, .about = about,
                         .personal = strcmp(mail->way.queue, NOTICE_QUEUE) == 0, /* "bulk" would not come back */
                         .attach = !mail->attached ? NOTICE_ALONE : small ? NOTICE_MESSAGE : NOTICE_HEADER};
        list_letter_add(given->outcome, list, &notice, mail->way);
    } else {
        g_strfreev(mail->way.recipients);
    }
    g_free(mail->to);
}

static char **owners_of(const Case *given, GError **error)
{
    const ListRunner *shared = given->bounces->shared;
    return list_letter_to_owners(shared->store, given->list, shared->site_owner, error);
}

static void send_probe(Case *given, const Letter *letter)
{
    g_autofree char *local = NULL;
    VerpList list = case_verp_list(given, &local);
    g_autoptr(GString) sender = g_string_new(NULL);
    verp_make(given->bounces->keys, VERP_PROBE, &list, letter->address, given->now, sender);
    /* Not by virgin, which would add Precedence. */
    Mail mail = {.template = "bounce_probe", .to = g_strdup(letter->address), .whom = letter->address,
                 .way = {NOTICE_QUEUE, sender->str, list_letter_to(letter->address)}, .attached = given->has_mail};
    send_mail(given, letter, &mail, NULL);
}

static void send_warning(Case *given, const Letter *letter)
{
    Mail mail = {.template = "bounce_warning", .to = g_strdup(letter->address), .whom = letter->address,
                 .way = {"virgin", "", list_letter_to(letter->address)}};
    send_mail(given, letter, &mail, NULL);
}

static bool tell_owners(Case *given, const Letter *letter, GError **error)
{
    bool complaint = letter->failed && letter->failed->class == BOUNCE_COMPLAINT;
    Mail mail = {.template = complaint                      ? "bounce_owner_complaint"
                             : letter->acts & SCORE_REMOVE  ? "bounce_owner_removed"
                             : letter->acts & SCORE_DISABLE ? "bounce_owner_disabled"
                                                            : "bounce_owner_score",
                 .way = {"virgin", "", owners_of(given, error)}, .whom = letter->address,
                 .attached = given->has_mail};
    if (!mail.way.recipients)
        return false;
    mail.to = post_list_address(given->list, "owner");
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
    bool site = given->list->forward_unrecognized_bounces_to == FORWARD_SITE_OWNER;
    const char *site_owner = given->bounces->shared->site_owner;
    Mail mail = {.template = "bounce_unrecognized", .whom = "", .attached = true,
                 .way = {"virgin", "", site ? list_letter_to(site_owner) : owners_of(given, error)}};
    if (!mail.way.recipients)
        return false;
    mail.to = site ? g_strdup(site_owner) : post_list_address(given->list, "owner");
    g_autofree char *note = g_strdup_printf("%s%s", why, last ? "\n\nFurther ones of today are not sent to you." : "");
    send_mail(given, &(Letter){.address = ""}, &mail, &(TemplateValue){"why", note});
    return true;
}

void letters_unreachable(Case *given, const Failed *failed)
{
    const char *site_owner = given->bounces->shared->site_owner;
    Mail mail = {.template = "bounce_unreachable", .whom = failed->address, .to = g_strdup(site_owner),
                 .way = {"virgin", "", list_letter_to(site_owner)}, .attached = given->has_mail};
    send_mail(given, &(Letter){.address = failed->address, .failed = failed}, &mail, NULL);
}
