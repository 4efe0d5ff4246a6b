/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/posts/injection.h"

#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "lists/keys.h"
#include "mail/address.h"
#include "mail/message.h"
#include "switchboard/meta.h"

static char *sender_of(const Message *message)
{
    static const char *const fields[] = {"Return-Path", "Sender", "From"};
    for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
        g_autofree char *value = message_value(message, fields[i]);
        g_autoptr(GPtrArray) addresses = address_list_new();
        if (value)
            address_parse(value, strlen(value), addresses);
        if (addresses->len > 0)
            return g_strdup(((const Address *)addresses->pdata[0])->mailbox);
    }
    return g_strdup("");
}

json_t *injection_meta(const Injection *injection, GBytes *message)
{
    g_autoptr(Message) parsed = message_new(message);
    g_autofree char *sender = injection->sender ? g_strdup(injection->sender) : sender_of(parsed);
    g_autofree char *id = message_id_brief(parsed);
    if (!id)
        id = g_strdup_printf("%s.%" G_GINT64_FORMAT "@%s", injection->door, clock_unique(), injection->host);
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, injection->list->list_id);
    meta_set_string(meta, KEY_SENDER, sender);
    meta_set_string(meta, KEY_RECIPIENT, injection->list->posting_address);
    meta_set_string(meta, KEY_TO, injection->to);
    meta_set_string(meta, KEY_PEER, injection->door);
    meta_set_string(meta, KEY_MESSAGE_ID, id);
    meta_set_bool(meta, KEY_BODY_8BIT, bytes_8bit_of(message));
    return meta;
}

Draft *injection_draft(const Injection *injection, GBytes *message)
{
    Draft *draft = draft_new(injection->queue, injection_meta(injection, message));
    draft_add_message(draft, message);
    return draft;
}
