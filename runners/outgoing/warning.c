/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/warning.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "lists/keys.h"
#include "mail/bounce/dsn.h"
#include "mail/loop_mark.h"
#include "mail/text/notice.h"

/* Recipients that are named; the others are counted. */
#define NAMED_MAX 100

/* A report, for whom it is. */
typedef struct WarningReport {
    const Warning *warning;
    const Delivery *delivery;
    bool given_up; /* only those whose transactions broke off; else all who are left */
    int64_t now;
    GHashTable *held; /* set of offsets: of these recipients nothing is told; NULL: none */
} WarningReport;

/* It is the post of a list, by somebody. */
static bool is_post(const Delivery *delivery)
{
    return *entry_list(delivery->entry) && *delivery->content.sender &&
           *meta_string(entry_meta(delivery->entry), KEY_SENDER, "");
}

bool warning_due(const Warning *warning, const Delivery *delivery, int64_t now)
{
    return warning->after_us > 0 && now - entry_arrival(delivery->entry) >= warning->after_us &&
           !meta_bool(entry_meta(delivery->entry), KEY_WARNED) && is_post(delivery);
}

/* List the recipients that it concerns, as many as are named; *count: all of them. */
static GPtrArray *concerned(const WarningReport *report, size_t *count)
{
    const Delivery *delivery = report->delivery;
    GPtrArray *addresses = g_ptr_array_new_with_free_func(g_free);
    Recipient recipient;
    *count = 0;
    for (size_t offset = 0; entry_next_recipient(delivery->entry, offset, &recipient); offset = recipient.next) {
        bool held = report->held && g_hash_table_contains(report->held, GSIZE_TO_POINTER(recipient.offset));
        if (recipient.state != RECIPIENT_TODO || held ||
            (report->given_up && !delivery_blameless(delivery, recipient.offset)) || ++*count > NAMED_MAX)
            continue;
        delivery_address(delivery, &recipient);
        g_ptr_array_add(addresses, g_strndup(recipient.address, recipient.length));
    }
    return addresses;
}

static char *delivery_status(const WarningReport *report, const GPtrArray *addresses)
{
    const Delivery *delivery = report->delivery;
    g_autofree DsnRecipient *recipients = g_new0(DsnRecipient, addresses->len + 1);
    for (guint at = 0; at < addresses->len; at++)
        recipients[at] = (DsnRecipient){.address = addresses->pdata[at],
                                        .delayed = !report->given_up,
                                        .status = "4.4.7",
                                        .reply = delivery->last_reply};
    int64_t arrival = entry_arrival(delivery->entry);
    return dsn_delivery_status(&(Dsn){.reporting_host = report->warning->host,
                                      .arrival = arrival,
                                      .last_attempt = report->now,
                                      .retry_until = arrival + report->warning->lifetime_us,
                                      .recipients = recipients,
                                      .count = addresses->len});
}

/* In the largest unit of which there are two. */
static char *span(int64_t time)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
    size_t unit = 0;
    while (unit + 1 < G_N_ELEMENTS(units) && time < 2 * units[unit].seconds * CLOCK_SECOND)
        unit++;
    int64_t count = MAX(time, 0) / (units[unit].seconds * CLOCK_SECOND);
    return g_strdup_printf("%" PRId64 " %s%s", count, units[unit].name, count == 1 ? "" : "s");
}

/* addresses: those that are named, of all the count who are concerned. */
static char *text_for_people(const WarningReport *report, const GPtrArray *addresses, size_t count)
{
    const Delivery *delivery = report->delivery;
    const char *list = entry_list(delivery->entry);
    g_autofree char *waited = span(report->now - entry_arrival(delivery->entry));
    g_autofree char *lifetime = span(report->warning->lifetime_us);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text,
                           "Subject: %s: mail of list %s\n\n"
                           "A message of the list %s could not be delivered to %zu of its recipients\n"
                           "for %s. ",
                           report->given_up ? "Not delivered" : "Delayed", list, list, count, waited);
    if (report->given_up)
        g_string_append(text,
                        "It is not tried again. The connection was lost each time before the\n"
                        "server acknowledged the message, so some may have got it. This is not counted\n"
                        "against the members. The log names the server; the message itself may be\n"
                        "what it cannot take.\n");
    else
        g_string_append_printf(text,
                               "It is tried until it is %s old; nothing needs to be\n"
                               "done about the message.\n",
                               lifetime);
    g_string_append_printf(text, "\nThe last answer was:\n  %s\n\nRecipients:\n",
                           delivery->last_reply ? delivery->last_reply : "none");
    for (guint at = 0; at < addresses->len; at++)
        g_string_append_printf(text, "  %s\n", (const char *)addresses->pdata[at]);
    if (count > addresses->len)
        g_string_append_printf(text, "  and %zu more\n", count - addresses->len);
    return g_string_free(text, FALSE);
}

static Draft *draft_of(const WarningReport *report, const GPtrArray *addresses, size_t count)
{
    const Delivery *delivery = report->delivery;
    const char *list = entry_list(delivery->entry), *at = strrchr(delivery->content.sender, '@');
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, list);
    meta_set_string(meta, META_TRACE, entry_trace(delivery->entry));
    meta_set_integer(meta, META_ARRIVAL, report->now);
    meta_set_string(meta, KEY_TO, TO_OWNER);
    meta_set_string(meta, KEY_SENDER, "");
    Draft *draft = draft_new("in", meta);

    /* "test.example.com" with the sender test-bounces@example.com: test-owner@example.com. */
    const char *host = at ? at + 1 : "";
    size_t name = strlen(list) > strlen(host) ? strlen(list) - strlen(host) - 1 : strlen(list);
    g_autofree char *owner = g_strdup_printf("%.*s-owner@%s", (int)name, list, host);
    g_autofree char *status = delivery_status(report, addresses);
    g_autofree char *text = text_for_people(report, addresses, count);
    g_autofree char *id = notice_id(report->given_up ? "failed" : "delayed", report->warning->host);
    meta_set_string(draft_meta(draft), KEY_RECIPIENT, owner);
    meta_set_string(draft_meta(draft), KEY_MESSAGE_ID, id);
    g_autoptr(GPtrArray) pieces = notice_compose(&(Notice){.from_name = "Mail delivery",
                                                           .from = owner,
                                                           .to = owner,
                                                           .text = text,
                                                           .id = id,
                                                           .date = report->now,
                                                           .attach = NOTICE_HEADER,
                                                           .about = delivery->content.message,
                                                           .delivery_status = status});
    /* The warning has been where the message has been that it is about. */
    g_autoptr(Message) message = message_new(delivery->content.message);
    size_t index = 0;
    const Field *field = message_find(message, LOOP_MARK_FIELD, &index);
    g_autoptr(GBytes) mark = field ? g_bytes_new(field->text, field->length) : NULL;
    if (mark)
        draft_add_message(draft, mark);
    for (guint i = 0; i < pieces->len; i++)
        draft_add_message(draft, pieces->pdata[i]);
    return draft;
}

Draft *warning_draft(const Warning *warning, const Delivery *delivery, int64_t now)
{
    WarningReport report = {warning, delivery, false, now, NULL};
    size_t count;
    g_autoptr(GPtrArray) addresses = concerned(&report, &count);
    return draft_of(&report, addresses, count);
}

Draft *warning_given_up(const Warning *warning, const Delivery *delivery, GHashTable *held, int64_t now)
{
    WarningReport report = {warning, delivery, true, now, held};
    size_t count;
    g_autoptr(GPtrArray) addresses = concerned(&report, &count);
    return count > 0 && is_post(delivery) ? draft_of(&report, addresses, count) : NULL;
}
