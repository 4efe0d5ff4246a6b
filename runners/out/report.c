/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/out/report.h"

#include "base/clock.h"
#include "base/log.h"

static const char *const statuses[] = {[SMTP_SENT] = "sent", [SMTP_LATER] = "deferred", [SMTP_NEVER] = "bounced"};

static void add_seconds(GString *text, int64_t interval)
{
    double seconds = (double)MAX(interval, 0) / CLOCK_SECOND;
    g_string_append_printf(text, seconds >= 100 ? "%.0f" : seconds >= 10 ? "%.1f" : "%.2f", seconds);
}

static char *print_delays(const Batch *batch)
{
    const Delivery *delivery = batch->delivery;
    int64_t now = clock_now();
    int64_t transmission = batch->finished - batch->begun;
    int64_t arrival = entry_arrival(delivery->entry);
    GString *text = g_string_new("delay=");
    add_seconds(text, now - arrival);
    g_string_append(text, " delays=");
    add_seconds(text, delivery->claimed - arrival);
    g_string_append_c(text, '/');
    add_seconds(text, now - delivery->claimed - transmission - batch->connect_us);
    g_string_append_c(text, '/');
    add_seconds(text, batch->connect_us);
    g_string_append_c(text, '/');
    add_seconds(text, transmission);
    return g_string_free(text, FALSE);
}

static void report_line(const Batch *batch, const char *whom, const char *delays, const Fate *fate)
{
    const Entry *entry = batch->delivery->entry;
    char use[24] = "";
    if (batch->conn_use > 1)
        g_snprintf(use, sizeof(use), " conn_use=%u", batch->conn_use);
    log_info("%s list=%s queue=%s %s relay=%s%s %s dsn=%s status=%s%s (%s)", entry_trace(entry), entry_list(entry),
             queue_name(entry_queue(entry)), whom, batch->relay ? batch->relay : "none", use, delays, fate->status,
             statuses[fate->verdict], fate->in_doubt ? " doubt=may_have_been_delivered" : "", fate->text);
}

void report_batch(const Batch *batch, bool every_recipient)
{
    g_autofree char *delays = print_delays(batch);
    log_gather(true);
    for (guint i = 0; i < batch->fates->len; i++) {
        const Fate *fate = &g_array_index(batch->fates, Fate, i);
        if (every_recipient || fate->count == 1)
            continue;
        g_autofree char *whom = g_strdup_printf("nrcpt=%zu", fate->count);
        report_line(batch, whom, delays, fate);
    }
    for (size_t i = 0; i < batch->count; i++) {
        const Fate *fate = batch_fate(batch, i);
        if (!every_recipient && fate->count > 1)
            continue;
        g_autofree char *whom = g_strdup_printf("to=<%.*s>", (int)batch->recipients[i].length,
                                                batch->recipients[i].address);
        report_line(batch, whom, delays, fate);
    }
    log_gather(false);
}

void report_deferral(const Delivery *delivery, size_t recipients, const char *reason)
{
    GString *delay = g_string_new(NULL);
    add_seconds(delay, clock_now() - entry_arrival(delivery->entry));
    log_info("%s list=%s queue=%s nrcpt=%zu relay=none delay=%s dsn=4.4.1 status=deferred (%s)",
             entry_trace(delivery->entry), entry_list(delivery->entry), queue_name(entry_queue(delivery->entry)),
             recipients, delay->str, reason);
    g_string_free(delay, TRUE);
}

void report_end(const Delivery *delivery, const char *to, const char *result)
{
    log_info("%s list=%s queue=%s to=%s sent=%zu bounced=%zu deferred=%zu result=%s", entry_trace(delivery->entry),
             entry_list(delivery->entry), queue_name(entry_queue(delivery->entry)), to, delivery->sent,
             delivery->refused, delivery->deferred,
             result);
}
