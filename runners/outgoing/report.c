/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/report.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/trail/trail.h"

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

/* A line of the log in the making: all but who it is about is the same for all recipients of one fate. */
typedef struct ReportLine {
    const Fate *fate;
    GString *text;
    size_t head; /* bytes before whom */
    char *tail;
} ReportLine;

static void line_begin(ReportLine *line, const Batch *batch, const char *delays, const Fate *fate)
{
    const Entry *entry = batch->delivery->entry;
    char use[24] = "", repeat[24] = "";
    unsigned doubts = batch->delivery->doubts;
    if (batch->conn_use > 1)
        g_snprintf(use, sizeof(use), " conn_use=%u", batch->conn_use);
    if (doubts > 0 && batch->conn_use > 0)
        g_snprintf(repeat, sizeof(repeat), " repeat=%u", doubts);
    line->fate = fate;
    g_string_printf(line->text, "%s list=%s queue=%s ", entry_trace(entry), entry_list(entry),
                    queue_name(entry_queue(entry)));
    line->head = line->text->len;
    g_free(line->tail);
    line->tail = g_strdup_printf(" relay=%s%s%s %s dsn=%s status=%s%s (%s)", batch->relay ? batch->relay : "none", use,
                                 repeat, delays, fate->status, statuses[fate->verdict],
                                 fate->in_doubt ? " doubt=may_have_been_delivered" : "", fate->text);
}

static void line_end(ReportLine *line)
{
    g_string_append(line->text, line->tail);
    log_info_text(line->text->str);
    g_string_truncate(line->text, line->head);
}

void report_batch(const Batch *batch, bool every_recipient)
{
    g_autofree char *delays = print_delays(batch);
    ReportLine line = {.text = g_string_sized_new(500)};

    /* The trail has all of them, whatever the log has: one line for neighbours that share a fate. */
    for (size_t i = 0; i < batch->count;) {
        const Fate *fate = batch_fate(batch, i);
        const char *before = "to=<";
        line_begin(&line, batch, delays, fate);
        for (; i < batch->count && batch_fate(batch, i) == fate; i++) {
            g_string_append(line.text, before);
            g_string_append_len(line.text, batch->recipients[i].address, (gssize)batch->recipients[i].length);
            before = ">,<";
        }
        g_string_append_printf(line.text, ">%s", line.tail);
        trail_note(line.text->str);
    }
    line.fate = NULL; /* the next line begins anew */

    log_gather(true);
    for (guint i = 0; !every_recipient && i < batch->fates->len; i++) {
        const Fate *fate = &g_array_index(batch->fates, Fate, i);
        if (fate->count <= 1)
            continue;
        line_begin(&line, batch, delays, fate);
        g_string_append_printf(line.text, "nrcpt=%zu", fate->count);
        line_end(&line);
    }
    for (size_t i = 0; i < batch->count; i++) {
        const Fate *fate = batch_fate(batch, i);
        if (!every_recipient && fate->count > 1)
            continue;
        if (fate != line.fate)
            line_begin(&line, batch, delays, fate);
        g_string_append_len(line.text, "to=<", 4);
        g_string_append_len(line.text, batch->recipients[i].address, (gssize)batch->recipients[i].length);
        g_string_append_c(line.text, '>');
        line_end(&line);
    }
    log_gather(false);
    g_string_free(line.text, TRUE);
    g_free(line.tail);
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
