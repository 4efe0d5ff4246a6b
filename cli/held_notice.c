/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/held_notice.h"

#include <string.h>

#include "base/clock.h"
#include "mail/address.h"
#include "mail/message.h"
#include "runners/keys.h"
#include "switchboard/meta.h"

static bool sent_by_program(const Held *held)
{
    static const char *const bulk[] = {"bulk", "list", "junk", NULL};
    g_autoptr(Message) message = message_new(held->message);
    g_autofree char *submitted = message_value(message, "Auto-Submitted");
    g_autofree char *precedence = message_value(message, "Precedence");
    if (submitted && g_ascii_strncasecmp(submitted, "no", 2) != 0)
        return true;
    g_autofree char *kind = precedence ? g_ascii_strdown(precedence, -1) : NULL;
    if ((kind && g_strv_contains(bulk, kind)) || message_has(message, "List-Id"))
        return true;
    g_autofree char *local = NULL;
    if (!held->sender || !address_split(held->sender, &local, NULL))
        return true;
    g_autofree char *lower = g_ascii_strdown(local, -1);
    return strcmp(lower, "mailer-daemon") == 0 || g_str_has_prefix(lower, "owner-") ||
           g_str_has_suffix(lower, "-bounces") || g_str_has_suffix(lower, "-owner") ||
           g_str_has_suffix(lower, "-request");
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

static char *write_text(const Held *held, const List *list, const char *reason, const char *host)
{
    g_autofree char *date = clock_rfc5322(held->held_at);
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "From: %s-owner@%s\r\n", list->list_name, list->mail_host);
    g_string_append_printf(text, "To: %s\r\n", held->sender);
    g_string_append_printf(text, "Subject: Your post to %s was rejected\r\n", list->posting_address);
    g_string_append_printf(text, "Date: %s\r\n", date);
    g_string_append_printf(text, "Message-ID: <rejected.%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT "@%s>\r\n",
                           held->held_at, held->number, host);
    if (held->message_id && *held->message_id)
        g_string_append_printf(text, "In-Reply-To: <%s>\r\n", held->message_id);
    g_string_append(text, "Auto-Submitted: auto-replied\r\n"
                          "MIME-Version: 1.0\r\n"
                          "Content-Type: text/plain; charset=utf-8\r\n"
                          "Content-Transfer-Encoding: 8bit\r\n\r\n");
    g_string_append_printf(text, "Your post to the mailing list %s was rejected by its moderators.\r\n\r\n",
                           list->posting_address);
    if (held->subject && *held->subject)
        g_string_append_printf(text, "Subject: %s\r\n", held->subject);
    g_string_append_printf(text, "Reason: %s\r\n", reason ? reason : "none was given");
    g_string_append_printf(text, "\r\nQuestions go to %s-owner@%s.\r\n", list->list_name, list->mail_host);
    return g_utf8_make_valid(text->str, (gssize)text->len);
}

Draft *held_notice(const Held *held, const List *list, const char *reason, const char *host)
{
    if (!held->message || sent_by_program(held))
        return NULL;
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, list->list_id);
    meta_set_integer(meta, META_ARRIVAL, held->held_at);
    meta_set_integer(meta, META_ORDINAL, held->number);
    meta_set_string(meta, KEY_SENDER, "");
    meta_set_string(meta, KEY_ENVELOPE_SENDER, "");
    meta_set_string(meta, KEY_PEER, "held reject");
    meta_set_string(meta, KEY_PRIORITY, "notice");
    Draft *draft = draft_new("virgin", meta);
    char *text = write_text(held, list, reason, host);
    g_autoptr(GBytes) octets = g_bytes_new_take(text, strlen(text));
    draft_add_message(draft, octets);
    draft_set_due(draft, held->held_at);
    char **address = g_new0(char *, 2);
    address[0] = g_strdup(held->sender);
    draft_set_recipients(draft, one_recipient, address, free_recipient);
    return draft;
}
