/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/in/notices.h"

#include <inttypes.h>

#include "mail/header.h"
#include "runners/list_letter.h"

/* One notice to be. */
typedef struct Letter {
    const char *template;
    const char *kind; /* for its Message-ID */
    char *to;         /* of the header */
    ListLetterWay way;
    bool replied;
    NoticeAttach attach;
    int64_t number;
} Letter;

/* Of the post that a notice carries: with fields and text the whole stays below 64 KiB, which each server takes. */
#define ATTACH_MAX (48 * 1024)

/* The template with the post's values; NULL with a line in the log. */
static char *fill(const Notices *notices, const Letter *letter)
{
    Post *post = notices->post;
    const List *list = post->list;
    g_autofree char *raw = message_value(post->message, "Subject");
    g_autofree char *subject = header_decode(raw ? raw : "(no subject)");
    g_autofree char *brief = template_brief(subject), *reasons = post_reasons(post, "\n    ");
    g_autofree char *owner = post_list_address(list, "owner");
    g_autofree char *number = g_strdup_printf("%" PRId64, letter->number);
    g_autofree char *size = g_strdup_printf("%zu", post->size);
    const GPtrArray *senders = post_senders(post);
    g_autofree char *sender = template_brief(senders->len > 0 ? senders->pdata[0] : post->sender);
    const char *name = list->display_name && *list->display_name ? list->display_name : list->list_name;
    const TemplateValue values[] = {{"list_name", name},
                                    {"posting_address", list->posting_address},
                                    {"owner_address", owner},
                                    {"subject", brief},
                                    {"reasons", reasons},
                                    {"sender", sender},
                                    {"number", number},
                                    {"size", size},
                                    {"attached", post->size > ATTACH_MAX ? "Only the start of the message is attached."
                                                                         : "The whole message is attached."},
                                    {0}};
    return list_letter_text(notices->entry, list, notices->templates, letter->template, values);
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
                         .replied = letter->replied, .attach = letter->attach, .about = about, .most = ATTACH_MAX,
                         .in_reply_to = letter->replied ? post->message_id : NULL};
        list_letter_add(notices->outcome, post->list, &notice, letter->way);
    } else {
        g_strfreev(letter->way.recipients);
    }
    g_free(letter->to);
}

static void answer(const Notices *notices, const char *template, const char *kind, NoticeAttach attach)
{
    const char *sender = notices->post->sender;
    Letter letter = {.template = template, .kind = kind, .to = g_strdup(sender), .replied = true, .attach = attach,
                     .way = {.queue = "virgin", .envelope_sender = "", .recipients = list_letter_to(sender)}};
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
    g_auto(GStrv) all = list_letter_to_owners(post->store, post->list, post->site_owner, error);
    if (!all)
        return false;
    g_autofree char *bounces = post_list_address(post->list, "bounces");
    Letter letter = {.template = "held_moderators", .kind = "moderate", .to = post_list_address(post->list, "owner"),
                     .attach = NOTICE_MESSAGE, .number = number,
                     .way = {.queue = "virgin", .envelope_sender = bounces, .recipients = g_steal_pointer(&all)}};
    send_letter(notices, &letter);
    return true;
}
