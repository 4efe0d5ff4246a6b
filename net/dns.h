/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Ask name servers (c-ares) on a libevent loop, and tell the lifetimes of the answers, which c-ares keeps to itself.
 * The hosts file plays no part: mail is routed by DNS alone.
 */
#include <event2/event.h>
#include <glib.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Dns Dns;

typedef enum DnsType { DNS_A, DNS_AAAA, DNS_MX, DNS_TXT, DNS_CNAME, DNS_PTR } DnsType;

typedef enum DnsStatus {
    DNS_FOUND,   /* at least one record of the type */
    DNS_NONE,    /* the name exists and has no such record */
    DNS_UNKNOWN, /* the name does not exist (NXDOMAIN) */
    DNS_TROUBLE, /* no server gave an answer: SERVFAIL, refused, time-out, nonsense */
} DnsStatus;

typedef struct DnsRecord {
    uint16_t preference; /* DNS_MX */
    char *host;          /* DNS_MX, DNS_CNAME, DNS_PTR: lower case without the last dot; "" for the root (null MX) */
    char *text;          /* DNS_TXT, its strings joined; without the zero bytes that a server may put there */
    struct in6_addr address; /* DNS_AAAA; DNS_A: its first 4 bytes */
} DnsRecord;

typedef struct DnsAnswer {
    DnsStatus status;
    const char *problem;  /* DNS_TROUBLE: for people */
    GArray *records;      /* of DnsRecord, in the order of the answer; empty unless DNS_FOUND */
    int64_t lifetime_us;  /* the shortest TTL involved; without records that of the zone's SOA; 0 when unknown */
} DnsAnswer;

/* Take the answer. It is called exactly once for each question, from the loop or from dns_ask() itself; answer lives
 * until it returns. answer NULL: dns_free() was called. */
typedef void DnsDone(const DnsAnswer *answer, void *data);

/* Make a Dns that asks these servers: HOST[:PORT] or [IPv6]:PORT, separated by commas; NULL: those of /etc/resolv.conf.
 * timeout_us is how long the first try of a question takes at most. Each try goes through all servers, and each further
 * one waits twice as long. FAIL_CONFIG: a server is no address. dns_free() answers all open questions with NULL. */
Dns *dns_new(struct event_base *base, const char *servers, int64_t timeout_us, unsigned tries, GError **error);
void dns_free(Dns *dns);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Dns, dns_free)

/* Ask for the records of one type that a name has; done gets the answer. */
void dns_ask(Dns *dns, const char *name, DnsType type, DnsDone *done, void *data);

/* Read the DNS message of length bytes as the answer to a question of that type: the records and the lifetime. Its
 * response code is not looked at, so an unknown name gives DNS_NONE. DNS_TROUBLE: it is no DNS message. Free with
 * dns_answer_clear(). */
void dns_answer_read(DnsAnswer *answer, const unsigned char *message, size_t length, DnsType type);
void dns_answer_clear(DnsAnswer *answer);

/* --- for programs that have nothing else to do meanwhile: each call waits for its answer --- */

typedef struct DnsWait DnsWait;

/* Make a DnsWait; servers, timeout_us, tries and the errors are those of dns_new(). */
DnsWait *dns_wait_new(const char *servers, int64_t timeout_us, unsigned tries, GError **error);
void dns_wait_free(DnsWait *wait);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DnsWait, dns_wait_free)

/* Ask for the records of one type that a name has, wait, and fill *answer; free it with dns_answer_clear(). */
void dns_wait_ask(DnsWait *wait, const char *name, DnsType type, DnsAnswer *answer);

/* Ask for the names of an address of IPv4 or IPv6 in text (DNS_PTR). False: it is no address. */
bool dns_wait_ask_names(DnsWait *wait, const char *address, DnsAnswer *answer);
