/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/warning.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "mail/dsn.h"
#include "mail/notice.h"
#include "runners/keys.h"

/* Recipients that are named; the others are counted. */
#define NAMED_MAX 100

bool warning_due(const Warning *warning, const Delivery *delivery, int64_t now)
{
    json_t *meta = entry_meta(delivery->entry);
    return warning->after_us > 0 && now - entry_arrival(delivery->entry) >= warning->after_us &&
           !meta_bool(meta, KEY_WARNED, false) && *entry_list(delivery->entry) && *delivery->content.sender &&
           *meta_string(meta, KEY_SENDER, "");
}

/* Those who are still to do, as many as are named; *count: all of them. */
static GPtrArray *waiting(const Delivery *delivery, size_t *count)
{
    GPtrArray *addresses = g_ptr_array_new_with_free_func(g_free);
    Recipient recipient;
    *count = 0;
    for (size_t offset = 0; entry_next_recipient(delivery->entry, offset, &recipient); offset = recipient.next) {
        if (recipient.state != RECIPIENT_TODO || ++*count > NAMED_MAX)
            continue;
        content_address(&delivery->content, &recipient);
        g_ptr_array_add(addresses, g_strndup(recipient.address, recipient.length));
    }
    return addresses;
}

static char *delivery_status(const Warning *warning, const Delivery *delivery, const GPtrArray *addresses, int64_t now)
{
    g_autofree DsnRecipient *recipients = g_new0(DsnRecipient, addresses->len + 1);
    for (guint at = 0; at < addresses->len; at++)
        recipients[at] = (DsnRecipient){.address = addresses->pdata[at],
                                        .delayed = true,
                                        .status = "4.4.7",
                                        .reply = delivery->last_reply};
    int64_t arrival = entry_arrival(delivery->entry);
    return dsn_delivery_status(&(Dsn){.reporting_host = warning->host,
                                      .arrival = arrival,
                                      .last_attempt = now,
                                      .retry_until = arrival + warning->lifetime_us,
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

/* addresses: those that are named, of all the count who wait. waited in microseconds. */
static char *text_for_people(const Delivery *delivery, const GPtrArray *addresses, size_t count, int64_t waited_us,
                             int64_t lifetime_us)
{
    g_autofree char *waited = span(waited_us);
    g_autofree char *lifetime = span(lifetime_us);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text,
                           "Subject: Delayed: mail of list %s\n\n"
                           "A message of the list %s could not be delivered to %zu of its recipients\n"
                           "for %s. It is tried until it is %s old; nothing needs to be\n"
                           "done about the message.\n\nThe last answer was:\n  %s\n\nRecipients:\n",
                           entry_list(delivery->entry), entry_list(delivery->entry), count, waited, lifetime,
                           delivery->last_reply ? delivery->last_reply : "none");
    for (guint at = 0; at < addresses->len; at++)
        g_string_append_printf(text, "  %s\n", (const char *)addresses->pdata[at]);
    if (count > addresses->len)
        g_string_append_printf(text, "  and %zu more\n", count - addresses->len);
    return g_string_free(text, FALSE);
}

/* "test.example.com" with the sender test-bounces@example.com: test-owner@example.com. */
static char *owner_address(const Delivery *delivery)
{
    const char *at = strrchr(delivery->content.sender, '@');
    const char *host = at ? at + 1 : "";
    const char *list = entry_list(delivery->entry);
    size_t name = strlen(list) > strlen(host) ? strlen(list) - strlen(host) - 1 : strlen(list);
    return g_strdup_printf("%.*s-owner@%s", (int)name, list, host);
}

static void add_message(Draft *draft, const Warning *warning, const Delivery *delivery, int64_t now)
{
    size_t count;
    g_autoptr(GPtrArray) addresses = waiting(delivery, &count);
    g_autofree char *status = delivery_status(warning, delivery, addresses, now);
    g_autofree char *text = text_for_people(delivery, addresses, count, now - entry_arrival(delivery->entry),
                                            warning->lifetime_us);
    g_autofree char *owner = owner_address(delivery);
    g_autofree char *id = g_strdup_printf("%s.delayed@%s", entry_text(delivery->entry), warning->host);
    meta_set_string(draft_meta(draft), KEY_RECIPIENT, owner);
    meta_set_string(draft_meta(draft), KEY_MESSAGE_ID, id);
    g_autoptr(GPtrArray) pieces = notice_compose(&(Notice){.from_name = "Mail delivery",
                                                           .from = owner,
                                                           .to = owner,
                                                           .text = text,
                                                           .id = id,
                                                           .date = now,
                                                           .attach = NOTICE_HEADER,
                                                           .about = delivery->content.message,
                                                           .delivery_status = status});
    for (guint at = 0; at < pieces->len; at++)
        draft_add_message(draft, pieces->pdata[at]);
}

Draft *warning_draft(const Warning *warning, const Delivery *delivery, int64_t now)
{
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, entry_list(delivery->entry));
    meta_set_string(meta, META_TRACE, entry_trace(delivery->entry));
    meta_set_integer(meta, META_ARRIVAL, now);
    meta_set_string(meta, KEY_TO, TO_OWNER);
    meta_set_string(meta, KEY_SENDER, "");
    Draft *draft = draft_new("in", meta);
    add_message(draft, warning, delivery, now);
    return draft;
}
