/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Judge addresses of the network: which of them are public, and which belong to one sender. */
#include <stdbool.h>
#include <sys/socket.h>

/* Is it an address that anybody may speak to? Not so: loopback, link-local, private, shared, multicast and reserved
 * addresses, also where one of IPv4 stands inside one of IPv6 (RFC 4291, 6052, 3056), and other families. */
bool ip_public(const struct sockaddr *address);

/* Is it an address of this host itself, on any of its interfaces, as it is now? It is when a packet to it would leave
 * from the very same address. Nothing is sent. A public address that a router translates to this host is not known. */
bool ip_own(const struct sockaddr *address, socklen_t length);

/* Is an address in text, of IPv4 or IPv6, one that ip_public() calls public? Text that is no address is not. */
bool ip_public_text(const char *address);

/* Name the network of an address in text, for counting, because one sender can speak from any address of it: of
 * 127.0.0.0/8 "127.0.0.1", of IPv6 its first 64 bits as "20010db800000000/64", of an IPv4-mapped address the IPv4
 * address. Any other address, and text that is no address, is returned as it is. g_free() */
char *ip_network(const char *address);
