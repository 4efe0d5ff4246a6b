/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Ask name servers as net/dns.h does, in programs that have nothing else to do meanwhile: each call waits for its
 * answer.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/dns.h"

typedef struct DnsWait DnsWait;

/* Make a DnsWait; servers, timeout_us, tries and the errors are those of dns_new(). */
DnsWait *dns_wait_new(const char *servers, int64_t timeout_us, unsigned tries, GError **error);
void dns_wait_free(DnsWait *wait);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DnsWait, dns_wait_free)

/* Ask for the records of one type that a name has, wait, and fill *answer; free it with dns_answer_clear(). */
void dns_wait_ask(DnsWait *wait, const char *name, DnsType type, DnsAnswer *answer);

/* Ask for the names of an address of IPv4 or IPv6 in text (DNS_PTR). False: it is no address. */
bool dns_wait_ask_names(DnsWait *wait, const char *address, DnsAnswer *answer);
