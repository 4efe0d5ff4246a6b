/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/bounces/returned.h"

#include "base/clock.h"
#include "lists/keys.h"
#include "mail/bounce/dsn.h"
#include "mail/text/notice.h"

static char *text_of(const DsnRecipient *recipients, size_t count)
{
    GString *text = g_string_new("Subject: Undelivered: your mail\n\nYour mail, whose header is attached, could not be "
                                 "delivered.\n\n");
    for (size_t at = 0; at < count; at++)
        g_string_append_printf(text, "  %s\n  %s\n\n", recipients[at].address, recipients[at].reply);
    return g_string_free(text, FALSE);
}

static GPtrArray *compose(Entry *entry, const WorkSite *site, const char *to, const char *id)
{
    size_t at;
    json_t *failure, *failures = json_object_get(entry_meta(entry), KEY_FAILURES);
    g_autofree DsnRecipient *recipients = g_new0(DsnRecipient, json_array_size(failures) + 1);
    json_array_foreach(failures, at, failure)
        recipients[at] = (DsnRecipient){.address = meta_string(failure, "address", ""),
                                        .status = meta_string(failure, "status", "5.0.0"),
                                        .reply = meta_string(failure, "reply", ""),
                                        .relay = meta_string(failure, "relay", NULL)};
    g_autofree char *status = dsn_delivery_status(&(Dsn){.reporting_host = site->hostname,
                                                         .arrival = entry_arrival(entry),
                                                         .recipients = recipients,
                                                         .count = json_array_size(failures)});
    g_autofree char *text = text_of(recipients, json_array_size(failures));
    g_autofree char *from = g_strconcat("mailer-daemon@", site->hostname, NULL);
    g_autoptr(GBytes) header = entry_message(entry);
    return notice_compose(&(Notice){.from_name = "Mail delivery",
                                    .from = from,
                                    .to = to,
                                    .text = text,
                                    .id = id,
                                    .in_reply_to = meta_string(entry_meta(entry), KEY_MESSAGE_ID, NULL),
                                    .date = clock_now(),
                                    .replied = true,
                                    .attach = NOTICE_HEADER,
                                    .about = header,
                                    .delivery_status = status});
}

void returned_tell(Entry *entry, const WorkSite *site, Outcome *outcome)
{
    json_t *from = entry_meta(entry);
    const char *sender = meta_string(from, KEY_ENVELOPE_SENDER, "");
    if (json_array_size(json_object_get(from, KEY_FAILURES)) == 0 || !*sender) {
        list_runner_log(entry, "from=<%s> result=discarded (it is no list's, and has no sender to be told)", sender);
        return;
    }
    g_autofree char *id = notice_id("returned", site->hostname);
    g_autoptr(GPtrArray) pieces = compose(entry, site, sender, id);
    json_t *meta = json_object();
    meta_set_string(meta, META_TRACE, entry_trace(entry));
    meta_set_integer(meta, META_ARRIVAL, clock_unique());
    meta_set_string(meta, KEY_SENDER, "");
    meta_set_string(meta, KEY_ENVELOPE_SENDER, "");
    meta_set_string(meta, KEY_MESSAGE_ID, id);
    meta_set_string(meta, KEY_PRIORITY, "notice");
    meta_set_bool(meta, KEY_BODY_8BIT, true);
    Draft *draft = draft_new(NOTICE_QUEUE, meta);
    for (guint at = 0; at < pieces->len; at++)
        draft_add_message(draft, pieces->pdata[at]);
    const char *const to[] = {sender, NULL};
    draft_set_addresses(draft, g_strdupv((char **)to));
    outcome_add(outcome, draft);
    list_runner_log(entry, "to=<%s> result=returned", sender);
}
