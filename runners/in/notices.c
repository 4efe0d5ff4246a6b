/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/in/notices.h"

#include <inttypes.h>

#include "lists/letter.h"
#include "mail/header.h"
#include "runners/list_runner.h"

/* Of the post that a notice carries: with fields and text the whole stays below 64 KiB, which each server takes. */
#define ATTACH_MAX (48 * 1024)

/* Fills what all notices have in common, and writes it. number: of the held post, 0 for none. */
static bool send_letter(const Notices *notices, const char *kind, ListLetter *letter, int64_t number, GError **error)
{
    Post *post = notices->post;
    g_autofree char *raw = message_value(post->message, "Subject");
    g_autofree char *subject = header_decode(raw ? raw : "(no subject)");
    g_autofree char *brief = template_brief(subject), *reasons = post_reasons(post, "\n    ");
    g_autofree char *text = g_strdup_printf("%" PRId64, number), *size = g_strdup_printf("%zu", post->size);
    const GPtrArray *senders = post_senders(post);
    g_autofree char *sender = template_brief(senders->len > 0 ? senders->pdata[0] : post->sender);
    const TemplateValue values[] = {{"subject", brief},
                                    {"reasons", reasons},
                                    {"sender", sender},
                                    {"number", text},
                                    {"size", size},
                                    {"attached", post->size > ATTACH_MAX ? "Only the start of the message is attached."
                                                                         : "The whole message is attached."},
                                    {0}};
    g_autofree char *id = g_strdup_printf("%s.%s", kind, post->trace);
    g_autoptr(GBytes) about = entry_message(notices->entry);
    letter->values = values;
    letter->id = id;
    letter->about = about;
    letter->most = ATTACH_MAX;
    letter->date = post->now;
    g_autoptr(Work) work = list_runner_work(notices->runner, notices->entry);
    if (!work_letter(work, post->list, letter, error))
        return false;
    list_runner_work_into(work, notices->outcome);
    return true;
}

static bool answer(const Notices *notices, const char *template, const char *kind, NoticeAttach attach, GError **error)
{
    ListLetter letter = {.template = template, .to = notices->post->sender, .attach = attach,
                         .in_reply_to = notices->post->message_id};
    return send_letter(notices, kind, &letter, 0, error);
}

bool notices_held_poster(const Notices *notices, GError **error)
{
    return answer(notices, "held_poster", "held", NOTICE_ALONE, error);
}

bool notices_rejected(const Notices *notices, GError **error)
{
    return answer(notices, "rejected", "rejected", NOTICE_HEADER, error);
}

bool notices_held_moderators(const Notices *notices, int64_t number, GError **error)
{
    Post *post = notices->post;
    char **all = letter_owners(post->store, post->list, post->site_owner, error);
    if (!all)
        return false;
    g_autofree char *owner = list_address(post->list, "owner"), *bounces = list_address(post->list, "bounces");
    ListLetter letter = {.template = "held_moderators", .to = owner, .recipients = all, .envelope_sender = bounces,
                         .attach = NOTICE_MESSAGE};
    return send_letter(notices, "moderate", &letter, number, error);
}
