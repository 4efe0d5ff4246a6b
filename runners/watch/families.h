/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find out over which kinds of address mail can go to the relay. Where the relay's name has addresses of IPv4 and of
 * IPv6, and this machine has a route to both, mails go over each by turns. A kind over which one came back stays in
 * use when the route is gone, because that is a fault; it ends when the name has no such address any more, or by
 * [watch] both_families. In all other cases (one kind, a socket on this host, MX lookups) there is one family, named
 * "", and the runner out chooses.
 */
#include <stdbool.h>

#include "base/config.h"

typedef struct Families {
    unsigned count;       /* 1 or 2 */
    const char *names[2]; /* "ipv4" and "ipv6", or "" */
} Families;

/* Ask for the relay of mail to the domain. proven: of "ipv4", "ipv6", over which mail came back before; ended by NULL.
 * While the name cannot be looked up, *families stays as it is. Waits for the answer of the name servers. */
void families_look(const Config *config, const char *domain, const char *const *proven, Families *families);
