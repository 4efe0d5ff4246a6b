/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The socketmap protocol: requests whole, in pieces, several at once, and what is none. */
#include <string.h>

#include "net/socketmap.h"
#include "t/suite.h"

static void test_request(void)
{
    static const char text[] = "33:recipients talk@lists.example.com,";
    for (size_t length = 0; length < strlen(text); length++) {
        g_auto(SocketmapRequest) part = {0};
        size_t used = 0;
        g_assert_cmpint(socketmap_read(text, length, &used, &part), ==, SOCKETMAP_MORE);
    }
    g_auto(SocketmapRequest) request = {0};
    size_t used = 0;
    g_assert_cmpint(socketmap_read(text, strlen(text), &used, &request), ==, SOCKETMAP_ONE);
    g_assert_cmpuint(used, ==, strlen(text));
    g_assert_cmpstr(request.map, ==, "recipients");
    g_assert_cmpstr(request.key, ==, "talk@lists.example.com");
}

static void test_two_in_one_piece(void)
{
    static const char text[] = "5:m one,7:m two a,";
    g_auto(SocketmapRequest) first = {0}, second = {0};
    size_t used = 0, more = 0;
    g_assert_cmpint(socketmap_read(text, strlen(text), &used, &first), ==, SOCKETMAP_ONE);
    g_assert_cmpstr(first.key, ==, "one");
    g_assert_cmpint(socketmap_read(text + used, strlen(text) - used, &more, &second), ==, SOCKETMAP_ONE);
    g_assert_cmpstr(second.key, ==, "two a");
    g_assert_cmpuint(used + more, ==, strlen(text));
}

static void test_bad(void)
{
    static const char *const texts[] = {"EHLO there\r\n", "5:m one;", "3:one,", "4: one,", ":m a,", "99999:m ",
                                        "4097:m ", "00005:m one,"};
    for (size_t at = 0; at < G_N_ELEMENTS(texts); at++) {
        g_auto(SocketmapRequest) request = {0};
        size_t used = 0;
        g_test_message("%s", texts[at]);
        g_assert_cmpint(socketmap_read(texts[at], strlen(texts[at]), &used, &request), ==, SOCKETMAP_BAD);
        g_assert_null(request.map);
    }
    g_auto(SocketmapRequest) request = {0};
    size_t used = 0;
    g_assert_cmpint(socketmap_read("5:m \0ne,", 8, &used, &request), ==, SOCKETMAP_BAD);
}

static void test_replies(void)
{
    g_autoptr(GString) output = g_string_new(NULL);
    socketmap_found(output, "talk@x\n");
    socketmap_not_found(output);
    socketmap_later(output, "down");
    socketmap_refused(output, "no");
    g_assert_cmpstr(output->str, ==, "10:OK talk@x ,9:NOTFOUND ,9:TEMP down,7:PERM no,");
}

SUITE("socketmap")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/socketmap/request", test_request);
    g_test_add_func("/socketmap/two-in-one-piece", test_two_in_one_piece);
    g_test_add_func("/socketmap/bad", test_bad);
    g_test_add_func("/socketmap/replies", test_replies);
    return g_test_run();
}
