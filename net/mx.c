/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/mx.h"

#include <arpa/inet.h>
#include <idn2.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/ip.h"
#include "net/dns.h"

#define DOMAIN_MAX 253

/* The number of a domain's hosts that are looked at, those of the best preference. */
#define MX_HOSTS_MAX 32

/* A host of a domain. */
typedef struct MxTarget {
    char *name;
    uint16_t preference;
    GArray *four; /* of struct in_addr */
    GArray *six;  /* of struct in6_addr */
} MxTarget;

/* The knowledge of one domain; it is shared by reference count between the memory and answers on their way. */
typedef struct MxRoute {
    int references;
    MxAnswer answer;    /* without hosts, which are made for each look-up; domain, text and key are owned */
    GPtrArray *targets; /* of MxTarget, by preference, owned from sort_targets() on; NULL: mail can go to none */
} MxRoute;

struct MxResolver {
    struct event_base *base;
    MxSettings settings;
    char *servers;
    char **own;
    Dns *dns;
    GHashTable *memory;  /* domain -> KeptAnswer */
    GQueue used;         /* of KeptAnswer, the longest unused at the head */
    GHashTable *asking;  /* domain -> Asking, running or waiting */
    GQueue waiting;      /* of Asking */
    size_t running;
    GQueue ready;        /* of MxLookup with their route */
    struct event *ready_event;
    bool *freed;         /* set by mx_resolver_free() while a callback runs */
    bool closing;
    bool starting;       /* inside start_waiting() */
    MxFigures figures;
};

typedef struct KeptAnswer {
    MxRoute *route;
    GList link; /* in used */
} KeptAnswer;

/* A domain whose answer is awaited: first its MX is asked for, then all addresses of all hosts at once. */
typedef struct Asking {
    MxResolver *resolver;
    char *domain;
    GQueue lookups;      /* of MxLookup */
    MxRoute *route;      /* NULL while it waits */
    size_t open;         /* questions without answer, and 1 while more are being asked */
    int64_t lifetime_us; /* the shortest so far */
    int64_t absence_us;  /* the same for what is not there */
    char *trouble;       /* of a host whose addresses could not be had */
    bool implicit;       /* there is no MX: the domain is its own host */
} Asking;

/* A question for the addresses of a host. */
typedef struct HostQuestion {
    Asking *asking;
    MxTarget *target;
    bool six;
} HostQuestion;

struct MxLookup {
    MxResolver *resolver;
    MxDone *done;
    void *data;
    uint16_t port;
    GQueue *queue; /* where link is */
    GList link;
    MxRoute *route; /* once it is ready */
};

/* --- a route ------------------------------------------------------------ */

static MxRoute *route_new(const char *domain)
{
    MxRoute *route = g_new0(MxRoute, 1);
    route->references = 1;
    route->answer.domain = g_strdup(domain);
    route->answer.key = g_strdup(domain);
    return route;
}

static MxRoute *route_ref(MxRoute *route)
{
    route->references++;
    return route;
}

static void route_unref(MxRoute *route)
{
    if (!route || --route->references > 0)
        return;
    g_free((char *)route->answer.domain);
    g_free((char *)route->answer.text);
    g_free((char *)route->answer.key);
    g_clear_pointer(&route->targets, g_ptr_array_unref);
    g_free(route);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MxRoute, route_unref)

static void target_free(void *data)
{
    MxTarget *target = data;
    g_free(target->name);
    g_array_unref(target->four);
    g_array_unref(target->six);
    g_free(target);
}

static MxTarget *target_new(const char *name, uint16_t preference)
{
    MxTarget *target = g_new0(MxTarget, 1);
    target->name = g_strdup(name);
    target->preference = preference;
    target->four = g_array_new(FALSE, FALSE, sizeof(struct in_addr));
    target->six = g_array_new(FALSE, FALSE, sizeof(struct in6_addr));
    return target;
}

/* Make the route one to which no mail can go, with this outcome. Its hosts are dropped; text is taken over. */
static void refuse(MxRoute *route, MxOutcome outcome, unsigned code, const char *status, char *text)
{
    route->answer.outcome = outcome;
    route->answer.code = code;
    route->answer.status = status;
    g_free((char *)route->answer.text);
    route->answer.text = text;
    g_clear_pointer(&route->targets, g_ptr_array_unref);
}

/* Refuse it because none of its addresses is public: mail waits until the site allows them or it is too old. */
static void refuse_private(MxRoute *route)
{
    refuse(route, MX_LATER, 450, "4.4.4",
           g_strdup_printf("all addresses of the mail hosts of %s are loopback or private addresses "
                           "([out] mx_private_addresses)",
                           route->answer.domain));
}

/* --- the order ---------------------------------------------------------- */

static gint by_preference(gconstpointer one, gconstpointer other)
{
    const MxTarget *a = *(const MxTarget *const *)one;
    const MxTarget *b = *(const MxTarget *const *)other;
    return (a->preference > b->preference) - (a->preference < b->preference);
}

static void draw_order(GPtrArray *targets)
{
    void **items = targets->pdata;
    for (guint left = targets->len; left > 1; left--) {
        guint drawn = (guint)g_random_int_range(0, (gint32)left);
        void *item = items[left - 1];
        items[left - 1] = items[drawn];
        items[drawn] = item;
    }
    g_ptr_array_sort(targets, by_preference); /* it is stable: equals stay in the order drawn */
}

/* Put the targets in the order of preference, and leave at most MX_HOSTS_MAX. Call it once all are added: the array
 * owns them from then on. */
static void sort_targets(MxRoute *route)
{
    g_ptr_array_set_free_func(route->targets, target_free);
    draw_order(route->targets);
    if (route->targets->len > MX_HOSTS_MAX)
        g_ptr_array_set_size(route->targets, MX_HOSTS_MAX);
}

/* Make the key (MxAnswer.key) of the targets' names. Before that it is the domain. */
static void set_key(MxRoute *route)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < route->targets->len; i++)
        g_ptr_array_add(names, ((const MxTarget *)route->targets->pdata[i])->name);
    g_ptr_array_sort(names, bytes_compare_texts);
    g_autoptr(GString) key = g_string_new(NULL);
    for (guint i = 0; i < names->len; i++)
        if (i == 0 || strcmp(names->pdata[i], names->pdata[i - 1]) != 0)
            g_string_append_printf(key, "%s%s", i > 0 ? "," : "", (const char *)names->pdata[i]);
    g_free((char *)route->answer.key);
    route->answer.key = g_string_free(g_steal_pointer(&key), FALSE);
}

static MxHost make_host(const MxTarget *target, bool six, guint index, uint16_t port)
{
    MxHost host = {.name = target->name, .preference = target->preference};
    if (six) {
        struct sockaddr_in6 *to = (struct sockaddr_in6 *)&host.address;
        to->sin6_family = AF_INET6;
        to->sin6_port = htons(port);
        to->sin6_addr = g_array_index(target->six, struct in6_addr, index);
        host.length = sizeof(*to);
    } else {
        struct sockaddr_in *to = (struct sockaddr_in *)&host.address;
        to->sin_family = AF_INET;
        to->sin_port = htons(port);
        to->sin_addr = g_array_index(target->four, struct in_addr, index);
        host.length = sizeof(*to);
    }
    return host;
}

/* Return the addresses in the order in which they are to be tried, with this port, at most limit; g_free() the array.
 * The names in it are borrowed from the route. */
static MxHost *make_hosts(const MxRoute *route, uint16_t port, size_t limit, size_t *count)
{
    g_autoptr(GArray) hosts = g_array_new(FALSE, TRUE, sizeof(MxHost));
    g_autoptr(GPtrArray) order = route->targets ? g_ptr_array_copy(route->targets, NULL, NULL) : g_ptr_array_new();
    g_ptr_array_set_free_func(order, NULL);
    draw_order(order);
    for (guint at = 0; at < order->len; at++) {
        /* IPv6 and IPv4 by turns, so that a family that does not work here costs one try. */
        const MxTarget *target = order->pdata[at];
        for (guint i = 0; i < MAX(target->four->len, target->six->len); i++)
            for (int six = 1; six >= 0; six--)
                if (i < (six ? target->six : target->four)->len) {
                    MxHost host = make_host(target, six, i, port);
                    g_array_append_val(hosts, host);
                }
    }
    if (hosts->len > limit) {
        /* Cut at the limit, but not so that one family is gone. */
        MxHost *all = (MxHost *)(void *)hosts->data;
        sa_family_t first = all[0].address.ss_family;
        bool mixed = false;
        for (size_t i = 1; i < limit; i++)
            mixed |= all[i].address.ss_family != first;
        for (size_t i = limit; !mixed && limit > 1 && i < hosts->len; i++)
            if (all[i].address.ss_family != first) {
                all[limit - 1] = all[i];
                mixed = true;
            }
        g_array_set_size(hosts, (guint)limit);
    }
    *count = hosts->len;
    return (MxHost *)(void *)g_array_free(g_steal_pointer(&hosts), FALSE);
}

/* --- hosts that get no mail --------------------------------------------- */

static bool is_own(const MxTarget *target, const char *const *own)
{
    for (; own && *own; own++) {
        struct in6_addr six;
        struct in_addr four;
        if (g_ascii_strcasecmp(*own, target->name) == 0)
            return true;
        if (inet_pton(AF_INET, *own, &four) == 1) {
            for (guint i = 0; i < target->four->len; i++)
                if (g_array_index(target->four, struct in_addr, i).s_addr == four.s_addr)
                    return true;
        } else if (inet_pton(AF_INET6, *own, &six) == 1) {
            for (guint i = 0; i < target->six->len; i++)
                if (IN6_ARE_ADDR_EQUAL(&g_array_index(target->six, struct in6_addr, i), &six))
                    return true;
        }
    }
    return false;
}

/* When a target is this host, by a name or address in `own` (MxSettings.own), leave it out, and all targets of the same
 * or a worse preference. Refuse the route when none is left. The targets must be sorted. */
static void leave_own(MxRoute *route, const char *const *own)
{
    for (guint i = 0; i < route->targets->len; i++) {
        const MxTarget *target = route->targets->pdata[i];
        if (!is_own(target, own))
            continue;
        g_autofree char *name = g_strdup(target->name);
        uint16_t preference = target->preference;
        while (i > 0 && ((const MxTarget *)route->targets->pdata[i - 1])->preference == preference)
            i--;
        g_ptr_array_set_size(route->targets, (gint)i);
        if (i == 0)
            refuse(route, MX_NEVER, 554, "5.4.6",
                   g_strdup_printf("mail for %s loops back to myself (%s)", route->answer.domain, name));
        return;
    }
}

/* Leave out the addresses that are not public, and return true when there were any. The owner of a domain chooses its
 * addresses, and could otherwise have mail delivered to a server that only this host reaches. */
static bool leave_private(MxRoute *route)
{
    bool left = false;
    for (guint at = 0; at < route->targets->len; at++)
        for (int six = 0; six <= 1; six++) {
            const MxTarget *target = route->targets->pdata[at];
            GArray *all = six ? target->six : target->four;
            for (guint i = all->len; i > 0; i--) {
                MxHost host = make_host(target, six, i - 1, 0);
                if (!ip_public((const struct sockaddr *)&host.address)) {
                    g_array_remove_index(all, i - 1);
                    left = true;
                }
            }
        }
    return left;
}

/* --- domains ------------------------------------------------------------ */

/* Labels of 1 to 63 bytes, of letters, digits, '-' and '_'. */
static bool is_domain(const char *text)
{
    size_t length = strlen(text);
    if (length == 0 || length > DOMAIN_MAX)
        return false;
    for (const char *label = text; label; label = strchr(label, '.') ? strchr(label, '.') + 1 : NULL) {
        size_t size = strcspn(label, ".");
        if (size == 0 || size > 63)
            return false;
        for (size_t i = 0; i < size; i++)
            if (!g_ascii_isalnum(label[i]) && label[i] != '-' && label[i] != '_')
                return false;
    }
    return true;
}

char *mx_domain_normal(const char *domain)
{
    size_t length = strlen(domain);
    if (length > 4 * DOMAIN_MAX)
        return NULL;
    g_autofree char *lower = g_ascii_strdown(domain, -1);
    if (length > 1 && lower[length - 1] == '.')
        lower[length - 1] = '\0';
    if (!g_str_is_ascii(lower)) {
        uint8_t *ascii = NULL;
        if (idn2_lookup_u8((const uint8_t *)lower, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL) != IDN2_OK)
            return NULL;
        g_free(lower);
        lower = g_strdup((const char *)ascii);
        idn2_free(ascii);
    }
    return is_domain(lower) ? g_steal_pointer(&lower) : NULL;
}

/* Make the route of "[192.0.2.1]" or "[IPv6:2001:db8::1]"; route_unref(). NULL: domain is no such literal. */
static MxRoute *read_literal(const char *domain)
{
    size_t length = strlen(domain);
    if (length < 3 || domain[0] != '[' || domain[length - 1] != ']')
        return NULL;
    bool six = g_ascii_strncasecmp(domain, "[IPv6:", 6) == 0;
    size_t from = six ? 6 : 1;
    g_autofree char *text = g_strndup(domain + from, length - 1 - from);
    struct in6_addr address;
    if (inet_pton(six ? AF_INET6 : AF_INET, text, &address) != 1)
        return NULL;
    MxRoute *route = route_new(domain);
    MxTarget *target = target_new(text, 0);
    g_array_append_vals(six ? target->six : target->four, &address, 1);
    route->targets = g_ptr_array_new();
    g_ptr_array_add(route->targets, target);
    sort_targets(route);
    return route;
}

/* --- answers ------------------------------------------------------------ */

static void forget(MxResolver *resolver, KeptAnswer *kept)
{
    g_queue_unlink(&resolver->used, &kept->link);
    g_hash_table_remove(resolver->memory, kept->route->answer.domain);
    route_unref(kept->route);
    g_free(kept);
}

static void lookup_free(MxLookup *lookup)
{
    g_queue_unlink(lookup->queue, &lookup->link);
    route_unref(lookup->route);
    g_free(lookup);
}

static void enqueue(MxLookup *lookup, GQueue *queue)
{
    if (lookup->queue)
        g_queue_unlink(lookup->queue, &lookup->link);
    lookup->queue = queue;
    g_queue_push_tail_link(queue, &lookup->link);
}

static void make_ready(MxLookup *lookup, MxRoute *route)
{
    lookup->route = route_ref(route);
    enqueue(lookup, &lookup->resolver->ready);
    event_active(lookup->resolver->ready_event, EV_TIMEOUT, 0);
}

/* Answer the lookups that are ready now. Lookups that the callbacks ask for have their turn later. */
static void on_ready(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    MxResolver *resolver = data;
    bool freed = false;
    resolver->freed = &freed;
    for (guint left = resolver->ready.length; left > 0 && !freed && resolver->ready.length > 0; left--) {
        MxLookup *lookup = resolver->ready.head->data;
        g_autoptr(MxRoute) route = route_ref(lookup->route);
        MxAnswer answer = route->answer;
        g_autofree MxHost *hosts = make_hosts(route, lookup->port, resolver->settings.address_limit, &answer.count);
        answer.hosts = hosts;
        MxDone *done = lookup->done;
        void *owner = lookup->data;
        lookup_free(lookup);
        done(&answer, owner);
    }
    if (freed)
        return;
    resolver->freed = NULL;
    if (resolver->ready.length > 0)
        event_active(resolver->ready_event, EV_TIMEOUT, 0);
}

/* --- questions ---------------------------------------------------------- */

static void start_waiting(MxResolver *resolver);

static void asking_free(Asking *asking)
{
    route_unref(asking->route);
    g_free(asking->trouble);
    g_free(asking->domain);
    g_free(asking);
}

/* The route is found: keep it, and give it to all who wait for it. */
static void finish(Asking *asking)
{
    MxResolver *resolver = asking->resolver;
    const MxSettings *settings = &resolver->settings;
    MxRoute *route = asking->route;
    resolver->running--;
    if (resolver->closing)
        return; /* mx_resolver_free() frees it */
    int64_t lifetime = CLAMP(asking->lifetime_us, settings->lifetime_min_us, settings->lifetime_max_us);
    if (asking->trouble) /* ask again soon for what is missing */
        lifetime = settings->lifetime_min_us;
    if (route->answer.outcome != MX_LATER) {
        route->answer.expires = clock_monotonic() + lifetime;
        KeptAnswer *old = g_hash_table_lookup(resolver->memory, route->answer.domain);
        if (old)
            forget(resolver, old);
        KeptAnswer *kept = g_new0(KeptAnswer, 1);
        kept->route = route_ref(route);
        kept->link.data = kept;
        g_queue_push_tail_link(&resolver->used, &kept->link);
        g_hash_table_insert(resolver->memory, (char *)route->answer.domain, kept);
        while (resolver->used.length > settings->cache_size)
            forget(resolver, resolver->used.head->data);
    }
    g_hash_table_remove(resolver->asking, asking->domain);
    while (asking->lookups.head)
        make_ready(asking->lookups.head->data, route);
    asking_free(asking);
    start_waiting(resolver);
}

/* A question of this domain has its answer. After the last one leave out the hosts that get no mail from here, and say
 * why when none is left. */
static void settle(Asking *asking)
{
    MxRoute *route = asking->route;
    const MxSettings *settings = &asking->resolver->settings;
    if (--asking->open > 0)
        return;
    if (!asking->resolver->closing)
        leave_own(route, settings->own);
    if (asking->resolver->closing || !route->targets) {
        finish(asking);
        return;
    }
    bool left = !settings->private_addresses && leave_private(route);
    guint homeless = 0;
    g_autoptr(GString) names = g_string_new(NULL);
    for (guint i = 0; i < route->targets->len; i++) {
        const MxTarget *target = route->targets->pdata[i];
        homeless += target->four->len + target->six->len == 0;
        g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", target->name);
    }
    if (homeless > 0) /* that one family is missing does not count, that a host has no address does */
        asking->lifetime_us = MIN(asking->lifetime_us, asking->absence_us);
    if (homeless < route->targets->len)
        ;
    else if (asking->trouble)
        refuse(route, MX_LATER, 450, "4.4.3", g_steal_pointer(&asking->trouble));
    else if (left)
        refuse_private(route);
    else if (asking->implicit)
        refuse(route, MX_NEVER, 550, "5.4.4",
               g_strdup_printf("%s has neither a mail host (MX) nor an address", asking->domain));
    else
        refuse(route, MX_NEVER, 550, "5.4.4",
               g_strdup_printf("no mail host of %s has an address (%s)", asking->domain, names->str));
    finish(asking);
}

static void on_addresses(const DnsAnswer *answer, void *data)
{
    static const struct in6_addr any; /* which reaches this very host */
    g_autofree HostQuestion *question = data;
    Asking *asking = question->asking;
    size_t size = question->six ? sizeof(struct in6_addr) : sizeof(struct in_addr);
    if (answer && answer->status == DNS_TROUBLE && !asking->trouble)
        asking->trouble = g_strdup_printf("look-up of the %s address of %s: %s", question->six ? "IPv6" : "IPv4",
                                          question->target->name, answer->problem);
    if (answer && answer->status == DNS_FOUND)
        asking->lifetime_us = MIN(asking->lifetime_us, answer->lifetime_us);
    else if (answer && answer->status != DNS_TROUBLE)
        asking->absence_us = MIN(asking->absence_us, answer->lifetime_us);
    for (guint i = 0; answer && i < answer->records->len; i++) {
        const DnsRecord *record = &g_array_index(answer->records, DnsRecord, i);
        if (memcmp(&record->address, &any, size) != 0)
            g_array_append_vals(question->six ? question->target->six : question->target->four, &record->address, 1);
    }
    settle(asking);
}

/* The hosts are known: ask for their addresses. */
static void take_hosts(Asking *asking, const DnsAnswer *answer)
{
    MxRoute *route = asking->route;
    route->targets = g_ptr_array_new();
    asking->implicit = answer->status == DNS_NONE;
    if (asking->implicit)
        g_ptr_array_add(route->targets, target_new(asking->domain, 0));
    for (guint i = 0; i < answer->records->len; i++) {
        const DnsRecord *record = &g_array_index(answer->records, DnsRecord, i);
        if (*record->host)
            g_ptr_array_add(route->targets, target_new(record->host, record->preference));
    }
    sort_targets(route);
    set_key(route);
    asking->open = 1;
    for (guint i = 0; i < route->targets->len; i++) {
        MxTarget *target = route->targets->pdata[i];
        for (int six = 1; six >= 0; six--) {
            if (!(asking->resolver->settings.families & (six ? MX_IPV6 : MX_IPV4)))
                continue;
            HostQuestion *question = g_new0(HostQuestion, 1);
            *question = (HostQuestion){asking, target, six};
            asking->open++;
            dns_ask(asking->resolver->dns, target->name, six ? DNS_AAAA : DNS_A, on_addresses, question);
        }
    }
    settle(asking);
}

static void on_mx(const DnsAnswer *answer, void *data)
{
    Asking *asking = data;
    MxRoute *route = asking->route;
    if (!answer) {
        finish(asking);
        return;
    }
    asking->lifetime_us = answer->lifetime_us;
    /* RFC 7505: one record, without a host. Beside others it means nothing. */
    bool null = answer->records->len == 1 && *g_array_index(answer->records, DnsRecord, 0).host == '\0';
    if (answer->status == DNS_TROUBLE)
        refuse(route, MX_LATER, 450, "4.4.3",
               g_strdup_printf("look-up of the mail hosts (MX) of %s: %s", asking->domain, answer->problem));
    else if (answer->status == DNS_UNKNOWN)
        refuse(route, MX_NEVER, 550, "5.4.4", g_strdup_printf("domain %s does not exist", asking->domain));
    else if (null)
        refuse(route, MX_NEVER, 556, "5.1.10", g_strdup_printf("%s takes no mail (null MX)", asking->domain));
    else {
        take_hosts(asking, answer);
        return;
    }
    finish(asking);
}

/* Answers may come at once, when no name server can be reached: no recursion, however many wait. */
static void start_waiting(MxResolver *resolver)
{
    if (resolver->starting)
        return;
    resolver->starting = true;
    while (resolver->running < resolver->settings.parallel && resolver->waiting.head) {
        Asking *asking = g_queue_pop_head(&resolver->waiting);
        resolver->running++;
        asking->route = route_new(asking->domain);
        asking->absence_us = resolver->settings.lifetime_max_us;
        dns_ask(resolver->dns, asking->domain, DNS_MX, on_mx, asking);
    }
    resolver->starting = false;
}

MxLookup *mx_lookup(MxResolver *resolver, const char *domain, uint16_t port, MxDone *done, void *data)
{
    MxLookup *lookup = g_new0(MxLookup, 1);
    *lookup = (MxLookup){.resolver = resolver, .done = done, .data = data, .port = port};
    lookup->link.data = lookup;
    resolver->figures.lookups++;

    /* A literal, or no domain at all, needs no question. */
    g_autofree char *normal = mx_domain_normal(domain);
    g_autoptr(MxRoute) made = normal ? NULL : read_literal(domain);
    if (made) {
        leave_own(made, (const char *const *)resolver->own);
    } else if (!normal) {
        made = route_new(domain);
        g_autofree char *shown = g_utf8_make_valid(domain, MIN((gssize)strlen(domain), 255));
        refuse(made, MX_NEVER, 501, "5.1.2", g_strdup_printf("\"%s\" is no domain name", shown));
    }
    if (made && made->targets && !resolver->settings.private_addresses && leave_private(made))
        refuse_private(made); /* it has one address */
    if (made) {
        made->answer.expires = clock_monotonic() + resolver->settings.lifetime_max_us;
        make_ready(lookup, made);
        return lookup;
    }

    KeptAnswer *kept = g_hash_table_lookup(resolver->memory, normal);
    if (kept && kept->route->answer.expires <= clock_monotonic()) {
        forget(resolver, kept);
        kept = NULL;
    }
    if (kept) {
        resolver->figures.cached++;
        g_queue_unlink(&resolver->used, &kept->link);
        g_queue_push_tail_link(&resolver->used, &kept->link);
        make_ready(lookup, kept->route);
        return lookup;
    }

    Asking *asking = g_hash_table_lookup(resolver->asking, normal);
    if (asking) {
        enqueue(lookup, &asking->lookups);
        return lookup;
    }
    asking = g_new0(Asking, 1);
    asking->resolver = resolver;
    asking->domain = g_steal_pointer(&normal);
    g_hash_table_insert(resolver->asking, asking->domain, asking);
    enqueue(lookup, &asking->lookups);
    g_queue_push_tail(&resolver->waiting, asking);
    start_waiting(resolver);
    return lookup;
}

void mx_cancel(MxLookup *lookup)
{
    lookup_free(lookup);
}

MxFigures mx_figures(const MxResolver *resolver)
{
    MxFigures figures = resolver->figures;
    figures.entries = resolver->used.length;
    figures.running = resolver->running;
    figures.waiting = resolver->waiting.length;
    return figures;
}

/* --- the whole ---------------------------------------------------------- */

MxResolver *mx_resolver_new(struct event_base *base, const MxSettings *settings, GError **error)
{
    g_autoptr(MxResolver) resolver = g_new0(MxResolver, 1);
    resolver->base = base;
    resolver->servers = g_strdup(settings->servers);
    resolver->own = g_strdupv((char **)settings->own);
    resolver->settings = (MxSettings){
        .servers = resolver->servers,
        .own = (const char *const *)resolver->own,
        .private_addresses = settings->private_addresses,
        .families = settings->families ? settings->families : MX_IPV4 | MX_IPV6,
        .cache_size = settings->cache_size ? settings->cache_size : 10000,
        .lifetime_min_us = settings->lifetime_min_us ? settings->lifetime_min_us : 5 * CLOCK_SECOND,
        .lifetime_max_us = settings->lifetime_max_us ? settings->lifetime_max_us : 86400 * CLOCK_SECOND,
        .address_limit = settings->address_limit ? settings->address_limit : 5,
        .parallel = settings->parallel ? settings->parallel : 200,
        .timeout_us = settings->timeout_us ? settings->timeout_us : 5 * CLOCK_SECOND,
        .tries = settings->tries ? settings->tries : 3,
    };
    resolver->memory = g_hash_table_new(g_str_hash, g_str_equal);
    resolver->asking = g_hash_table_new(g_str_hash, g_str_equal);
    resolver->ready_event = evtimer_new(base, on_ready, resolver);
    resolver->dns = dns_new(base, resolver->servers, resolver->settings.timeout_us, resolver->settings.tries, error);
    return resolver->dns ? g_steal_pointer(&resolver) : NULL;
}

void mx_resolver_free(MxResolver *resolver)
{
    if (!resolver)
        return;
    if (resolver->freed)
        *resolver->freed = true;
    resolver->closing = true;
    dns_free(resolver->dns);
    GHashTableIter iter;
    void *value;
    g_hash_table_iter_init(&iter, resolver->asking);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        Asking *asking = value;
        while (asking->lookups.head)
            lookup_free(asking->lookups.head->data);
        asking_free(asking);
    }
    while (resolver->ready.head)
        lookup_free(resolver->ready.head->data);
    while (resolver->used.head)
        forget(resolver, resolver->used.head->data);
    g_queue_clear(&resolver->waiting);
    g_hash_table_unref(resolver->asking);
    g_hash_table_unref(resolver->memory);
    event_free(resolver->ready_event);
    g_strfreev(resolver->own);
    g_free(resolver->servers);
    g_free(resolver);
}
