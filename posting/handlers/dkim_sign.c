/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/log.h"
#include "mail/dkim.h"
#include "posting/handler.h"

/* The message of the send in the pieces in which it leaves. */
static GPtrArray *pieces_of(const Post *post, const PostSend *send)
{
    if (send->pieces)
        return g_ptr_array_ref(send->pieces);
    const Message *message = send->message ? send->message : post->message;
    GPtrArray *pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(pieces, message_head(message));
    g_ptr_array_add(pieces, message_body(message));
    return pieces;
}

/* The last of all: once for all copies, which so must be the same. Those that have holes leave without a signature of
 * ours. A key that cannot sign does not keep the post. */
static bool process(Post *post, GError **error)
{
    PostSend *send = post_send_find(post, POST_OUT);
    const GPtrArray *keys = post->site ? post->site->keys : NULL;
    if (!send || !keys || (send->holes && send->holes->len > 0))
        return true;
    g_autoptr(GPtrArray) pieces = pieces_of(post, send);
    g_autoptr(GString) fields = g_string_new(NULL);
    for (guint at = 0; at < keys->len; at++) {
        g_autoptr(GError) fault = NULL;
        if (!dkim_key_fits(keys->pdata[at], post->list->mail_host))
            continue;
        g_autofree char *value = dkim_key_sign(keys->pdata[at], pieces, &fault);
        if (value)
            g_string_append_printf(fields, "DKIM-Signature: %s\r\n", value);
        else
            log_warn("%s list=%s not signed: %s", post->trace, post->list->list_id, fault->message);
    }
    if (fields->len == 0)
        return true;
    GPtrArray *signed_pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(signed_pieces, g_bytes_new(fields->str, fields->len));
    for (guint at = 0; at < pieces->len; at++)
        g_ptr_array_add(signed_pieces, g_bytes_ref(pieces->pdata[at]));
    if (send->pieces)
        g_ptr_array_unref(send->pieces);
    send->pieces = signed_pieces;
    return true;
}

const Handler handler_dkim_sign = {.name = "dkim-sign", .process = process};
