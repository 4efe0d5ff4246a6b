/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* How the runner starts, from its configuration to its transports, and ends. */
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "lists/keys.h"
#include "lists/site/canary_shard.h"
#include "mail/auth/dkim_keys.h"
#include "runners/outgoing/out.h"

#define OUT_QUEUE "out"
/* Files of entries at hand, connections, and all else; more are rare. */
#define FILES_EXPECTED 4096
#define WAIT_LEAST (3600 * CLOCK_SECOND) /* so often a destination that rests for longer is looked at */
#define WAIT_SLACK (60 * CLOCK_SECOND)

static void on_readable(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    (void)data; /* the turn looks */
}

static void on_wake(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    (void)data;
    child_reopen();
}

static void on_master(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    (void)data;
    child_stop();
}

static void on_claimed(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    Out *out = data;
    claims_woken(&out->claims);
}

Transport *out_find_transport(const Out *out, const char *name)
{
    for (guint i = 0; i < out->transports->len; i++)
        if (strcmp(transport_name(out->transports->pdata[i]), name) == 0)
            return out->transports->pdata[i];
    return NULL;
}

static struct event *watch(Out *out, int fd, event_callback_fn callback)
{
    if (fd < 0)
        return NULL;
    struct event *event = event_new(out->base, fd, EV_READ | EV_PERSIST, callback, out);
    event_add(event, NULL);
    return event;
}

static void read_settings(Out *out)
{
    const Config *config = out->config;
    /* An entry that is held keeps its file open. Half of the descriptors are left for connections and all else: without
     * one, the runner could not even list its queue. */
    size_t wanted = (size_t)config_integer(config, "out", "message_active_limit");
    out->entries_max = fs_files_allowed(wanted, 2);
    if (out->entries_max < wanted)
        log_info("at most %zu entries are held at a time, not %zu: the system allows too few open files",
                 out->entries_max, wanted);
    out->clog = (Clog){config_duration(config, "out", "clog_warn_time"), out->entries_max, 0};
    out->keys = dkim_keys_read(config);
    out->heartbeat_us = config_duration(config, "master", "heartbeat_interval");
    out->every_recipient = config_bool(config, "out", "log_recipients");
    out->finish.warning = (Warning){
        .host = config_string(config, "site", "hostname"),
        .after_us = config_duration(config, "out", "delay_warning_time"),
        .lifetime_us = config_duration(config, "out", "maximal_queue_lifetime"),
    };
    out->finish.backoff = (Backoff){
        .min_us = config_duration(config, "out", "minimal_backoff_time"),
        .max_us = config_duration(config, "out", "maximal_backoff_time"),
        .lifetime_us = config_duration(config, "out", "maximal_queue_lifetime"),
        .jitter = (unsigned)config_integer(config, "out", "backoff_jitter"),
    };
    out->finish.canary_us = canary_lifetime(config);
    Backoff *backoff = &out->finish.backoff;
    backoff->steps = out->finish.steps = transport_read_schedule(config, "out", &backoff->count);
    reader_init(&out->reader, config);
}

static void *find_route(void *data, const char *name)
{
    return out_find_transport(data, name);
}

/* Where type = mx asks, and who we are: mail that DNS sends back to us would never end. */
static MxResolver *open_resolver(Out *out, GError **error)
{
    const Config *config = out->config;
    const char *protocols = config_string(config, "out", "inet_protocols");
    const char *hostname = config_string(config, "site", "hostname");
    g_autofree char *servers = config_list_joined(config, "dns", "servers");
    g_autoptr(GPtrArray) own = g_ptr_array_new();
    g_ptr_array_add(own, (char *)hostname);
    for (const char *const *name = config_list(config, "out", "own_names"); name && *name; name++)
        g_ptr_array_add(own, (char *)*name);
    g_ptr_array_add(own, NULL);
    unsigned families = strcmp(protocols, "ipv4") == 0 ? MX_IPV4 : strcmp(protocols, "ipv6") == 0 ? MX_IPV6 : 0;
    MxSettings settings = {.servers = servers, .own = (const char *const *)own->pdata, .families = families,
                           .private_addresses = config_bool(config, "out", "mx_private_addresses")};
    MxResolver *resolver = mx_resolver_new(out->base, &settings, error);
    if (!resolver)
        g_prefix_error(error, "[dns] servers: ");
    return resolver;
}

static bool open_transports(Out *out, GError **error)
{
    const char *const *names = config_family(out->config, "transport");
    bool varied = false; /* do they have back-offs of their own? */
    out->transports = g_ptr_array_new_with_free_func((GDestroyNotify)transport_free);
    out->replies = reply_table_new(out->config);
    out->resolver = open_resolver(out, error);
    if (!out->resolver)
        return false;
    out->shared = (TransportShared){out->base, out->config, out->replies, out->resolver, out->slice.count,
                                    &out->finish.backoff, false, out->shared.owner, out};
    for (; *names; names++) {
        Transport *transport = transport_new(&out->shared, *names, error);
        if (!transport)
            return false;
        g_ptr_array_add(out->transports, transport);
        varied |= transport_backoff(transport) != &out->finish.backoff;
    }
    out->standard = out_find_transport(out, config_string(out->config, "out", "default_transport"));
    out->routes = routes_new(out->config, find_route, out);
    out->reader.routes = out->routes;
    out->finish.laws = (RetryLaws){out->routes, &out->finish.backoff, varied};
    out->shared.alone = out->transports->len == 1 && transport_is_relay(out->standard);
    return true;
}

static bool open_spool(Out *out, GError **error)
{
    g_autofree char *section = g_strdup_printf("runner.%s", out->child->runner);
    const char *queue = config_string(out->config, section, "queue");
    const char *queues[SOURCES] = {queue ? queue : OUT_QUEUE, RETRY_QUEUE, NOTICE_QUEUE};
    Wakeup wakeup = wakeup_configured(out->config);
    out->spool = spool_open(config_string(out->config, "spool", "directory"), error);
    for (int i = 0; out->spool && i < SOURCES; i++) {
        wakeup.put_off = i == SOURCE_RETRY;
        out->inboxes[i] = inbox_open(out->spool, queues[i], out->slice, wakeup, error);
        if (!out->inboxes[i])
            return false;
        out->finish.inboxes[i] = out->inboxes[i];
    }
    if (!out->spool)
        return false;
    out->hop = hop_new(out->spool);
    out->finish.spool = out->spool;
    out->finish.slice = out->slice;
    out->finish.hop = out->hop;
    out->finish.marks = &out->marks;
    return true;
}

bool out_set_up(Out *out, const Process *process, const TransportOwner *owner, GError **error)
{
    out->child = process->child;
    out->config = process->config;
    out->slice = (Slice){out->child->instance, out->child->instances};
    fs_expect_files(FILES_EXPECTED);
    if (!open_spool(out, error))
        return false;
    read_settings(out);
    out->timer = evtimer_new(out->base, on_readable, out);
    out->wake = watch(out, out->child->wake_fd, on_wake);
    out->master = watch(out, out->child->status_fd, on_master);
    out->claimed = watch(out, claims_wake(&out->claims), on_claimed);
    for (int i = 0; i < SOURCES; i++)
        out->watches[i] = watch(out, inbox_fd(out->inboxes[i]), on_readable);
    out->shared.owner = owner;
    if (!open_transports(out, error))
        return false;
    /* An entry that is due later than by the longest back-off was put off while the clock was ahead. */
    int64_t longest = MAX(backoff_longest(&out->finish.backoff), WAIT_LEAST);
    for (guint i = 0; i < out->transports->len; i++)
        longest = MAX(longest, backoff_longest(transport_backoff(out->transports->pdata[i])));
    out->finish.longest_us = longest;
    for (int i = 0; i < SOURCES; i++)
        inbox_bound_wait(out->inboxes[i], longest + WAIT_SLACK);
    return true;
}

void out_tear_down(Out *out)
{
    g_clear_pointer(&out->transports, g_ptr_array_unref);
    g_clear_pointer(&out->resolver, mx_resolver_free);
    g_clear_pointer(&out->replies, reply_table_free);
    g_clear_pointer(&out->routes, routes_free);
    reader_clear(&out->reader);
    for (int i = 0; i < SOURCES; i++)
        g_clear_pointer(&out->watches[i], event_free);
    g_clear_pointer(&out->wake, event_free);
    g_clear_pointer(&out->claimed, event_free);
    g_clear_pointer(&out->master, event_free);
    g_clear_pointer(&out->timer, event_free);
    event_base_loop(out->base, EVLOOP_NONBLOCK); /* connections are freed from the loop */
    event_base_free(out->base);
    claims_clear(&out->claims);
    g_clear_pointer(&out->hop, hop_free);
    for (int i = 0; i < SOURCES; i++)
        g_clear_pointer(&out->inboxes[i], inbox_free);
    g_clear_pointer(&out->spool, spool_free);
    finish_clear(&out->finish);
    g_clear_pointer(&out->keys, g_ptr_array_unref);
    marks_clear(&out->marks);
}
