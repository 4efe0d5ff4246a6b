/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/ip.h"
#include "t/suite.h"

#include <arpa/inet.h>
#include <glib.h>
#include <netinet/in.h>

static bool is_public(const char *text)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
        return ip_public((const struct sockaddr *)&four);
    g_assert_cmpint(inet_pton(AF_INET6, text, &six.sin6_addr), ==, 1);
    return ip_public((const struct sockaddr *)&six);
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
        if (is_public(own[at]) || ip_public_text(own[at]))
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
        if (!is_public(others[at]) || !ip_public_text(others[at]))
            g_error("%s is not taken for public", others[at]);
    struct sockaddr local = {.sa_family = AF_UNIX};
    g_assert_false(ip_public(&local));
    g_assert_false(ip_public_text("unix"));
}

/* Which addresses of the network are counted as one. */
static void test_networks(void)
{
    static const char *const cases[][2] = {
        {"127.0.0.1", "127.0.0.1"},
        {"127.9.8.7", "127.0.0.1"},
        {"::ffff:127.1.2.3", "127.0.0.1"},
        {"128.0.0.1", "128.0.0.1"},
        {"192.0.2.1", "192.0.2.1"},
        {"192.0.2.2", "192.0.2.2"},
        {"::ffff:192.0.2.1", "192.0.2.1"},
        {"2001:db8::1", "20010db800000000/64"},
        {"2001:db8:0:0:ffff:ffff:ffff:ffff", "20010db800000000/64"},
        {"2001:DB8:0:1::1", "20010db800000001/64"},
        {"unix", "unix"},
        {"", ""},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *network = ip_network(cases[at][0]);
        g_test_message("%s", cases[at][0]);
        g_assert_cmpstr(network, ==, cases[at][1]);
    }
}

/* An address of this host, in each form, and one of another host, which is not asked. */
static void test_of_this_host(void)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(80)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(80)};
    struct sockaddr other = {.sa_family = AF_UNIX};
    for (int at = 1; at < 3; at++) {
        four.sin_addr.s_addr = htonl(0x7f000000 + (guint32)at);
        g_assert_cmpint(ip_own((struct sockaddr *)&four, sizeof four), ==, at == 1);
    }
    four.sin_addr.s_addr = htonl(0xcb007107);
    g_assert_false(ip_own((struct sockaddr *)&four, sizeof four));
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &six.sin6_addr);
    g_assert_true(ip_own((struct sockaddr *)&six, sizeof six));
    inet_pton(AF_INET6, "2001:db8::1", &six.sin6_addr);
    g_assert_false(ip_own((struct sockaddr *)&six, sizeof six));
    g_assert_false(ip_own(&other, sizeof other));
}

SUITE("ip")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ip/own", test_own);
    g_test_add_func("/ip/of this host", test_of_this_host);
    g_test_add_func("/ip/public", test_public);
    g_test_add_func("/ip/networks", test_networks);
    return g_test_run();
}
