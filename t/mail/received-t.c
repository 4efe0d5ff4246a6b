/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/received.h"
#include "t/suite.h"

#include <glib.h>

static void test_client(void)
{
    static const struct {
        const char *value, *client;
    } cases[] = {
        {"from a.example (a.example [192.0.2.1]) by mx.example (Postfix) with ESMTP id X; Mon", "192.0.2.1"},
        {"from a.example (unknown [IPv6:2001:db8::1])\r\n\tby mx.example (Postfix); Mon, 1 Jan 2026", "2001:db8::1"},
        {"from [192.168.1.9] (dsl.example [192.0.2.1]) by mx.example (Postfix); x", "192.0.2.1"},
        {"from dsl.example ([192.0.2.1]:4711 helo=[198.51.100.7]) by mx.example with esmtp (Exim 4.98); x",
         "192.0.2.1"},
        {"from [192.0.2.1] (helo=[198.51.100.7]) by mx.example with smtp (Exim 4.98); x", "192.0.2.1"},
        /* The client's words about itself, and those in its certificate, are not believed. */
        {"from x [198.51.100.7] by y (dsl.example [192.0.2.1]) by mx.example (Postfix); x", "192.0.2.1"},
        {"from x (dsl.example [192.0.2.1]) (Client CN \"by [198.51.100.7]\", Issuer \"x\") by mx.example; x",
         "192.0.2.1"},
        {"from localhost (localhost [127.0.0.1]) by mx.example (Postfix); x", NULL},
        {"from localhost (localhost [IPv6:::1]) by mx.example (Postfix); x", NULL},
        {"by mx.example (Postfix, from userid 0) id X; x", NULL},
        {"from x (y [not an address]) by z; x", NULL},
        {"from x (y [192.0.2.1", NULL},
        {"from x (]", NULL},
        {"from", NULL},
        {"", NULL},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *client = received_client(cases[at].value);
        g_assert_cmpstr(client, ==, cases[at].client);
    }
}

SUITE("received")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mail/received/client", test_client);
    return g_test_run();
}
