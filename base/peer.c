/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/peer.h"

#include <arpa/inet.h>
#include <glib.h>
#include <netinet/in.h>
#include <string.h>

char *peer_network(const char *address)
{
    struct in6_addr six;
    struct in_addr four;
    char text[INET6_ADDRSTRLEN];
    if (inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_V4MAPPED(&six))
        memcpy(&four, six.s6_addr + 12, sizeof four);
    else if (inet_pton(AF_INET6, address, &six) == 1)
        return g_strdup_printf("%016" G_GINT64_MODIFIER "x/64", GUINT64_FROM_BE(*(const guint64 *)(const void *)&six));
    else if (inet_pton(AF_INET, address, &four) != 1)
        return g_strdup(address);
    if (ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET)
        four.s_addr = htonl(INADDR_LOOPBACK);
    return g_strdup(inet_ntop(AF_INET, &four, text, sizeof text));
}
