/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* This reads [transport.NAME] into the form that the transport uses. */
#include <string.h>

#include "base/clock.h"
#include "runners/outgoing/transport_internal.h"

/* A relay of the site's own takes many; to mail hosts, which may be slow with each, several transactions go at once. */
#define PER_TRANSACTION 500
#define PER_TRANSACTION_MX 50

typedef struct TransportSection {
    const Config *config;
    const char *name;
} TransportSection;

static int64_t duration(const TransportSection *section, const char *key)
{
    return config_duration(section->config, section->name, key);
}

static unsigned number(const TransportSection *section, const char *key)
{
    return (unsigned)config_integer(section->config, section->name, key);
}

static bool read_feedback(const TransportSection *section, const char *key, Feedback *feedback, GError **error)
{
    if (feedback_parse(config_string(section->config, section->name, key), feedback, error))
        return true;
    g_prefix_error(error, "[%s] %s: ", section->name, key);
    return false;
}

static bool read_rate(const TransportSection *section, const char *key, Rate *rate, GError **error)
{
    if (rate_parse(config_string(section->config, section->name, key), rate, error))
        return true;
    g_prefix_error(error, "[%s] %s: ", section->name, key);
    return false;
}

int64_t *transport_read_schedule(const Config *config, const char *section, size_t *count)
{
    const char *const *words = config_list(config, section, "backoff_schedule");
    *count = g_strv_length((char **)words);
    int64_t *steps = g_new0(int64_t, *count + 1);
    for (size_t i = 0; i < *count; i++)
        config_duration_parse(words[i], &steps[i]);
    return steps;
}

static void read_backoff(const TransportSection *section, Transport *transport)
{
    Backoff own = *transport->shared->backoff;
    int64_t shortest = duration(section, "minimal_backoff_time");
    int64_t longest = duration(section, "maximal_backoff_time");
    size_t count;
    transport->steps = transport_read_schedule(section->config, section->name, &count);
    transport->backoff = transport->shared->backoff;
    if (shortest == 0 && longest == 0 && count == 0)
        return;
    own.min_us = shortest > 0 ? shortest : own.min_us;
    own.max_us = longest > 0 ? longest : own.max_us;
    own.steps = transport->steps;
    own.count = count;
    transport->own_backoff = own;
    transport->backoff = &transport->own_backoff;
}

/* A relay is asked again soon: everything waits for it. Others are left alone as Postfix does. */
static void read_dead_times(const TransportSection *section, Transport *transport)
{
    DestinationLimits *limits = &transport->limits;
    limits->dead_min = duration(section, "destination_dead_min");
    limits->dead_max = duration(section, "destination_dead_max");
    limits->asks_often = limits->dead_min == 0 && limits->dead_max == 0;
    if (limits->dead_min == 0)
        limits->dead_min = transport->mx ? transport->backoff->min_us : CLOCK_SECOND;
    if (limits->dead_max == 0)
        limits->dead_max = transport->mx ? transport->backoff->max_us : 60 * CLOCK_SECOND;
}

static bool read_limits(const TransportSection *section, Transport *transport, GError **error)
{
    DestinationLimits *limits = &transport->limits;
    transport->whole.concurrency = number(section, "concurrency");
    transport->whole.processes = number(section, "process_limit");
    limits->window.initial = number(section, "initial_destination_concurrency");
    limits->window.cohorts = number(section, "destination_concurrency_failed_cohort_limit");
    limits->burst = number(section, "destination_burst");
    read_backoff(section, transport);
    read_dead_times(section, transport);
    if (!read_rate(section, "destination_rate", &limits->rate, error) ||
        !read_rate(section, "transport_rate", &transport->whole.rate, error))
        return false;
    transport->hosts = 1;
    transport_limit(transport);
    transport->burst = number(section, "transport_burst");
    bucket_init(&transport->bucket, transport->burst, clock_steady());
    return read_feedback(section, "destination_concurrency_positive_feedback", &limits->window.positive, error) &&
           read_feedback(section, "destination_concurrency_negative_feedback", &limits->window.negative, error);
}

static void read_protocol(const TransportSection *section, Transport *transport)
{
    transport->host = config_string(section->config, section->name, "host");
    transport->port_number = (uint16_t)number(section, "port");
    transport->path = g_str_has_prefix(transport->host, "unix:") && !transport->mx ? transport->host + 5 : NULL;
    g_snprintf(transport->port, sizeof(transport->port), "%u", transport->port_number);
    transport->per_transaction = number(section, "recipients_per_transaction");
    if (transport->per_transaction == 0)
        transport->per_transaction = transport->mx ? PER_TRANSACTION_MX : PER_TRANSACTION;
    transport->per_connection = number(section, "transactions_per_connection");
    transport->pipelined = number(section, "pipelined_transactions");
    if (transport->pipelined == 0 && (transport->mx || transport->lmtp))
        transport->pipelined = 1; /* toward others' servers it is the site that says more */
    transport->reuse_time = duration(section, "connection_reuse_time_limit");
    transport->settings = (SmtpSettings){
        .server = transport->host,
        .helo_name = config_string(section->config, section->name, "helo_name"),
        .protocol = transport->lmtp ? SMTP_PROTOCOL_LMTP : SMTP_PROTOCOL_SMTP,
        .chunking = config_bool(section->config, section->name, "chunking"),
        .no_pipelining = !config_bool(section->config, section->name, "pipelining"),
        .timeouts = {
            [SMTP_CONNECT] = duration(section, "connect_timeout"),
            [SMTP_GREETING] = duration(section, "helo_timeout"),
            [SMTP_HELO] = duration(section, "helo_timeout"),
            [SMTP_TLS] = duration(section, "starttls_timeout"),
            [SMTP_AUTH] = duration(section, "helo_timeout"),
            [SMTP_IDLE] = MAX(duration(section, "connection_idle"), 1),
            [SMTP_MAIL] = duration(section, "mail_timeout"),
            [SMTP_RCPT] = duration(section, "rcpt_timeout"),
            [SMTP_DATA] = duration(section, "data_init_timeout"),
            [SMTP_BODY] = duration(section, "data_block_timeout"),
            [SMTP_DOT] = duration(section, "data_done_timeout"),
            [SMTP_RSET] = duration(section, "rset_timeout"),
            [SMTP_QUIT] = duration(section, "quit_timeout"),
        },
    };
}

bool transport_read_settings(Transport *transport, GError **error)
{
    g_autofree char *name = g_strdup_printf("transport.%s", transport->name);
    TransportSection section = {transport->shared->config, name};
    const char *type = config_string(section.config, name, "type");
    transport->mx = strcmp(type, "mx") == 0;
    transport->lmtp = strcmp(type, "lmtp") == 0;
    transport->asks_reports = config_bool(section.config, name, "dsn");
    transport->group_by_mx = config_bool(section.config, name, "group_by_mx");
    transport->scheduling = (SchedulerSettings){
        .slot_cost = number(&section, "delivery_slot_cost"),
        .slot_loan = number(&section, "delivery_slot_loan"),
        .slot_discount = number(&section, "delivery_slot_discount"),
        .minimum_slots = number(&section, "minimum_delivery_slots"),
    };
    read_protocol(&section, transport);
    return transport_read_security(transport, name, error) && read_limits(&section, transport, error);
}
