/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/dns.h"

#include <ares.h>
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <resolv.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"

/* Questions under way at a time. More would overflow the buffers of the sockets on the way, and what is lost there is
 * asked again only after a time-out. */
#define ASKED_MAX 100

struct Dns {
    struct event_base *base;
    ares_channel channel;
    struct event *timer;
    GHashTable *sockets; /* descriptor -> struct event */
    GQueue waiting;      /* of Question */
    unsigned asked;      /* under way */
    int64_t patience;    /* us; how long a question goes on being asked */
    bool asking;
};

typedef struct Question {
    Dns *dns;
    char *name;
    DnsType type;
    DnsDone *done;
    void *data;
    int64_t until; /* clock_monotonic(); 0: not asked yet */
} Question;

static const int types[] = {
    [DNS_A] = ns_t_a,     [DNS_AAAA] = ns_t_aaaa,   [DNS_MX] = ns_t_mx,
    [DNS_TXT] = ns_t_txt, [DNS_CNAME] = ns_t_cname, [DNS_PTR] = ns_t_ptr,
};

/* --- reading an answer -------------------------------------------------- */

static void record_clear(void *record)
{
    g_free(((DnsRecord *)record)->host);
    g_free(((DnsRecord *)record)->text);
}

void dns_answer_clear(DnsAnswer *answer)
{
    g_clear_pointer(&answer->records, g_array_unref);
}

/* Read the data of one record. False: it is malformed. */
static bool read_record(DnsRecord *record, const ns_msg *message, const ns_rr *from, DnsType type)
{
    const unsigned char *at = ns_rr_rdata(*from), *end = at + ns_rr_rdlen(*from);
    if (type == DNS_A || type == DNS_AAAA) {
        size_t length = type == DNS_A ? sizeof(struct in_addr) : sizeof(struct in6_addr);
        if ((size_t)(end - at) != length)
            return false;
        memcpy(&record->address, at, length);
        return true;
    }
    if (type == DNS_TXT) { /* strings of up to 255 bytes, each after its length */
        g_autoptr(GString) text = g_string_new(NULL);
        for (; at < end; at += *at + 1) {
            if (*at > end - at - 1)
                return false;
            for (unsigned octet = 1; octet <= *at; octet++)
                if (at[octet] != 0)
                    g_string_append_c(text, (char)at[octet]);
        }
        record->text = g_string_free(g_steal_pointer(&text), FALSE);
        return true;
    }
    /* A name, of a mail host behind its preference. */
    char host[NS_MAXDNAME];
    size_t before = type == DNS_MX ? NS_INT16SZ : 0;
    if ((size_t)(end - at) <= before ||
        dn_expand(ns_msg_base(*message), ns_msg_end(*message), at + before, host, sizeof(host)) < 0)
        return false;
    record->host = g_ascii_strdown(host, -1);
    if (type == DNS_MX)
        record->preference = (uint16_t)ns_get16(at);
    return true;
}

void dns_answer_read(DnsAnswer *answer, const unsigned char *octets, size_t length, DnsType type)
{
    *answer = (DnsAnswer){.status = DNS_NONE, .records = g_array_new(FALSE, FALSE, sizeof(DnsRecord))};
    g_array_set_clear_func(answer->records, record_clear);
    ns_msg message;
    if (!octets || length > G_MAXUINT16 || ns_initparse(octets, (int)length, &message) != 0) {
        answer->status = DNS_TROUBLE;
        answer->problem = "the answer is no DNS message";
        return;
    }
    uint32_t shortest = G_MAXUINT32;
    ns_rr from;
    for (int i = 0; i < ns_msg_count(message, ns_s_an) && ns_parserr(&message, ns_s_an, i, &from) == 0; i++) {
        shortest = MIN(shortest, ns_rr_ttl(from)); /* those of aliases on the way, too */
        DnsRecord record = {0};
        if (ns_rr_class(from) == ns_c_in && (int)ns_rr_type(from) == types[type] &&
            read_record(&record, &message, &from, type))
            g_array_append_val(answer->records, record);
    }
    if (answer->records->len > 0) {
        answer->status = DNS_FOUND;
        answer->lifetime_us = shortest * CLOCK_SECOND;
        return;
    }
    /* RFC 2308: how long the absence lasts is in the zone's SOA, the smaller of its TTL and its last field. */
    for (int i = 0; i < ns_msg_count(message, ns_s_ns) && ns_parserr(&message, ns_s_ns, i, &from) == 0; i++) {
        if (ns_rr_type(from) != ns_t_soa || ns_rr_rdlen(from) < NS_INT32SZ)
            continue;
        uint32_t minimum = (uint32_t)ns_get32(ns_rr_rdata(from) + ns_rr_rdlen(from) - NS_INT32SZ);
        answer->lifetime_us = MIN(minimum, ns_rr_ttl(from)) * CLOCK_SECOND;
        return;
    }
}

/* --- asking ------------------------------------------------------------- */

static void set_timer(Dns *dns)
{
    struct timeval wait;
    if (ares_timeout(dns->channel, NULL, &wait))
        event_add(dns->timer, &wait);
    else
        event_del(dns->timer);
}

static void question_free(Question *question)
{
    g_free(question->name);
    g_free(question);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Question, question_free)

static void ask_more(Dns *dns);

static void on_answer(Question *asked, int status, const unsigned char *octets, size_t length)
{
    g_autoptr(Question) question = asked;
    question->dns->asked--;
    if (status == ARES_EDESTRUCTION) {
        question->done(NULL, question->data);
        return;
    }
    /* c-ares 1.34 shortens the time-out that it was given when earlier answers came soon. */
    if (status == ARES_ETIMEOUT && clock_monotonic() < question->until) {
        g_queue_push_head(&asked->dns->waiting, g_steal_pointer(&question));
        ask_more(asked->dns);
        return;
    }
    DnsAnswer answer = {0};
    bool heard = status == ARES_SUCCESS || status == ARES_ENODATA || status == ARES_ENOTFOUND;
    dns_answer_read(&answer, heard ? octets : NULL, heard && octets ? length : 0, question->type);
    if (status == ARES_ENOTFOUND || status == ARES_EBADNAME)
        answer.status = DNS_UNKNOWN;
    else if (status == ARES_ECONNREFUSED || status == ARES_ESERVFAIL)
        answer.problem = "no name server has an answer now (SERVFAIL, or none can be reached)";
    else if (!heard)
        answer.problem = ares_strerror(status);
    question->done(&answer, question->data);
    dns_answer_clear(&answer);
    ask_more(question->dns);
}

#ifdef HAVE_ARES_QUERY_DNSREC
static void on_record(void *question, ares_status_t status, size_t timeouts, const ares_dns_record_t *record)
{
    (void)timeouts;
    unsigned char *octets = NULL;
    size_t length = 0;
    if (record && ares_dns_write(record, &octets, &length) != ARES_SUCCESS)
        octets = NULL;
    on_answer(question, (int)status, octets, length);
    ares_free_string(octets);
}

static void ask(Question *question)
{
    ares_query_dnsrec(question->dns->channel, question->name, ARES_CLASS_IN,
                      (ares_dns_rec_type_t)types[question->type], on_record, question, NULL);
}
#else
static void on_octets(void *question, int status, int timeouts, unsigned char *octets, int length)
{
    (void)timeouts;
    on_answer(question, status, octets, (size_t)length);
}

static void ask(Question *question)
{
    ares_query(question->dns->channel, question->name, ns_c_in, types[question->type], on_octets, question);
}
#endif

/* A question may be answered at once, from within. */
static void ask_more(Dns *dns)
{
    if (dns->asking)
        return;
    dns->asking = true;
    while (dns->asked < ASKED_MAX && dns->waiting.head) {
        Question *question = g_queue_pop_head(&dns->waiting);
        dns->asked++;
        if (question->until == 0)
            question->until = clock_monotonic() + dns->patience;
        ask(question);
    }
    dns->asking = false;
    set_timer(dns);
}

void dns_ask(Dns *dns, const char *name, DnsType type, DnsDone *done, void *data)
{
    Question *question = g_new0(Question, 1);
    *question = (Question){.dns = dns, .name = g_strdup(name), .type = type, .done = done, .data = data};
    g_queue_push_tail(&dns->waiting, question);
    ask_more(dns);
}

/* --- the loop ----------------------------------------------------------- */

static void on_socket(evutil_socket_t fd, short what, void *data)
{
    Dns *dns = data;
    ares_process_fd(dns->channel, what & EV_READ ? fd : ARES_SOCKET_BAD, what & EV_WRITE ? fd : ARES_SOCKET_BAD);
    set_timer(dns);
}

static void on_timer(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    Dns *dns = data;
    ares_process_fd(dns->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    set_timer(dns);
}

/* c-ares tells what it waits for on a descriptor; nothing: it is about to close it. */
static void on_socket_state(void *data, ares_socket_t fd, int readable, int writable)
{
    Dns *dns = data;
    short what = (short)((readable ? EV_READ : 0) | (writable ? EV_WRITE : 0));
    g_hash_table_remove(dns->sockets, GINT_TO_POINTER(fd));
    if (what == 0)
        return;
    struct event *event = event_new(dns->base, fd, what | EV_PERSIST, on_socket, dns);
    event_add(event, NULL);
    g_hash_table_insert(dns->sockets, GINT_TO_POINTER(fd), event);
}

Dns *dns_new(struct event_base *base, const char *servers, int64_t timeout_us, unsigned tries, GError **error)
{
    int status = ares_library_init(ARES_LIB_INIT_ALL);
    g_autoptr(Dns) dns = g_new0(Dns, 1);
    dns->base = base;
    dns->patience = timeout_us * ((INT64_C(1) << MIN(tries, 16)) - 1); /* each try waits twice as long */
    dns->timer = evtimer_new(base, on_timer, dns);
    dns->sockets = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)event_free);
    struct ares_options options = {
        .flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_STAYOPEN,
        .timeout = (int)(timeout_us / 1000),
        .tries = (int)tries,
        .sock_state_cb = on_socket_state,
        .sock_state_cb_data = dns,
    };
    int which = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB;
#ifdef ARES_OPT_QUERY_CACHE
    which |= ARES_OPT_QUERY_CACHE; /* for no time: who asks keeps the answers */
#endif
    if (status == ARES_SUCCESS)
        status = ares_init_options(&dns->channel, &options, which);
    if (status != ARES_SUCCESS) {
        dns->channel = NULL;
        fail(error, FAIL_LATER, "DNS: %s", ares_strerror(status));
        return NULL;
    }
    if (servers && ares_set_servers_ports_csv(dns->channel, servers) != ARES_SUCCESS) {
        fail(error, FAIL_CONFIG, "name servers \"%s\": wanted are addresses like 192.0.2.1:53 or [2001:db8::1]:53",
             servers);
        return NULL;
    }
    return g_steal_pointer(&dns);
}

void dns_free(Dns *dns)
{
    if (!dns)
        return;
    if (dns->channel)
        ares_destroy(dns->channel); /* every question gets its call */
    for (Question *question; (question = g_queue_pop_head(&dns->waiting)) != NULL; question_free(question))
        question->done(NULL, question->data);
    g_hash_table_unref(dns->sockets);
    event_free(dns->timer);
    ares_library_cleanup();
    g_free(dns);
}

/* --- waiting ------------------------------------------------------------ */

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

static void on_waited(const DnsAnswer *answer, void *data)
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
    dns_ask(wait->dns, name, type, on_waited, &waiting);
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
