/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "mail/header.h"
#include "posting/handler.h"

/* Fields that carry a password, ask readers for receipts, or are the
 * archive's to set. */
static const char *const always[] = {
    "Approved", "Approve", "X-Approved", "X-Approve", "Urgent", "Return-Receipt-To", "Disposition-Notification-To",
    "X-Confirm-Reading-To", "X-PMRQC", "Archived-At",
};

/* Fields that tell who wrote it, or from where. */
static const char *const telling[] = {
    "From", "Reply-To", "Sender", "Organization", "Received", "Message-ID", "User-Agent", "Autocrypt",
    "Face", "DKIM-Signature", "DomainKey-Signature", "Authentication-Results", "Received-SPF", "Resent-From",
    "Resent-Sender", "Resent-Message-ID", "Disposition-Notification-Options",
};

static void remove_all(Message *message, const char *const *names, size_t count)
{
    for (size_t at = 0; at < count; at++)
        message_remove(message, names[at]);
}

static bool is_private(const Field *field, void *data)
{
    (void)data;
    bool extra = field->name_length > 2 && g_ascii_strncasecmp(field->text, "X-", 2) == 0;
    bool seal = field->name_length > 4 && g_ascii_strncasecmp(field->text, "ARC-", 4) == 0;
    return extra || seal || field->name_length == 0;
}

/* The list itself becomes the author. */
static void make_anonymous(Post *post)
{
    remove_all(post->message, telling, G_N_ELEMENTS(telling));
    message_remove_if(post->message, is_private, NULL);
    const List *list = post->list;
    const char *shown = list->display_name ? list->display_name : "";
    g_autofree char *name = header_phrase(shown, 6);
    g_autofree char *from = *name ? g_strdup_printf("%s\r\n <%s>", name, list->posting_address)
                                  : g_strdup(list->posting_address);
    g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, post->trace, -1);
    g_autofree char *id = g_strdup_printf("<%.32s@%s>", sum, list->mail_host);
    message_append(post->message, "From", from);
    message_append(post->message, "Reply-To", list->posting_address);
    message_append(post->message, "Message-ID", id);
}

static bool process(Post *post, GError **error)
{
    remove_all(post->message, always, G_N_ELEMENTS(always));
    if (post->list->anonymous_list)
        make_anonymous(post);
    return true;
}

const Handler handler_cleanse = {.name = "cleanse", .process = process};
