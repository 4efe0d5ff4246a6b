/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/web/waiting.h"

#include <string.h>

#include "base/clock.h"
#include "lists/letters/reason.h"
#include "mail/visible.h"
#include "runners/web/mail_html.h"

#define BRIEF 300 /* bytes of a subject, a name, an address that a page shows */

json_t *waiting_post(const WebCall *call, Work *work, const List *list, const Held *held)
{
    g_autofree char *reasons = reason_translate(work, list, call->language, held->reason ? held->reason : "");
    g_autofree char *size = g_format_size((guint64)held->size);
    g_autofree char *subject = visible_line(held->subject ? held->subject : "", BRIEF);
    g_autofree char *sender = visible_line(held->sender ? held->sender : "", BRIEF);
    g_autoptr(GString) why = g_string_new(NULL);
    visible_append(why, reasons, strlen(reasons));
    json_t *view = json_pack("{sI ss ss ss ss}", "number", (json_int_t)held->number, "subject", subject, "sender",
                             sender, "reasons", why->str, "size", size);
    web_set_time(view, "since", held->held_at);
    return view;
}

json_t *waiting_request(const Pending *request)
{
    g_autofree char *address = visible_line(request->address, BRIEF);
    g_autofree char *name = visible_line(request->display_name ? request->display_name : "", BRIEF);
    json_t *view = json_pack("{sI ss ss sb}", "number", (json_int_t)request->number, "address", address, "name", name,
                             "joins", request->kind == PENDING_JOIN);
    web_set_time(view, "since", request->made_at);
    return view;
}

void waiting_set_mail(const WebCall *call, json_t *view, GBytes *message, const char *files)
{
    g_autoptr(Readable) mail = readable_new(message, READABLE_TEXT);
    const MailHtml how = {.theme = call->web->theme, .language = call->language, .files = files};
    g_autoptr(GString) text = g_string_new(NULL);
    mail_html(&how, mail, text);
    json_object_set_new(view, "title", json_string(mail->head.subject));
    json_object_set_new(view, "subject", json_string(mail->head.subject));
    json_object_set_new(view, "text", json_string(text->str));
    json_object_set_new(view, "from", mail_html_people(&how, &mail->head.from));
    json_object_set_new(view, "to", mail_html_people(&how, &mail->head.to));
    json_object_set_new(view, "cc", mail_html_people(&how, &mail->head.cc));
    json_object_set_new(view, "addressed", json_boolean(mail_html_is_addressed(&mail->head)));
}

void waiting_file(WebCall *call, GBytes *message, const char *number)
{
    size_t at;
    g_autoptr(Readable) mail = readable_new(message, 0);
    bool is_number = g_ascii_string_to_unsigned(number, 10, 0, G_MAXUINT32, &at, NULL);
    web_attachment(call, is_number ? readable_file(mail, at) : NULL, false);
}

ModerateAfter waiting_after(const WebCall *call)
{
    ModerateAfter after = {0};
    g_autofree char *post = web_query(call, "after"), *request = web_query(call, "after_request");
    if (post)
        g_ascii_string_to_signed(post, 10, 0, G_MAXINT64 - 1, &after.post, NULL);
    if (request)
        g_ascii_string_to_signed(request, 10, 0, G_MAXINT64 - 1, &after.request, NULL);
    return after;
}
