/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* In which order the hosts of a next hop are tried, and how a transport reads its feedbacks. */
#include "runners/outgoing/transport_internal.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "t/suite.h"

#define ROUNDS 200
#define MINUTE (60 * CLOCK_SECOND)

static Host host(const char *name, unsigned preference, const char *address)
{
    Host made = {.name = (char *)name, .preference = preference};
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&made.address;
    struct sockaddr_in *four = (struct sockaddr_in *)&made.address;
    if (strchr(address, ':')) {
        six->sin6_family = AF_INET6;
        g_assert_cmpint(inet_pton(AF_INET6, address, &six->sin6_addr), ==, 1);
        made.length = sizeof *six;
    } else {
        four->sin_family = AF_INET;
        g_assert_cmpint(inet_pton(AF_INET, address, &four->sin_addr), ==, 1);
        made.length = sizeof *four;
    }
    return made;
}

static Nexthop *nexthop_of(const Host *hosts, size_t count)
{
    Nexthop *nexthop = g_new0(Nexthop, 1);
    nexthop->hosts = g_array_new(FALSE, TRUE, sizeof(Host));
    g_array_append_vals(nexthop->hosts, hosts, (guint)count);
    return nexthop;
}

static void nexthop_free(Nexthop *nexthop)
{
    g_array_unref(nexthop->hosts);
    g_free(nexthop);
}

static Host *nth(const Nexthop *nexthop, unsigned index)
{
    return &g_array_index(nexthop->hosts, Host, index);
}

static bool is_six(const Nexthop *nexthop, unsigned index)
{
    return nth(nexthop, index)->address.ss_family == AF_INET6;
}

/* Three addresses of each family: the second that is tried is always of the other one, and each may be first. */
static void families_take_turns(void)
{
    const Host hosts[] = {host("mx", 10, "2001:db8::1"), host("mx", 10, "192.0.2.1"), host("mx", 10, "2001:db8::2"),
                            host("mx", 10, "192.0.2.2"),   host("mx", 10, "2001:db8::3")};
    Nexthop *nexthop = nexthop_of(hosts, G_N_ELEMENTS(hosts));
    unsigned count, first[G_N_ELEMENTS(hosts)] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        g_autofree unsigned *order = nexthop_order(nexthop, 0, NULL, &count);
        g_assert_cmpuint(count, ==, 5);
        for (unsigned i = 0; i < count; i++)
            g_assert_true(is_six(nexthop, order[i]) == (i % 2 == 0));
        first[order[0]]++;
    }
    g_assert_true(first[0] > 0 && first[2] > 0 && first[4] > 0);
    nth(nexthop, 2)->bad_until = MINUTE; /* one has failed: the other family begins, and that one is the last */
    for (int round = 0; round < ROUNDS; round++) {
        g_autofree unsigned *order = nexthop_order(nexthop, 0, NULL, &count);
        g_assert_false(is_six(nexthop, order[0]));
        g_assert_true(is_six(nexthop, order[1]));
        g_assert_cmpuint(order[4], ==, 2);
    }
    nexthop_free(nexthop);
}

/* Of two hosts of one preference each is first at times, and its addresses stand together. */
static void hosts_share_the_load(void)
{
    const Host hosts[] = {host("a", 10, "2001:db8::1"), host("a", 10, "192.0.2.1"), host("b", 10, "2001:db8::2"),
                            host("b", 10, "192.0.2.2"), host("c", 20, "192.0.2.3")};
    Nexthop *nexthop = nexthop_of(hosts, G_N_ELEMENTS(hosts));
    unsigned count, first_a = 0;
    for (int round = 0; round < ROUNDS; round++) {
        g_autofree unsigned *order = nexthop_order(nexthop, 0, NULL, &count);
        first_a += order[0] == 0;
        g_assert_true((order[0] == 0 && order[1] == 1 && order[2] == 2 && order[3] == 3) ||
                      (order[0] == 2 && order[1] == 3 && order[2] == 0 && order[3] == 1));
        g_assert_cmpuint(order[4], ==, 4);
        g_autofree unsigned *avoiding = nexthop_order(nexthop, 0, "a", &count);
        g_assert_true(avoiding[0] == 2 && avoiding[1] == 3 && avoiding[2] == 4 && avoiding[3] == 0);
    }
    g_assert_true(first_a > 0 && first_a < ROUNDS);
    nexthop_free(nexthop);
}

/* The configuration with this feedback; NULL, with an error: it is no such. */
static Config *with_feedback(const char *text, GError **error)
{
    g_autofree char *path = NULL;
    g_autofree char *conf = g_strdup_printf("[transport.relay]\ndestination_concurrency_positive_feedback = %s\n",
                                            text);
    close(g_file_open_tmp("transport-XXXXXX", &path, NULL));
    g_assert_true(g_file_set_contents(path, conf, -1, NULL));
    Config *config = config_load(path, true, error);
    unlink(path);
    return config;
}

static void feedbacks(void)
{
    static const struct {
        const char *text;
        double value;
        FeedbackIndex index;
    } good[] = {{"1", 1, FEEDBACK_CONSTANT},
                {"0.25", .25, FEEDBACK_CONSTANT},
                {"1/5", .2, FEEDBACK_CONSTANT},
                {"1 / 4", .25, FEEDBACK_CONSTANT},
                {"0", 0, FEEDBACK_CONSTANT},
                {"1/concurrency", 1, FEEDBACK_CONCURRENCY},
                {"0.5/sqrt_concurrency", .5, FEEDBACK_SQRT_CONCURRENCY}};
    struct event_base *base = event_base_new();
    for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(Config) config = with_feedback(good[i].text, &error);
        g_assert_no_error(error);
        const Backoff backoff = {.min_us = MINUTE, .max_us = MINUTE};
        TransportShared shared = {.base = base, .config = config, .instances = 1, .backoff = &backoff};
        Transport *transport = transport_new(&shared, "relay", &error);
        g_assert_no_error(error);
        const Feedback *read = &transport->limits.window.positive;
        g_assert_cmpfloat_with_epsilon(read->value, good[i].value, 1e-12);
        g_assert_cmpint(read->index, ==, good[i].index);
        transport_free(transport);
    }
    event_base_free(base);
    static const char *const bad[] = {"2", "-1", "x", "1/", "1/0", "1/x", "1/1/1", "nan", "1e400", "3/2", "1x"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(with_feedback(bad[i], &error));
        g_assert_nonnull(strstr(error->message, "x/sqrt_concurrency"));
    }
}

SUITE("outgoing/transport")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nexthop/families take turns", families_take_turns);
    g_test_add_func("/nexthop/hosts share the load", hosts_share_the_load);
    g_test_add_func("/transport/feedbacks", feedbacks);
    return g_test_run();
}
