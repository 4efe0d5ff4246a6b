/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/dns_wait.h"

#include <arpa/inet.h>

struct DnsWait {
    struct event_base *base;
    Dns *dns;
};

DnsWait *dns_wait_new(const char *servers, int64_t timeout_us, unsigned tries, GError **error)
{
    g_autoptr(DnsWait) wait = g_new0(DnsWait, 1);
    wait->base = event_base_new();
    wait->dns = dns_new(wait->base, servers, timeout_us, tries, error);
    return wait->dns ? g_steal_pointer(&wait) : NULL;
}

void dns_wait_free(DnsWait *wait)
{
    if (!wait)
        return;
    g_clear_pointer(&wait->dns, dns_free);
    event_base_free(wait->base);
    g_free(wait);
}

typedef struct DnsWaiting {
    DnsAnswer *answer;
    bool done;
} DnsWaiting;

static void on_answer(const DnsAnswer *answer, void *data)
{
    DnsWaiting *waiting = data;
    waiting->done = true;
    if (answer) {
        *waiting->answer = *answer;
        g_array_ref(answer->records);
    }
}

void dns_wait_ask(DnsWait *wait, const char *name, DnsType type, DnsAnswer *answer)
{
    DnsWaiting waiting = {.answer = answer};
    *answer = (DnsAnswer){.status = DNS_TROUBLE, .problem = "nothing was heard"};
    dns_ask(wait->dns, name, type, on_answer, &waiting);
    while (!waiting.done && event_base_loop(wait->base, EVLOOP_ONCE) == 0)
        continue;
}

bool dns_wait_ask_names(DnsWait *wait, const char *address, DnsAnswer *answer)
{
    unsigned char octets[sizeof(struct in6_addr)];
    g_autoptr(GString) name = g_string_new(NULL);
    if (inet_pton(AF_INET, address, octets) == 1) {
        g_string_printf(name, "%d.%d.%d.%d.in-addr.arpa", octets[3], octets[2], octets[1], octets[0]);
    } else if (inet_pton(AF_INET6, address, octets) == 1) {
        for (int at = (int)sizeof octets - 1; at >= 0; at--)
            g_string_append_printf(name, "%x.%x.", octets[at] & 15, octets[at] >> 4);
        g_string_append(name, "ip6.arpa");
    } else {
        return false;
    }
    dns_wait_ask(wait, name->str, DNS_PTR, answer);
    return true;
}
