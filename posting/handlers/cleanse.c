/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/clock.h"
#include "mail/header.h"
#include "posting/handler.h"

/* Fields that carry a password, ask readers for receipts, or are the
 * archive's to set. */
static const char *const always[] = {
    "Approved", "Approve", "X-Approved", "X-Approve", "Urgent", "Return-Receipt-To", "Disposition-Notification-To",
    "X-Confirm-Reading-To", "X-PMRQC", "Archived-At",
};

/* On an anonymous list nothing else stays, besides Content-: mail programs and the hosts on the way write many fields
 * that tell who wrote a post, with what, and where, and there will be more of them. The two X- fields are our own. */
static const char *const anonymous[] = {
    "Subject", "To", "Cc", "In-Reply-To", "References", "Keywords", "Auto-Submitted", "Precedence", "X-Topics",
    "X-Content-Filtered-By",
};

static bool is_telling(const Field *field, void *data)
{
    (void)data;
    if (field->name_length > 8 && g_ascii_strncasecmp(field->text, "Content-", 8) == 0)
        return false;
    for (size_t at = 0; at < G_N_ELEMENTS(anonymous); at++)
        if (field_is(field, anonymous[at]))
            return false;
    return true;
}

/* The list itself becomes the author. Date is that of arrival, since the author's tells a time zone; MIME-Version may
 * name the mail program in a comment. */
static void make_anonymous(Post *post)
{
    bool mime = message_has(post->message, "MIME-Version");
    message_remove_if(post->message, is_telling, NULL);
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
    g_autofree char *date = clock_rfc5322(post->arrival > 0 ? post->arrival : post->now);
    message_append(post->message, "Date", date);
    if (mime)
        message_append(post->message, "MIME-Version", "1.0");
}

static bool process(Post *post, GError **error)
{
    for (size_t at = 0; at < G_N_ELEMENTS(always); at++)
        message_remove(post->message, always[at]);
    if (post->list->anonymous_list)
        make_anonymous(post);
    return true;
}

const Handler handler_cleanse = {.name = "cleanse", .process = process};
