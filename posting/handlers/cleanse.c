/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/clock.h"
#include "mail/header.h"
#include "posting/handler.h"
#include "store/lists/list_setting.h"

/* Fields that carry a password, name readers whom the others must not know, ask readers for receipts, or are the
 * archive's to set. */
static const char *const always[] = {
    "Approved", "Approve", "X-Approved", "X-Approve", "Urgent", "Return-Receipt-To", "Disposition-Notification-To",
    "X-Confirm-Reading-To", "X-PMRQC", "Archived-At", "Bcc", "Resent-Bcc",
};

/* On an anonymous list nothing else stays: mail programs and the hosts on the way write many fields that tell who wrote
 * a post, with what, and where, and there will be more of them. Content-Location and Content-ID are such ones, too. The
 * two X- fields are our own. */
static const char *const anonymous[] = {
    "Subject", "To", "Cc", "In-Reply-To", "References", "Keywords", "Auto-Submitted", "Precedence", "X-Topics",
    "X-Content-Filtered-By", "Content-Type", "Content-Transfer-Encoding", "Content-Disposition", "Content-Language",
    "Content-Description",
};

static bool is_telling(const Field *field, void *data)
{
    (void)data;
    for (size_t at = 0; at < G_N_ELEMENTS(anonymous); at++)
        if (field_is(field, anonymous[at]))
            return false;
    return true;
}

/* Keep of a field of message ids those that the list gave to its posts: others name the host of whoever wrote the mail
 * that is answered, as a rule the author's own. */
static void keep_own_ids(Post *post, const char *name)
{
    g_autofree char *value = message_value(post->message, name), *end = NULL;
    g_autoptr(GString) kept = g_string_new(NULL);
    end = g_strdup_printf("@%s>", post->list->mail_host);
    size_t length = 0; /* of the id here; each byte is looked at once, for all of a long field may be brackets */
    for (const char *at = value ? strchr(value, '<') : NULL; at; at = strchr(at + length, '<')) {
        length = 1 + strcspn(at + 1, "<> \t\r\n");
        g_autofree char *id = at[length] == '>' ? g_strndup(at, length + 1) : NULL;
        if (id && g_str_has_suffix(id, end))
            g_string_append_printf(kept, "%s%s", kept->len > 0 ? "\r\n " : "", id);
    }
    if (kept->len > 0)
        message_set(post->message, name, kept->str);
    else
        message_remove(post->message, name);
}

/* The list itself becomes the author. Date is that of arrival, since the author's tells a time zone; MIME-Version may
 * name the mail program in a comment. */
static void make_anonymous(Post *post)
{
    bool mime = message_has(post->message, "MIME-Version");
    message_remove_if(post->message, is_telling, NULL);
    keep_own_ids(post, "In-Reply-To");
    keep_own_ids(post, "References");
    const List *list = post->list;
    const char *shown = list->settings->display_name ? list->settings->display_name : "";
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
    if (post->list->settings->anonymous_list)
        make_anonymous(post);
    return true;
}

const Handler handler_cleanse = {.name = "cleanse", .process = process};
