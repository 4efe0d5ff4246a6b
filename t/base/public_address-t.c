/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/public_address.h"

#include <arpa/inet.h>
#include <glib.h>
#include <netinet/in.h>

static bool is_public(const char *text)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
        return public_address((const struct sockaddr *)&four);
    g_assert_cmpint(inet_pton(AF_INET6, text, &six.sin6_addr), ==, 1);
    return public_address((const struct sockaddr *)&six);
}

static void test_own(void)
{
    static const char *const own[] = {
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.1", "169.254.169.254",
        "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.168.0.1", "198.18.0.1", "198.19.1.1", "224.0.0.1",
        "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::",
        "2002:a00:1::1", "64:ff9b:1::1", "100::1"};
    for (size_t at = 0; at < G_N_ELEMENTS(own); at++)
        if (is_public(own[at]) || public_address_text(own[at]))
            g_error("%s is taken for public", own[at]);
}

static void test_public(void)
{
    static const char *const others[] = {"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
                                         "126.0.0.1", "128.0.0.1", "169.253.0.1", "172.15.0.1", "172.32.0.1",
                                         "192.0.1.1", "192.167.0.1", "192.169.0.1", "198.17.0.1", "198.20.0.1",
                                         "223.255.255.255", "2606:4700::1111", "3fff::1", "::ffff:1.1.1.1",
                                         "64:ff9b::101:101", "2002:101:101::1"};
    for (size_t at = 0; at < G_N_ELEMENTS(others); at++)
        if (!is_public(others[at]) || !public_address_text(others[at]))
            g_error("%s is not taken for public", others[at]);
    struct sockaddr local = {.sa_family = AF_UNIX};
    g_assert_false(public_address(&local));
    g_assert_false(public_address_text("unix"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/public_address/own", test_own);
    g_test_add_func("/public_address/public", test_public);
    return g_test_run();
}
