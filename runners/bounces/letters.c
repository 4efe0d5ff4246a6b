/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/bounces/letters.h"

#include <string.h>

#include "base/clock.h"
#include "lists/event.h"
#include "lists/keys.h"
#include "lists/letters/letter.h"
#include "lists/people/roster.h"
#include "store/lists/list_setting.h"

#define ATTACH_MAX (256 * 1024) /* bytes; of larger mails the header is enough */

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

/* The words of a Diagnostic-Code (RFC 3464, 2.3.6), without its type: people need not know it. */
static const char *without_type(const char *text)
{
    return g_ascii_strncasecmp(text, "smtp;", strlen("smtp;")) == 0 ? text + strlen("smtp;") + strspn(text + 5, " ")
                                                                     : text;
}

/* Fills what all letters have in common, and writes it. attached: with the mail of the entry,
 * or, of a large one, its header; more: a value that only this letter has, or NULL. */
static bool send_letter(Case *given, const Letter *about, ListLetter *letter, bool attached, const TemplateValue *more,
                        GError **error)
{
    const List *list = given->list;
    const Failed *failed = about->failed;
    /* A score that reached the threshold began anew with the probe. */
    bool reached = about->acts & SCORE_PROBE;
    g_autofree char *score = points(reached ? list->settings->bounce_score_threshold * SCORE_POINT : about->score);
    g_autofree char *threshold = g_strdup_printf("%" G_GINT64_FORMAT, list->settings->bounce_score_threshold);
    int64_t rest = MAX(list->settings->bounce_you_are_disabled_warnings - about->warnings, 0);
    g_autofree char *left = g_strdup_printf("%" G_GINT64_FORMAT, rest);
    char next[16], removed[16];
    const TemplateValue values[] = {
        {"address", about->address},
        {"status", failed && *failed->status ? failed->status : "-"},
        {"reason", failed ? failed->reason : "-"},
        {"outcome", failed ? bounce_outcome(failed->class) : "-"},
        {"text", failed && *failed->text ? without_type(failed->text)
                 : failed                ? failed->reason
                                         : ""},
        {"score", score},
        {"threshold", threshold},
        {"warnings_left", left},
        {"next", date_of(about->next_at, next)},
        {"removal",
         date_of(about->next_at + rest * list->settings->bounce_you_are_disabled_warnings_interval, removed)},
        {more ? more->name : NULL, more ? more->value : NULL},
        {0},
    };
    g_autoptr(GBytes) mail = entry_message(given->entry);
    bool small = g_bytes_get_size(mail) <= ATTACH_MAX;
    letter->values = values;
    letter->from_name = list->settings->display_name;
    letter->date = given->now;
    letter->about = mail;
    letter->attach = !attached ? NOTICE_ALONE : small ? NOTICE_MESSAGE : NOTICE_HEADER;
    g_autoptr(Work) work = list_runner_work(given->bounces->shared, given->entry);
    if (!work_letter(work, list, letter, error))
        return false;
    list_runner_work_into(work, given->outcome);
    return true;
}

static char **owners_of(const Case *given, GError **error)
{
    const ListRunner *shared = given->bounces->shared;
    return letter_owners(shared->store, given->list, shared->site.site_owner, error);
}

bool letters_send(Case *given, const Letter *about, GError **error)
{
    const ListSettings *settings = given->list->settings;
    bool removed = about->acts & SCORE_REMOVE;
    if (removed || about->acts & SCORE_DISABLE) {
        g_autoptr(Work) work = list_runner_work(given->bounces->shared, given->entry);
        roster_tell(work, removed ? EVENT_MEMBER_LEFT : EVENT_MEMBER_DISABLED, given->list->list_id, ROLE_MEMBER,
                    about->address);
        list_runner_work_into(work, given->outcome);
    }
    if (about->acts & SCORE_PROBE) {
        g_autofree char *local = NULL;
        VerpList list = case_verp_list(given, &local);
        g_autoptr(GString) sender = g_string_new(NULL);
        verp_make(given->bounces->shared->seat.keys, VERP_PROBE, &list, about->address, given->now, sender);
        /* Not by virgin, and without Precedence: what is "bulk" would not come back. */
        ListLetter letter = {.template = "bounce_probe", .to = about->address, .envelope_sender = sender->str,
                             .queue = NOTICE_QUEUE, .personal = true};
        if (!send_letter(given, about, &letter, given->has_mail && settings->probe_add_dsn, NULL, error))
            return false;
    }
    if (about->acts & SCORE_WARN) {
        ListLetter letter = {.template = "bounce_warning", .to = about->address};
        if (!send_letter(given, about, &letter, false, NULL, error))
            return false;
    }
    if (!(about->acts & SCORE_TELL_OWNER))
        return true;
    bool complaint = about->failed && about->failed->class == BOUNCE_COMPLAINT;
    g_autofree char *owner = list_address(given->list, "owner");
    ListLetter letter = {.template = complaint                     ? "bounce_owner_complaint"
                                     : removed                     ? "bounce_owner_removed"
                                     : about->acts & SCORE_DISABLE ? "bounce_owner_disabled"
                                                                   : "bounce_owner_score",
                         .to = owner, .recipients = owners_of(given, error)};
    return letter.recipients && send_letter(given, about, &letter, given->has_mail, NULL, error);
}

bool letters_forward(Case *given, const char *why, bool last, GError **error)
{
    bool site = given->list->settings->forward_unrecognized_bounces_to == FORWARD_SITE_OWNER;
    g_autofree char *owner = list_address(given->list, "owner");
    g_autofree char *note = g_strdup_printf("%s%s", why, last ? "\n\nFurther ones of today are not sent to you." : "");
    ListLetter letter = {.template = "bounce_unrecognized",
                         .to = site ? given->bounces->shared->site.site_owner : owner,
                         .recipients = site ? NULL : owners_of(given, error)};
    return (site || letter.recipients) &&
           send_letter(given, &(Letter){.address = ""}, &letter, true, &(TemplateValue){"why", note}, error);
}

bool letters_unreachable(Case *given, const Failed *failed, GError **error)
{
    ListLetter letter = {.template = "bounce_unreachable", .to = given->bounces->shared->site.site_owner};
    return send_letter(given, &(Letter){.address = failed->address, .failed = failed}, &letter, given->has_mail, NULL,
                       error);
}
