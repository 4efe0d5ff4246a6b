/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* This reads [transport.NAME] into the form that the transport uses, with TLS and AUTH, and divides the limits among
 * the processes and hosts that share them. */
#include <openssl/crypto.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/secret.h"
#include "runners/outgoing/transport_internal.h"

/* A relay of the site's own takes many; to mail hosts, which may be slow with each, several transactions go at once. */
#define PER_TRANSACTION 500
#define PER_TRANSACTION_MX 50
/* With its line end. */
#define PASSWORD_MAX 1024

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

/* "x", "x/y", "x/concurrency" or "x/sqrt_concurrency", 0 <= x <= 1. */
static bool read_feedback(const TransportSection *section, const char *key, Feedback *feedback, GError **error)
{
    const char *text = config_string(section->config, section->name, key), *divisor;
    if (!config_feedback_parse(text, &feedback->value, &divisor))
        return fail(error, FAIL_CONFIG, "[%s] %s: found \"%s\"; allowed is " CONFIG_FEEDBACK_ALLOWED, section->name,
                    key, text);
    feedback->index = !divisor                              ? FEEDBACK_CONSTANT
                      : strcmp(divisor, "concurrency") == 0 ? FEEDBACK_CONCURRENCY
                                                            : FEEDBACK_SQRT_CONCURRENCY;
    return true;
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

/* Instances share one relay, and the mail hosts of many domains. A domain's mail is one instance's, and so are its mail
 * hosts where they are nobody else's concern (group_by_mx = no). Hosts share all of them. Less than one connection for
 * each process would be none. */
static void share_limits(Transport *transport)
{
    DestinationLimits *limits = &transport->limits;
    unsigned instances = MAX(transport->shared->instances, 1), hosts = MAX(transport->hosts, 1);
    limits->share = hosts * (transport->mx && !transport->group_by_mx ? 1 : instances);
    limits->window.limit = MAX(transport->whole.concurrency / limits->share, 1);
    transport->sessions_max = transport->hosts ? MAX(transport->whole.processes / (instances * hosts), 1) : 0;
    transport->rate.per_second = transport->whole.rate.per_second / (instances * hosts);
}

static bool read_limits(const TransportSection *section, Transport *transport, GError **error)
{
    DestinationLimits *limits = &transport->limits;
    transport->whole.concurrency = number(section, "concurrency");
    transport->whole.processes = number(section, "process_limit");
    limits->window.initial = number(section, "initial_destination_concurrency");
    limits->window.cohorts = number(section, "destination_concurrency_failed_cohort_limit");
    limits->burst = number(section, "destination_burst");

    /* One word about its back-off, and the transport has its own; the rest of it is that of all. */
    Backoff own = *transport->shared->backoff;
    int64_t shortest = duration(section, "minimal_backoff_time");
    int64_t longest = duration(section, "maximal_backoff_time");
    transport->backoff = transport->shared->backoff;
    transport->steps = transport_read_schedule(section->config, section->name, &own.count);
    if (shortest > 0 || longest > 0 || own.count > 0) {
        own.min_us = shortest > 0 ? shortest : own.min_us;
        own.max_us = longest > 0 ? longest : own.max_us;
        own.steps = transport->steps;
        transport->own_backoff = own;
        transport->backoff = &transport->own_backoff;
    }
    /* A relay is asked again soon: everything waits for it. Others are left alone as Postfix does. */
    limits->dead_min = duration(section, "destination_dead_min");
    limits->dead_max = duration(section, "destination_dead_max");
    limits->asks_often = limits->dead_min == 0 && limits->dead_max == 0;
    if (limits->dead_min == 0)
        limits->dead_min = transport->mx ? transport->backoff->min_us : CLOCK_SECOND;
    if (limits->dead_max == 0)
        limits->dead_max = transport->mx ? transport->backoff->max_us : 60 * CLOCK_SECOND;
    if (!read_rate(section, "destination_rate", &limits->rate, error) ||
        !read_rate(section, "transport_rate", &transport->whole.rate, error))
        return false;
    transport->hosts = 1;
    share_limits(transport);
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

/* TLS and AUTH. */
static bool read_security(const TransportSection *section, Transport *transport, GError **error)
{
    static const char *const levels[] = {[SMTP_TLS_NONE] = "none", [SMTP_TLS_MAY] = "may",
                                         [SMTP_TLS_REQUIRE] = "require", [SMTP_TLS_VERIFY] = "verify"};
    const Config *config = section->config;
    SmtpSettings *settings = &transport->settings;
    const char *level = config_string(config, section->name, "tls_level");
    unsigned found = 0;
    while (strcmp(levels[found], level) != 0)
        found++;
    settings->tls = found;
    settings->tls_at_once = config_bool(config, section->name, "tls_at_once");
    settings->tls_name = config_string(config, section->name, "tls_verify_name");
    if (settings->tls != SMTP_TLS_NONE) {
        transport->tls = smtp_tls_new(config_string(config, section->name, "tls_ca_file"), error);
        if (!transport->tls) {
            g_prefix_error(error, "[%s] tls_ca_file: ", section->name);
            return false;
        }
        settings->tls_context = transport->tls;
    }
    settings->auth_user = config_string(config, section->name, "auth_user");
    if (!settings->auth_user)
        return true;

    /* The password is the first line of a file, and stays in memory, cleansed when the transport ends. */
    const char *path = config_string(config, section->name, "auth_password_file");
    transport->password = secret_file_line(path, error);
    if (transport->password && strlen(transport->password) >= PASSWORD_MAX) {
        fail(error, FAIL_CONFIG, "%s: wanted is a password of at most %d bytes", path, PASSWORD_MAX - 1);
        OPENSSL_cleanse(transport->password, strlen(transport->password));
        g_clear_pointer(&transport->password, g_free);
    }
    if (!transport->password) {
        g_prefix_error(error, "[%s] auth_password_file: ", section->name);
        return false;
    }
    settings->auth_password = transport->password;
    settings->auth_in_clear = config_bool(config, section->name, "auth_in_clear");
    const char *const *words = config_list(config, section->name, "auth_mechanisms");
    for (settings->auth_mechanisms = 0; words && *words; words++)
        settings->auth_mechanisms |= smtp_auth_mechanism(*words);
    return true;
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
    return read_security(&section, transport, error) && read_limits(&section, transport, error);
}

/* ---- the part of the limits that is this process's ---- */

/* Have the connections that wait for work closed, and return false, where there are too many of one kind. */
static bool is_within(size_t connections, size_t most, const GQueue *idle)
{
    if (connections <= most)
        return true;
    for (size_t excess = connections - most; excess > 0 && !g_queue_is_empty((GQueue *)idle); excess--)
        session_quit(idle->head->data);
    return false;
}

bool transport_share(Transport *transport, unsigned hosts)
{
    g_autoptr(GPtrArray) destinations = transport_destinations(transport);
    if (transport->hosts != hosts) {
        int64_t now = clock_steady();
        bucket_wait(&transport->bucket, transport->rate, transport->burst, now);
        for (guint i = 0; i < destinations->len; i++)
            destination_settle(destinations->pdata[i], now);
        transport->hosts = hosts;
        share_limits(transport);
        for (guint i = 0; i < destinations->len; i++)
            destination_relimit(destinations->pdata[i]);
    }
    bool within = is_within(transport->sessions->len, transport->sessions_max, &transport->idle);
    for (guint i = 0; i < destinations->len; i++) {
        const Destination *destination = destinations->pdata[i];
        within &= is_within(destination->load.sessions, destination->limits->window.limit, &destination->load.idle);
    }
    return within;
}
