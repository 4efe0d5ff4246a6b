/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test what refusals are about, and which way a domain goes. */
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "runners/outgoing/reply_table.h"
#include "runners/outgoing/routes.h"
#include "t/suite.h"

static const struct {
    const char *reply;
    ReplyScope scope;
} known[] = {
    {"421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to user complaints", REPLY_GROUP},
    {"421 4.7.28 Our system has detected an unusual rate of unsolicited mail", REPLY_GROUP},
    {"450 4.2.1 The user you are trying to contact is receiving mail at a rate that prevents more", REPLY_RECIPIENT},
    {"452 4.2.2 The email account that you tried to reach is over quota", REPLY_RECIPIENT},
    {"452 4.5.3 Too many recipients", REPLY_TRANSACTION},
    {"552 5.5.3 too many", REPLY_TRANSACTION},
    {"452 too many recipients", REPLY_TRANSACTION},
    {"421 Too many concurrent SMTP connections", REPLY_CONNECTIONS},
    {"450 4.7.1 too many connections from your host", REPLY_CONNECTIONS},
    {"451 4.7.650 The mail server [192.0.2.1] has been temporarily rate limited", REPLY_GROUP},
    {"451 Resources temporarily unavailable. Please try again later", REPLY_SITE},
    {"421 4.3.2 too many messages in one session", REPLY_SESSION},
    {"421 4.7.0 mx.example.com Error: too many errors", REPLY_SESSION},
    {"452 4.5.3 too many recipients in this session", REPLY_SESSION},
    {"421 too many unrecognised commands on this connection", REPLY_SITE},
    {"451 4.7.0 temporary authentication failure", REPLY_MESSAGE},
    {"421 4.3.2 Service shutting down", REPLY_SITE},
    {"421 closing", REPLY_SITE},
    {"451 4.3.0 queue file write error", REPLY_SITE},
    {"451 4.4.3 cannot look it up", REPLY_SITE},
    {"450 4.7.1 <a@example.com>: Recipient address rejected: Greylisted", REPLY_RECIPIENT},
    {"450 4.1.1 mailbox unknown for now", REPLY_MESSAGE},
    {"450 4.7.25 client host rejected", REPLY_MESSAGE},
    {"451 4.7.1 too many messages from your host, slow down", REPLY_GROUP},
};

static void built_in(void)
{
    g_autoptr(ReplyTable) table = reply_table_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
        g_test_message("%s", known[i].reply);
        g_assert_cmpint(reply_table_look(table, known[i].reply), ==, known[i].scope);
    }
}

static Config *load(const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("replies-XXXXXX", &path, &error);
    g_assert_no_error(error);
    close(fd);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    Config *config = config_load(path, true, &error);
    unlink(path);
    g_assert_no_error(error);
    return config;
}

/* The site's rules come first, in their order. */
static void configured(void)
{
    g_autoptr(Config) config = load("[reply.quota]\nmatch = over quota\nscope = message\n"
                                    "[reply.shy]\nmatch = ^450 4\\.1\\.\nscope = site\n"
                                    "[reply.fast]\nmatch = NOT SO FAST\n");
    g_autoptr(ReplyTable) table = reply_table_new(config);
    g_assert_cmpint(reply_table_look(table, "452 4.2.2 over quota"), ==, REPLY_MESSAGE);
    g_assert_cmpint(reply_table_look(table, "450 4.1.1 unknown for now"), ==, REPLY_SITE);
    g_assert_cmpint(reply_table_look(table, "450 not so fast"), ==, REPLY_GROUP);
}

static void *find_letter(void *data, const char *name)
{
    char *at = strstr(data, name);
    return at;
}

static void *look(const Routes *routes, const char *domain)
{
    return routes_look(routes, domain, strlen(domain));
}

static void table(void)
{
    char names[] = "relay slow direct";
    g_autoptr(Config) config = load("[transport.slow]\n[transport.direct]\n[out]\n"
                                    "transport_table = Example.com:slow .example.com:direct,\n"
                                    "  .sub.example.com:relay, .org:direct\n");
    g_autoptr(Routes) routes = routes_new(config, find_letter, names);
    g_assert_nonnull(routes);
    g_assert_true(look(routes, "example.com") == strstr(names, "slow"));
    g_assert_true(look(routes, "EXAMPLE.com") == strstr(names, "slow"));
    g_assert_true(look(routes, "a.example.com") == strstr(names, "direct"));
    g_assert_true(look(routes, "b.a.example.com") == strstr(names, "direct"));
    g_assert_true(look(routes, "a.sub.example.com") == names);
    g_assert_true(look(routes, "sub.example.com") == strstr(names, "direct"));
    g_assert_true(look(routes, "x.org") == strstr(names, "direct"));
    g_assert_null(look(routes, "org"));
    g_assert_null(look(routes, "example.net"));
    g_assert_null(look(routes, ""));
    g_assert_null(routes_look(routes, "example.community", 16));
}

SUITE("outgoing/replies")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/replies/built in", built_in);
    g_test_add_func("/replies/configured", configured);
    g_test_add_func("/routes/table", table);
    return g_test_run();
}
