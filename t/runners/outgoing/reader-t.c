/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* How many recipients are in memory: the worked examples; and which way a domain goes. */
#include "runners/outgoing/reader.h"

#include <string.h>

#include "base/clock.h"
#include "t/config_text.h"
#include "t/suite.h"

#define START (1000 * CLOCK_SECOND)

static Pool defaults(void)
{
    return (Pool){.limit = 20000, .extra = 1000, .minimum = 10, .refill_limit = 100,
                  .refill_delay = 5 * CLOCK_SECOND};
}

/* One delivery alone, of `unread` recipients. */
typedef struct Alone {
    Pool pool;
    PoolView view;
    size_t unread;
} Alone;

static size_t read_once(Alone *alone, int64_t now)
{
    size_t count = MIN(pool_may_read(&alone->pool, &alone->view, now), alone->unread);
    alone->unread -= count;
    alone->view.in_core += count;
    alone->pool.in_core += count;
    if (count > 0) {
        alone->view.last_read = now;
        alone->view.begun = true;
    }
    return count;
}

static void ended(Alone *alone, size_t recipients)
{
    alone->view.in_core -= recipients;
    alone->pool.in_core -= recipients;
}

/* 12,000 recipients: all in memory after the first read and two selections. */
static void example_a(void)
{
    Alone alone = {.pool = defaults(), .view = {.first = true, .waits = true}, .unread = 12000};
    g_assert_cmpuint(read_once(&alone, START), ==, 5000);
    g_assert_cmpuint(read_once(&alone, START), ==, 5000);
    g_assert_cmpuint(read_once(&alone, START), ==, 2000);
    g_assert_cmpuint(alone.unread, ==, 0);
    /* The rest of the pool is there for the next one. */
    PoolView next = {.in_core = 0, .first = true, .waits = true, .begun = true, .last_read = START};
    g_assert_cmpuint(pool_may_read(&alone.pool, &next, START), ==, 5000);
    alone.pool.in_core += 5000;
    next.in_core = 5000;
    g_assert_cmpuint(pool_may_read(&alone.pool, &next, START), ==, 20000 - 12000 + 10 - 5000);
}

/* 60,000: 20,000 in four reads; then ten after the delay, and about a hundred when two transactions of fifty ended. */
static void example_b(void)
{
    Alone alone = {.pool = defaults(), .view = {.first = true, .waits = true}, .unread = 60000};
    for (int i = 0; i < 4; i++)
        g_assert_cmpuint(read_once(&alone, START), ==, 5000);
    g_assert_cmpuint(read_once(&alone, START), ==, 0);
    g_assert_cmpuint(read_once(&alone, START + 5 * CLOCK_SECOND - 1), ==, 0);
    g_assert_cmpuint(read_once(&alone, START + 5 * CLOCK_SECOND), ==, 10);
    for (int i = 0; i < 20; i++) {
        ended(&alone, 50);
        g_assert_cmpuint(read_once(&alone, START + 6 * CLOCK_SECOND), ==, 0);
        ended(&alone, 50);
        g_assert_cmpuint(read_once(&alone, START + 6 * CLOCK_SECOND), ==, 100);
    }
    g_assert_cmpuint(alone.pool.in_core, ==, 20010);
}

/* While another has the pool: the minimum, no more; and nothing while some of that is there. */
static void behind(void)
{
    Pool pool = defaults();
    pool.in_core = 20010;
    PoolView view = {0};
    g_assert_cmpuint(pool_may_read(&pool, &view, START), ==, 10);
    view = (PoolView){.in_core = 10, .begun = true, .waits = true, .last_read = START};
    pool.in_core += 10;
    g_assert_cmpuint(pool_may_read(&pool, &view, START), ==, 0);
    view.in_core = 4;
    pool.in_core -= 6;
    g_assert_cmpuint(pool_may_read(&pool, &view, START), ==, 0);
    g_assert_cmpuint(pool_may_read(&pool, &view, START + 5 * CLOCK_SECOND), ==, 6);
    view.waits = false; /* as a last resort */
    g_assert_cmpuint(pool_may_read(&pool, &view, START), ==, 6);
}

/* Check that jobs that preempt get half of what is left: 500, 250, 125 ... */
static void extra(void)
{
    Pool pool = defaults();
    static const size_t parts[] = {500, 250, 125, 62};
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        size_t part = pool_give_extra(&pool);
        g_assert_cmpuint(part, ==, parts[i]);
        pool.extra_taken += part;
    }
    pool.in_core = 20010;
    PoolView view = {.extra = 500, .begun = true, .waits = true, .last_read = START};
    g_assert_cmpuint(pool_may_read(&pool, &view, START), ==, 510);
    pool.extra = 0;
    g_assert_cmpuint(pool_give_extra(&pool), ==, 0);
}

/* --- the transport of a domain --- */

static void table(void)
{
    static const struct {
        const char *domain, *transport; /* NULL: none */
    } cases[] = {
        {"example.com", "slow"},      {"EXAMPLE.com", "slow"},     {"a.example.com", "direct"},
        {"b.a.example.com", "direct"}, {"a.sub.example.com", "relay"}, {"sub.example.com", "direct"},
        {"x.org", "direct"},          {"org", NULL},               {"example.net", NULL},
        {"", NULL},
    };
    static char names[][8] = {"relay", "slow", "direct"};
    Transport made[G_N_ELEMENTS(names)] = {0};
    g_autoptr(GPtrArray) transports = g_ptr_array_new();
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++) {
        made[at].name = names[at];
        g_ptr_array_add(transports, &made[at]);
    }
    g_autoptr(Config) config = config_from_text("[transport.slow]\n[transport.direct]\n[out]\n"
                                                "transport_table = Example.com:slow .example.com:direct,\n"
                                                "  .sub.example.com:relay, .org:direct\n");
    g_autoptr(Routes) routes = routes_new(config, transports);
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        const Transport *transport = routes_look(routes, cases[at].domain, strlen(cases[at].domain));
        g_assert_cmpstr(transport ? transport->name : NULL, ==, cases[at].transport);
    }
    g_assert_null(routes_look(routes, "example.community", 16)); /* the bytes behind the domain do not count */
}

SUITE("outgoing/reader")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pool/example A", example_a);
    g_test_add_func("/pool/example B", example_b);
    g_test_add_func("/pool/behind", behind);
    g_test_add_func("/pool/extra", extra);
    g_test_add_func("/routes/table", table);
    return g_test_run();
}
