/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/clock.h"
#include "mail/address.h"
#include "posting/handler.h"
#include "store/lists/list_setting.h"

/* Mail that came without a Message-ID gets the one that was made for it. */
static void supply_message_id(Post *post)
{
    g_autofree char *present = message_id(post->message);
    if (present || !post->message_id || !*post->message_id)
        return;
    g_autofree char *value = g_strdup_printf("<%s>", post->message_id);
    message_set(post->message, "Message-ID", value);
}

static void append_address(GString *value, const char *text)
{
    g_string_append_printf(value, "%s%s", value->len > 0 ? ",\r\n " : "", text);
}

/* The poster's own Reply-To as it was written, without fields that hold only one of ours. */
static bool append_own(const Post *post, const char *ours, GString *value)
{
    bool named = false;
    size_t index = 0;
    for (const Field *field; (field = message_find(post->message, "Reply-To", &index)); index++) {
        g_autoptr(GPtrArray) list = address_list_new();
        g_autofree char *text = field_value_folded(field);
        address_parse(text, strlen(text), list);
        unsigned others = 0;
        for (unsigned at = 0; at < list->len; at++) {
            bool same = address_same(((Address *)list->pdata[at])->mailbox, ours);
            others += !same;
            named = named || same;
        }
        if (others > 0)
            append_address(value, text);
    }
    return named;
}

/* Several fields become one: many mail programs read one alone, and some servers take no more (RFC 5322, 3.6). */
static void merge_own(Post *post)
{
    size_t index = 0;
    bool any = message_find(post->message, "Reply-To", &index) != NULL;
    index++;
    if (!any || !message_find(post->message, "Reply-To", &index))
        return;
    g_autoptr(GString) own = g_string_new(NULL);
    append_own(post, "", own);
    if (own->len > 0)
        message_set(post->message, "Reply-To", own->str);
}

/* first_strip_reply_to and reply_goes_to_list. The field stays untouched where
 * it says already what it must. */
static void set_reply_to(Post *post)
{
    const List *list = post->list;
    const char *ours = list->settings->reply_goes_to_list == REPLY_POINT_TO_LIST ? list->posting_address
                                                                                 : list->settings->reply_to_address;
    bool munge = list->settings->reply_goes_to_list != REPLY_NO_MUNGING && ours && *ours;
    if (!munge) {
        if (list->settings->first_strip_reply_to)
            message_remove(post->message, "Reply-To");
        else
            merge_own(post);
        return;
    }
    g_autoptr(GString) own = g_string_new(NULL);
    if (!list->settings->first_strip_reply_to && append_own(post, ours, own) && own->len > 0)
        return;
    /* Some mail programs take the first address alone: what the owners wrote goes before the author's. */
    bool last = list->settings->reply_goes_to_list == REPLY_POINT_TO_LIST && own->len > 0;
    g_autoptr(GString) value = g_string_new(last ? own->str : ours);
    if (last)
        append_address(value, ours);
    else if (own->len > 0)
        append_address(value, own->str);
    message_set(post->message, "Reply-To", value->str);
}

static bool process(Post *post, GError **error)
{
    supply_message_id(post);
    if (post->ours) /* a letter has the Precedence that it was written with, or none */
        return true;
    if (post->scheduled) { /* mail programs sort by it */
        g_autofree char *date = clock_rfc5322(post->now);
        message_set(post->message, "Date", date);
    }
    if (!message_has(post->message, "Precedence"))
        message_append(post->message, "Precedence", "list");
    if (!post->digest) /* which says itself that replies go to the list */
        set_reply_to(post);
    return true;
}

const Handler handler_cook_headers = {.name = "cook-headers", .process = process};
