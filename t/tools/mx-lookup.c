/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors
 *
 * mx-lookup: asks where the mail of domains goes, and prints what the out
 * runner would be told: a line of JSON a domain, in the order of the answers.
 * Domains are arguments, or lines of standard input. All are asked for at once.
 */
#include <jansson.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/auto.h"
#include "base/clock.h"
#include "net/mx.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(json_t, json_decref)

static char *servers = NULL;
static gboolean public_only;
static char **own = NULL;
static int port = 25, repeat = 1, limit = 0, cache = 0;
static gboolean figures = FALSE;

static const GOptionEntry options[] = {
    {"servers", 's', 0, G_OPTION_ARG_STRING, &servers, "Name servers (those of the system)", "HOST:PORT,..."},
    {"own", 'o', 0, G_OPTION_ARG_STRING_ARRAY, &own, "A name or address of ourselves", "NAME"},
    {"public", 0, 0, G_OPTION_ARG_NONE, &public_only, "leave out addresses that are not public", NULL},
    {"port", 'p', 0, G_OPTION_ARG_INT, &port, "The port in the answers (25)", "PORT"},
    {"repeat", 'r', 0, G_OPTION_ARG_INT, &repeat, "Ask so often, each time after the last answer", "N"},
    {"limit", 'l', 0, G_OPTION_ARG_INT, &limit, "Addresses in an answer", "N"},
    {"cache", 'c', 0, G_OPTION_ARG_INT, &cache, "Domains kept in memory", "N"},
    {"figures", 'f', 0, G_OPTION_ARG_NONE, &figures, "Print the figures at the end", NULL},
    G_OPTION_ENTRY_NULL,
};

typedef struct Run {
    MxResolver *resolver;
    GPtrArray *domains;
    size_t open;
    int rounds;
} Run;

static void ask_all(Run *run);

static json_t *host_text(const MxHost *host)
{
    char address[NI_MAXHOST], service[NI_MAXSERV];
    getnameinfo((const struct sockaddr *)&host->address, host->length, address, sizeof(address), service,
                sizeof(service), NI_NUMERICHOST | NI_NUMERICSERV);
    return json_sprintf("%d %s[%s]:%s", host->preference, host->name, address, service);
}

static void on_answer(const MxAnswer *answer, void *data)
{
    static const char *const outcomes[] = {[MX_FOUND] = "found", [MX_LATER] = "later", [MX_NEVER] = "never"};
    Run *run = data;
    json_t *hosts = json_array();
    for (size_t i = 0; i < answer->count; i++)
        json_array_append_new(hosts, host_text(&answer->hosts[i]));
    int lifetime = (int)((answer->expires - clock_monotonic()) / CLOCK_SECOND);
    g_autoptr(json_t) line =
        json_pack("{ss ss so ss ss? si ss? si}", "domain", answer->domain, "outcome", outcomes[answer->outcome],
                  "hosts", hosts, "key", answer->key, "status", answer->status, "code", (int)answer->code,
                  "text", answer->text, "lifetime", answer->outcome == MX_LATER ? 0 : lifetime);
    json_dumpf(line, stdout, JSON_COMPACT);
    putchar('\n');
    if (--run->open == 0 && --run->rounds > 0)
        ask_all(run);
}

static void ask_all(Run *run)
{
    run->open = run->domains->len;
    for (guint i = 0; i < run->domains->len; i++)
        mx_lookup(run->resolver, run->domains->pdata[i], (uint16_t)port, on_answer, run);
}

static void read_domains(GPtrArray *domains, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        g_ptr_array_add(domains, g_strdup(argv[i]));
    char *line = NULL;
    size_t size = 0;
    while (argc == 1 && getline(&line, &size, stdin) >= 0)
        if (*g_strstrip(line))
            g_ptr_array_add(domains, g_strdup(line));
    free(line);
}

int main(int argc, char **argv)
{
    g_autoptr(GOptionContext) context = g_option_context_new("[DOMAIN...] - where the mail of domains goes");
    g_option_context_add_main_entries(context, options, NULL);
    g_autoptr(GError) error = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        fprintf(stderr, "mx-lookup: %s\n", error->message);
        return 64;
    }
    struct event_base *base = event_base_new();
    MxSettings settings = {.servers = servers, .own = (const char *const *)own, .address_limit = (size_t)limit,
                           .cache_size = (size_t)cache, .timeout_us = CLOCK_SECOND, .private_addresses = !public_only};
    Run run = {.domains = g_ptr_array_new_with_free_func(g_free), .rounds = repeat};
    run.resolver = mx_resolver_new(base, &settings, &error);
    if (!run.resolver) {
        fprintf(stderr, "mx-lookup: %s\n", error->message);
        return 64;
    }
    read_domains(run.domains, argc, argv);
    if (run.domains->len > 0)
        ask_all(&run);
    while (run.open > 0)
        event_base_loop(base, EVLOOP_ONCE);
    MxFigures seen = mx_figures(run.resolver);
    if (figures)
        printf("{\"lookups\":%d,\"cached\":%d,\"entries\":%d}\n", (int)seen.lookups, (int)seen.cached,
               (int)seen.entries);
    mx_resolver_free(run.resolver);
    event_base_free(base);
    g_ptr_array_unref(run.domains);
    g_strfreev(own);
    g_free(servers);
    return 0;
}
