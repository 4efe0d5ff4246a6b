/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/clock.h"
#include "net/mx_internal.h"

/* One domain being asked about: first its MX, then all addresses of all hosts at once. */
typedef struct MxQuestion {
    Dns *dns;
    const MxSettings *settings;
    MxRoute *route;
    MxFound *found;
    void *data;
    size_t open;         /* questions without answer, and 1 while more are being asked */
    int64_t lifetime_us; /* the shortest so far */
    int64_t absence_us;  /* the same for what is not there */
    char *trouble;       /* of a host whose addresses could not be had */
    bool implicit;       /* there is no MX: the domain is its own host */
    bool given_up;       /* dns is being freed */
} MxQuestion;

/* A question for the addresses of a host. */
typedef struct HostQuestion {
    MxQuestion *query;
    MxTarget *target;
    bool six;
} HostQuestion;

static void finish(MxQuestion *query)
{
    g_autoptr(MxRoute) route = g_steal_pointer(&query->route);
    const MxSettings *settings = query->settings;
    int64_t lifetime = CLAMP(query->lifetime_us, settings->lifetime_min_us, settings->lifetime_max_us);
    if (query->trouble) /* ask again soon for what is missing */
        lifetime = settings->lifetime_min_us;
    route->expires = route->outcome == MX_LATER ? 0 : clock_monotonic() + lifetime;
    query->found(query->given_up ? NULL : g_steal_pointer(&route), query->data);
    g_free(query->trouble);
    g_free(query);
}

static char *list_names(const MxRoute *route)
{
    g_autoptr(GString) names = g_string_new(NULL);
    for (guint i = 0; i < route->targets->len; i++)
        g_string_append_printf(names, "%s%s", i > 0 ? ", " : "",
                               ((const MxTarget *)route->targets->pdata[i])->name);
    return g_string_free(g_steal_pointer(&names), FALSE);
}

/* left: there were addresses that are not public. */
static void refuse_homeless(MxQuestion *query, bool left)
{
    MxRoute *route = query->route;
    if (query->trouble) {
        mx_route_refuse(route, MX_LATER, 450, "4.4.3", g_steal_pointer(&query->trouble));
        return;
    }
    if (left) {
        mx_route_refuse_private(route);
        return;
    }
    if (query->implicit) {
        mx_route_refuse(route, MX_NEVER, 550, "5.4.4",
                        g_strdup_printf("%s has neither a mail host (MX) nor an address", route->domain));
        return;
    }
    g_autofree char *names = list_names(route);
    mx_route_refuse(route, MX_NEVER, 550, "5.4.4",
                    g_strdup_printf("no mail host of %s has an address (%s)", route->domain, names));
}

static void settle(MxQuestion *query)
{
    MxRoute *route = query->route;
    mx_route_leave_own(route, query->settings->own);
    if (!route->targets)
        return;
    bool left = !query->settings->private_addresses && mx_route_leave_private(route);
    guint homeless = 0;
    for (guint i = 0; i < route->targets->len; i++) {
        const MxTarget *target = route->targets->pdata[i];
        homeless += target->four->len + target->six->len == 0;
    }
    if (homeless > 0) /* that one family is missing does not count, that a host has no address does */
        query->lifetime_us = MIN(query->lifetime_us, query->absence_us);
    if (homeless == route->targets->len)
        refuse_homeless(query, left);
}

static void close_one(MxQuestion *query)
{
    if (--query->open > 0)
        return;
    if (!query->given_up)
        settle(query);
    finish(query);
}

static bool is_usable(const DnsRecord *record, bool six)
{
    static const struct in6_addr none; /* "any" reaches this very host */
    return memcmp(&record->address, &none, six ? sizeof(struct in6_addr) : sizeof(struct in_addr)) != 0;
}

static void on_addresses(const DnsAnswer *answer, void *data)
{
    g_autofree HostQuestion *question = data;
    MxQuestion *query = question->query;
    query->given_up |= answer == NULL;
    if (answer && answer->status == DNS_TROUBLE && !query->trouble)
        query->trouble = g_strdup_printf("look-up of the %s address of %s: %s", question->six ? "IPv6" : "IPv4",
                                         question->target->name, answer->problem);
    if (answer && answer->status == DNS_FOUND)
        query->lifetime_us = MIN(query->lifetime_us, answer->lifetime_us);
    else if (answer && answer->status != DNS_TROUBLE)
        query->absence_us = MIN(query->absence_us, answer->lifetime_us);
    for (guint i = 0; answer && i < answer->records->len; i++) {
        const DnsRecord *record = &g_array_index(answer->records, DnsRecord, i);
        if (is_usable(record, question->six))
            g_array_append_vals(question->six ? question->target->six : question->target->four, &record->address, 1);
    }
    close_one(query);
}

static void ask_addresses(MxQuestion *query)
{
    query->open = 1;
    for (guint i = 0; i < query->route->targets->len; i++) {
        MxTarget *target = query->route->targets->pdata[i];
        for (int six = 1; six >= 0; six--) {
            if (!(query->settings->families & (six ? MX_IPV6 : MX_IPV4)))
                continue;
            HostQuestion *question = g_new0(HostQuestion, 1);
            *question = (HostQuestion){query, target, six};
            query->open++;
            dns_ask(query->dns, target->name, six ? DNS_AAAA : DNS_A, on_addresses, question);
        }
    }
    close_one(query);
}

/* RFC 7505: one record, without a host. Beside others it means nothing. */
static bool is_null(const DnsAnswer *answer)
{
    return answer->records->len == 1 && *g_array_index(answer->records, DnsRecord, 0).host == '\0';
}

static void take_hosts(MxQuestion *query, const DnsAnswer *answer)
{
    MxRoute *route = query->route;
    route->targets = g_ptr_array_new();
    query->implicit = answer->status == DNS_NONE;
    if (query->implicit)
        g_ptr_array_add(route->targets, mx_target_new(route->domain, 0));
    for (guint i = 0; i < answer->records->len; i++) {
        const DnsRecord *record = &g_array_index(answer->records, DnsRecord, i);
        if (*record->host)
            g_ptr_array_add(route->targets, mx_target_new(record->host, record->preference));
    }
    mx_route_sort(route);
    mx_route_set_key(route);
    ask_addresses(query);
}

static void on_mx(const DnsAnswer *answer, void *data)
{
    MxQuestion *query = data;
    MxRoute *route = query->route;
    query->given_up = answer == NULL;
    if (answer)
        query->lifetime_us = answer->lifetime_us;
    if (!answer)
        ;
    else if (answer->status == DNS_TROUBLE)
        mx_route_refuse(route, MX_LATER, 450, "4.4.3",
                        g_strdup_printf("look-up of the mail hosts (MX) of %s: %s", route->domain, answer->problem));
    else if (answer->status == DNS_UNKNOWN)
        mx_route_refuse(route, MX_NEVER, 550, "5.4.4", g_strdup_printf("domain %s does not exist", route->domain));
    else if (is_null(answer))
        mx_route_refuse(route, MX_NEVER, 556, "5.1.10", g_strdup_printf("%s takes no mail (null MX)", route->domain));
    else {
        take_hosts(query, answer);
        return;
    }
    finish(query);
}

void mx_query_start(Dns *dns, const MxSettings *settings, const char *domain, MxFound *found, void *data)
{
    MxQuestion *query = g_new0(MxQuestion, 1);
    *query = (MxQuestion){.dns = dns, .settings = settings, .route = mx_route_new(domain), .found = found, .data = data,
                     .absence_us = settings->lifetime_max_us};
    dns_ask(dns, domain, DNS_MX, on_mx, query);
}
