/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/held_notice.h"

#include <string.h>

#include "base/clock.h"
#include "base/octets.h"
#include "mail/answer.h"
#include "mail/message.h"
#include "mail/notice.h"
#include "mail/template.h"
#include "runners/keys.h"
#include "switchboard/meta.h"

#define ATTACH_MAX (48 * 1024) /* octets of the post's header */

static bool may_be_told(const Held *held)
{
    if (!held->message || !held->sender)
        return false;
    g_autoptr(Message) message = message_new(held->message);
    return answer_allowed(held->sender, message);
}

static const char *one_recipient(void *data, GError **error)
{
    char **address = data;
    char *next = address[0];
    address[0] = NULL;
    if (!next)
        return NULL;
    address[1] = next; /* borrowed until the draft is freed */
    return next;
}

static void free_recipient(gpointer data)
{
    char **address = data;
    g_free(address[0] ? address[0] : address[1]);
    g_free(address);
}

static char *owner_address(const List *list)
{
    g_autofree char *local = list_local(list, "owner", LIST_LOCAL_MAX);
    return g_strconcat(local, "@", list->mail_host, NULL);
}

/* The site's text for it, in the language of the list. */
static char *write_text(const Held *held, const List *list, const char *reason, const char *templates, GError **error)
{
    g_autofree char *template = template_load(templates, list->preferred_language, "rejected", error);
    if (!template)
        return NULL;
    g_autofree char *owner = owner_address(list), *subject = template_brief(held->subject ? held->subject : "");
    const char *name = list->display_name && *list->display_name ? list->display_name : list->list_name;
    const TemplateValue values[] = {{"list_name", name},
                                    {"posting_address", list->posting_address},
                                    {"owner_address", owner},
                                    {"subject", subject},
                                    {"sender", held->sender},
                                    {"reasons", reason ? reason : "The moderators gave none."},
                                    {0}};
    g_autofree char *text = template_fill(template, values);
    return g_utf8_make_valid(text, -1);
}

static void add_text(Draft *draft, const Held *held, const List *list, const char *text, const char *id)
{
    g_autofree char *owner = owner_address(list);
    Notice notice = {.from = owner,
                     .to = held->sender,
                     .text = text,
                     .id = id,
                     .in_reply_to = held->message_id && *held->message_id ? held->message_id : NULL,
                     .date = clock_now(),
                     .replied = true,
                     .attach = NOTICE_HEADER,
                     .about = held->message,
                     .most = ATTACH_MAX};
    g_autoptr(GPtrArray) pieces = notice_compose(&notice);
    for (guint i = 0; i < pieces->len; i++) {
        draft_add_message(draft, pieces->pdata[i]);
        if (octets_8bit_bytes(pieces->pdata[i]))
            meta_set_bool(draft_meta(draft), KEY_BODY_8BIT, true);
    }
}

bool held_notice(const Held *held, const List *list, const char *reason, const char *templates, Draft **draft,
                 GError **error)
{
    *draft = NULL;
    if (!may_be_told(held))
        return true;
    g_autofree char *text = write_text(held, list, reason, templates, error);
    if (!text)
        return false;
    g_autofree char *id = g_strdup_printf("rejected.%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT "@%s", held->held_at,
                                          held->number, list->mail_host);
    g_autoptr(json_t) post = meta_parse(held->meta, strlen(held->meta), NULL);
    json_t *meta = json_object();
    meta_set_string(meta, META_TRACE, meta_string(post, META_TRACE, NULL));
    meta_set_string(meta, META_LIST, list->list_id);
    meta_set_integer(meta, META_ARRIVAL, clock_now());
    meta_set_integer(meta, META_ORDINAL, held->number);
    meta_set_string(meta, KEY_SENDER, "");
    meta_set_string(meta, KEY_ENVELOPE_SENDER, "");
    meta_set_string(meta, KEY_MESSAGE_ID, id);
    meta_set_string(meta, KEY_PEER, "held reject");
    meta_set_string(meta, KEY_PRIORITY, "notice");
    *draft = draft_new("virgin", meta);
    add_text(*draft, held, list, text, id);
    char **address = g_new0(char *, 2);
    address[0] = g_strdup(held->sender);
    draft_set_recipients(*draft, one_recipient, address, free_recipient);
    return true;
}
