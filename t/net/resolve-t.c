/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/resolve.h"

#include <netinet/in.h>

#include "base/fail.h"
#include "t/suite.h"

typedef struct Answer {
    unsigned count;
    struct addrinfo *addresses;
    GError *error;
} Answer;

static void on_answer(struct addrinfo *addresses, const GError *error, void *data)
{
    Answer *answer = data;
    answer->count++;
    answer->addresses = addresses;
    answer->error = error ? g_error_copy(error) : NULL;
}

static Answer ask(const char *host, const char *port)
{
    Answer answer = {0};
    struct event_base *base = event_base_new();
    resolve_start(base, host, port, on_answer, &answer);
    g_assert_cmpuint(answer.count, ==, 0); /* never from inside the call */
    event_base_dispatch(base);
    event_base_free(base);
    g_assert_cmpuint(answer.count, ==, 1);
    return answer;
}

static void numeric(void)
{
    Answer answer = ask("127.0.0.1", "2525");
    g_assert_no_error(answer.error);
    g_assert_cmpint(answer.addresses->ai_family, ==, AF_INET);
    const struct sockaddr_in *four = (const struct sockaddr_in *)answer.addresses->ai_addr;
    g_assert_cmpuint(ntohs(four->sin_port), ==, 2525);
    freeaddrinfo(answer.addresses);
    answer = ask("::1", "25");
    g_assert_cmpint(answer.addresses->ai_family, ==, AF_INET6);
    freeaddrinfo(answer.addresses);
}

static void name(void)
{
    Answer answer = ask("localhost", "25");
    g_assert_no_error(answer.error);
    g_assert_nonnull(answer.addresses);
    freeaddrinfo(answer.addresses);
}

static void failure(void)
{
    Answer answer = ask("localhost", "no such service");
    g_assert_error(answer.error, FAIL, FAIL_LATER);
    g_assert_null(answer.addresses);
    g_clear_error(&answer.error);
}

static void cancelled(void)
{
    Answer answer = {0};
    struct event_base *base = event_base_new();
    resolve_cancel(resolve_start(base, "127.0.0.1", "25", on_answer, &answer));
    resolve_cancel(resolve_start(base, "localhost", "25", on_answer, &answer));
    event_base_dispatch(base);
    event_base_free(base);
    g_usleep(100 * 1000); /* the thread ends after us */
    g_assert_cmpuint(answer.count, ==, 0);
}

SUITE("resolve")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/resolve/numeric", numeric);
    g_test_add_func("/resolve/name", name);
    g_test_add_func("/resolve/failure", failure);
    g_test_add_func("/resolve/cancelled", cancelled);
    return g_test_run();
}
