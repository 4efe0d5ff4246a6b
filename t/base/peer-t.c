/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Which addresses of the network are counted as one. */
#include "base/peer.h"

#include <glib.h>

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
        g_autofree char *network = peer_network(cases[at][0]);
        g_test_message("%s", cases[at][0]);
        g_assert_cmpstr(network, ==, cases[at][1]);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/peer/networks", test_networks);
    return g_test_run();
}
