/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/in/notices.h"

#include <inttypes.h>

#include "base/log.h"
#include "mail/header.h"
#include "mail/notice.h"
#include "mail/template.h"
#include "runners/keys.h"
#include "runners/list_runner.h"

/* One notice to be. */
typedef struct Letter {
    const char *template;
    const char *kind; /* for its Message-ID */
    char *to;         /* of the header */
    char **recipients; /* consumed */
    char *envelope_sender; /* "": none, so that nobody answers it */
    bool replied;
    NoticeAttach attach;
    int64_t number;
} Letter;

/* The template with the post's values; NULL with a line in the log. */
static char *fill(const Notices *notices, const Letter *letter)
{
    Post *post = notices->post;
    const List *list = post->list;
    g_autoptr(GError) error = NULL;
    g_autofree char *template = template_load(notices->templates, list->preferred_language, letter->template, &error);
    if (!template) {
        log_warn("%s list=%s no notice: %s", entry_trace(notices->entry), list->list_id, error->message);
        return NULL;
    }
    g_autofree char *raw = message_value(post->message, "Subject");
    g_autofree char *subject = header_decode(raw ? raw : "(no subject)"), *reasons = post_reasons(post, "\n    ");
    g_autofree char *owner = post_list_address(list, "owner");
    g_autofree char *number = g_strdup_printf("%" PRId64, letter->number);
    g_autofree char *size = g_strdup_printf("%zu", post->size);
    const GPtrArray *senders = post_senders(post);
    const char *name = list->display_name && *list->display_name ? list->display_name : list->list_name;
    const TemplateValue values[] = {{"list_name", name},
                                    {"posting_address", list->posting_address},
                                    {"owner_address", owner},
                                    {"subject", subject},
                                    {"reasons", reasons},
                                    {"sender", senders->len > 0 ? senders->pdata[0] : post->sender},
                                    {"number", number},
                                    {"size", size},
                                    {0}};
    g_autofree char *text = template_fill(template, values);
    return g_utf8_make_valid(text, -1);
}

static bool has_8bit(const GPtrArray *pieces)
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

static void add_draft(const Notices *notices, Letter *letter, const GPtrArray *pieces, const char *id)
{
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, notices->post->list->list_id);
    meta_set_string(meta, KEY_SENDER, letter->envelope_sender);
    meta_set_string(meta, KEY_ENVELOPE_SENDER, letter->envelope_sender);
    meta_set_string(meta, KEY_MESSAGE_ID, id);
    meta_set_string(meta, KEY_PRIORITY, "notice");
    if (has_8bit(pieces))
        meta_set_bool(meta, KEY_BODY_8BIT, true);
    Draft *draft = draft_new("virgin", meta);
    for (unsigned at = 0; at < pieces->len; at++)
        draft_add_message(draft, pieces->pdata[at]);
    list_runner_set_recipients(draft, g_steal_pointer(&letter->recipients));
    outcome_add(notices->outcome, draft);
}

static void send_letter(const Notices *notices, Letter *letter)
{
    Post *post = notices->post;
    g_autofree char *text = fill(notices, letter);
    if (text) {
        g_autofree char *from = post_list_address(post->list, "owner");
        g_autofree char *id = g_strdup_printf("%s.%s@%s", letter->kind, post->trace, post->list->mail_host);
        g_autoptr(GBytes) about = entry_message(notices->entry);
        Notice notice = {.from = from, .to = letter->to, .text = text, .id = id, .date = post->now,
                         .replied = letter->replied, .attach = letter->attach, .about = about,
                         .in_reply_to = letter->replied ? post->message_id : NULL};
        g_autoptr(GPtrArray) pieces = notice_compose(&notice);
        add_draft(notices, letter, pieces, id);
    }
    g_clear_pointer(&letter->recipients, g_strfreev);
    g_free(letter->to);
    g_free(letter->envelope_sender);
}

static char **only(const char *address)
{
    char **all = g_new0(char *, 2);
    all[0] = g_strdup(address);
    return all;
}

static void answer(const Notices *notices, const char *template, const char *kind, NoticeAttach attach)
{
    const char *sender = notices->post->sender;
    Letter letter = {.template = template, .kind = kind, .to = g_strdup(sender), .recipients = only(sender),
                     .envelope_sender = g_strdup(""), .replied = true, .attach = attach};
    send_letter(notices, &letter);
}

void notices_held_poster(const Notices *notices)
{
    answer(notices, "held_poster", "held", NOTICE_ALONE);
}

void notices_rejected(const Notices *notices)
{
    answer(notices, "rejected", "rejected", NOTICE_HEADER);
}

bool notices_held_moderators(const Notices *notices, int64_t number, GError **error)
{
    Post *post = notices->post;
    g_auto(GStrv) all = list_administrators(post->store, post->list->list_id, error);
    if (!all)
        return false;
    char **recipients = *all ? g_steal_pointer(&all) : post->site_owner ? only(post->site_owner) : NULL;
    if (!recipients)
        return true;
    Letter letter = {.template = "held_moderators", .kind = "moderate", .to = post_list_address(post->list, "owner"),
                     .recipients = recipients, .envelope_sender = post_list_address(post->list, "bounces"),
                     .attach = NOTICE_MESSAGE, .number = number};
    send_letter(notices, &letter);
    return true;
}
