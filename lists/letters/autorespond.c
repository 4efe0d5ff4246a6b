/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/letters/autorespond.h"

#include "lists/letters/letter.h"
#include "store/lists/list_setting.h"
#include "store/posts/autoresponse.h"

static const struct {
    const char *kind; /* of the record */
    size_t action, text;
} settings[] = {
    [AUTORESPOND_TO_OWNER] = {"owner", offsetof(ListSettings, autorespond_owner),
                              offsetof(ListSettings, autoresponse_owner_text)},
    [AUTORESPOND_TO_POSTINGS] = {"postings", offsetof(ListSettings, autorespond_postings),
                                 offsetof(ListSettings, autoresponse_postings_text)},
    [AUTORESPOND_TO_REQUESTS] = {"requests", offsetof(ListSettings, autorespond_requests),
                                 offsetof(ListSettings, autoresponse_request_text)},
};

Autorespond autorespond_action(const List *list, AutorespondTo to)
{
    return *(const int *)((const char *)list->settings + settings[to].action);
}

bool autorespond(Work *work, const List *list, const AutorespondMail *mail, GError **error)
{
    bool due, allowed;
    if (autorespond_action(list, mail->to) == AUTORESPOND_NONE || !mail->may_answer)
        return true;
    const Autoresponse record = {.list_id = list->list_id, .kind = settings[mail->to].kind, .address = mail->sender,
                                 .entry = mail->entry, .now = work_now(work),
                                 .grace = list->settings->autoresponse_grace_period};
    if (!autoresponse_record(work_store(work), &record, &due, error))
        return false;
    if (!due)
        return true;
    if (!letter_allowed(work, list, mail->sender, &allowed, error))
        return false;
    if (!allowed)
        return true;
    const char *text = *(char *const *)((const char *)list->settings + settings[mail->to].text);
    g_autoptr(Mailbox) reader = mailbox_new(mail->sender);
    g_autofree char *language = letter_language(work, list, reader);
    g_autofree char *filled = text && *text ? letter_fill(work, list, text, NULL)
                                            : letter_sentence(work, list, language, "autoresponse_text", NULL);
    g_autofree char *subject = template_brief(mail->subject && *mail->subject ? mail->subject : "-");
    const TemplateValue values[] = {{"text", filled}, {"subject", subject}, {0}};
    ListLetter letter = {.template = "autoresponse",
                         .values = values,
                         .language = language,
                         .to = mail->sender,
                         .in_reply_to = mail->message_id ? mail->message_id : ""};
    return work_letter(work, list, &letter, error);
}
