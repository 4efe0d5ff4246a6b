/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The network of somebody who connects, for counting: all that one sender can speak from without effort is one. */

/* Name the network of an address in text: of 127.0.0.0/8 "127.0.0.1", of IPv6 its first 64 bits as
 * "20010db800000000/64", of an IPv4-mapped address the IPv4 address. Any other address, and text that is no address, is
 * returned as it is. g_free() */
char *peer_network(const char *address);
