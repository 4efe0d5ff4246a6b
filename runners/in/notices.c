/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/in/notices.h"

#include "lists/letter.h"
#include "mail/header.h"
#include "runners/list_runner.h"

#define ATTACH_MAX (48 * 1024) /* octets of the post's header */

bool notices_rejected(const Notices *notices, GError **error)
{
    Post *post = notices->post;
    g_autofree char *raw = message_value(post->message, "Subject");
    g_autofree char *subject = header_decode(raw ? raw : "-");
    g_autofree char *brief = template_brief(subject), *reasons = post_reasons(post, "\n    ");
    const GPtrArray *senders = post_senders(post);
    g_autofree char *sender = template_brief(senders->len > 0 ? senders->pdata[0] : post->sender);
    const TemplateValue values[] = {{"subject", brief}, {"reasons", reasons}, {"sender", sender}, {0}};
    g_autofree char *id = g_strdup_printf("rejected.%s", post->trace);
    g_autoptr(GBytes) about = message_octets(post->message);
    ListLetter letter = {.template = "rejected", .to = post->sender, .attach = NOTICE_HEADER, .values = values,
                         .id = id, .about = about, .most = ATTACH_MAX, .date = post->now,
                         .in_reply_to = post->message_id};
    g_autoptr(Work) work = list_runner_work(notices->runner, notices->entry);
    if (!work_letter(work, post->list, &letter, error))
        return false;
    list_runner_work_into(work, notices->outcome);
    return true;
}
