/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Tells addresses of the public Internet from those that only this host or its own networks reach. */
#include <stdbool.h>
#include <sys/socket.h>

/* Is it an address that anybody may speak to? Not so: loopback, link-local, private, shared, multicast and reserved
 * addresses, also where one of IPv4 stands inside one of IPv6 (RFC 4291, 6052, 3056), and other families. */
bool public_address(const struct sockaddr *address);

/* The same of an address in text, of IPv4 or IPv6; text that is neither is not public. */
bool public_address_text(const char *address);
