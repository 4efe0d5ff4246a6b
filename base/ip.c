/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/ip.h"

#include <arpa/inet.h>
#include <glib.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

/* The special blocks of IPv4 (RFC 6890), each with the length of its prefix. */
static const struct {
    guint32 block;
    int length;
} special[] = {
    {0x00000000, 8},  /* 0.0.0.0/8 */
    {0x0a000000, 8},  /* 10.0.0.0/8 */
    {0x64400000, 10}, /* 100.64.0.0/10 */
    {0x7f000000, 8},  /* 127.0.0.0/8 */
    {0xa9fe0000, 16}, /* 169.254.0.0/16 */
    {0xac100000, 12}, /* 172.16.0.0/12 */
    {0xc0000000, 24}, /* 192.0.0.0/24 */
    {0xc0a80000, 16}, /* 192.168.0.0/16 */
    {0xc6120000, 15}, /* 198.18.0.0/15 */
    {0xe0000000, 3},  /* 224.0.0.0/4 and 240.0.0.0/4 */
};

static bool is_public_four(const unsigned char bytes[4])
{
    guint32 address;
    memcpy(&address, bytes, sizeof address);
    address = ntohl(address);
    for (size_t at = 0; at < G_N_ELEMENTS(special); at++)
        if ((address ^ special[at].block) >> (32 - special[at].length) == 0)
            return false;
    return true;
}

static bool is_public_six(const unsigned char bytes[16])
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff}, translated[12] = {0x00, 0x64, 0xff, 0x9b};
    if (memcmp(bytes, mapped, sizeof mapped) == 0 || memcmp(bytes, translated, sizeof translated) == 0)
        return is_public_four(bytes + 12);
    if (bytes[0] == 0x20 && bytes[1] == 0x02) /* 2002::/16 */
        return is_public_four(bytes + 2);
    return bytes[0] >> 5 == 1; /* 2000::/3, all that is given out */
}

bool ip_public(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return is_public_four((const unsigned char *)&((const struct sockaddr_in *)address)->sin_addr);
    return address->sa_family == AF_INET6 &&
           is_public_six(((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr);
}

/* The service may not ask for the interfaces (AF_NETLINK), so the kernel's choice of the source is asked for. */
bool ip_own(const struct sockaddr *address, socklen_t length)
{
    struct sockaddr_storage to = {0}, from = {0};
    socklen_t size = sizeof from;
    bool four = address->sa_family == AF_INET;
    if ((!four && address->sa_family != AF_INET6) || length > sizeof to)
        return false;
    memcpy(&to, address, length);
    int probe = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool known = probe >= 0 && connect(probe, (struct sockaddr *)&to, length) == 0 &&
                 getsockname(probe, (struct sockaddr *)&from, &size) == 0;
    if (probe >= 0)
        close(probe);
    const struct sockaddr_in *in = (void *)&to, *own = (void *)&from;
    const struct sockaddr_in6 *in6 = (void *)&to, *own6 = (void *)&from;
    return known && (four ? memcmp(&in->sin_addr, &own->sin_addr, sizeof in->sin_addr) == 0
                          : memcmp(&in6->sin6_addr, &own6->sin6_addr, sizeof in6->sin6_addr) == 0);
}

bool ip_public_text(const char *address)
{
    unsigned char four[4], six[16];
    return inet_pton(AF_INET, address, four) == 1 ? is_public_four(four)
                                                  : inet_pton(AF_INET6, address, six) == 1 && is_public_six(six);
}

char *ip_network(const char *address)
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
