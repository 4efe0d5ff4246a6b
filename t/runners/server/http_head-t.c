/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Which heads and chunks are read, and which are refused because another program could read them otherwise. */
#include "runners/server/http_head.h"
#include "t/suite.h"

#include <string.h>

#define HOST "Host: a.example\r\n"

static int status_of(const char *text, size_t size, HttpHead *head)
{
    const char *why = NULL;
    g_assert_cmpuint(http_head_size(text, size), ==, size);
    int status = http_head_read(text, size, head, &why);
    g_assert_true(status == 0 || why);
    return status;
}

static void test_read(void)
{
    static const char text[] = "POST /3.1/lists?a=b HTTP/1.1\r\nhost: a.example\r\nauthorization:\tBasic YTpi \r\n"
                               "Content-Length: 42\r\nX-Text: caf\xc3\xa9: \t;\r\n\r\n";
    HttpHead head;
    g_assert_cmpint(status_of(text, strlen(text), &head), ==, 0);
    g_assert_cmpstr(head.verb, ==, "POST");
    g_assert_cmpstr(head.target, ==, "/3.1/lists?a=b");
    g_assert_cmpstr(head.authorization, ==, "Basic YTpi");
    g_assert_true(head.counted && head.length == 42 && !head.chunked);
    http_head_clear(&head);
    static const char old[] = "GET / HTTP/1.0\r\n\r\n";
    g_assert_cmpint(status_of(old, strlen(old), &head), ==, 0);
    g_assert_true(!head.authorization && !head.counted && head.length == 0);
    http_head_clear(&head);
    for (size_t cut = 0; cut < strlen(text); cut++)
        g_assert_cmpuint(http_head_size(text, cut), ==, 0);
}

static void test_refused(void)
{
    static const struct {
        const char *text;
        size_t size; /* 0: strlen() */
        int status;
    } heads[] = {
        {"GET / HTTP/1.1\r\n\r\n", 0, 400},
        {"GET / HTTP/1.1\r\n" HOST HOST "\r\n", 0, 400},
        {"GET / HTTP/1.1\n" HOST "\r\n", 0, 400},
        {"GET  / HTTP/1.1\r\n" HOST "\r\n", 0, 400},
        {"GET / a HTTP/1.1\r\n" HOST "\r\n", 0, 400},
        {"GET /\r\n" HOST "\r\n", 0, 400},
        {" GET / HTTP/1.1\r\n" HOST "\r\n", 0, 400},
        {"GET /\x80 HTTP/1.1\r\n" HOST "\r\n", 0, 400},
        {"GET / HTTP/1.1 \r\n" HOST "\r\n", 0, 400},
        {"GET / http/1.1\r\n" HOST "\r\n", 0, 400},
        {"PRI * HTTP/2.0\r\n\r\n", 0, 505},
        {"GET / HTTP/1.2\r\n" HOST "\r\n", 0, 505},
        {"GET / HTTP/1.1\r\n" HOST "X: a\r\n b\r\n\r\n", 0, 400},
        {"GET / HTTP/1.1\r\n" HOST "X : a\r\n\r\n", 0, 400},
        {"GET / HTTP/1.1\r\n" HOST "X: a\rb\r\n\r\n", 0, 400},
        {"GET / HTTP/1.1\r\n" HOST "X: a\nContent-Length: 3\r\n\r\n", 0, 400},
        {"GET / HTTP/1.1\r\n" HOST ": a\r\n\r\n", 0, 400},
        {"GET / HTTP/1.1\r\n" HOST "X\r\n\r\n", 0, 400},
        {"GET / HTTP/1.1\r\n" HOST "X: a\0b\r\n\r\n", sizeof "GET / HTTP/1.1\r\n" HOST "X: a\0b\r\n\r\n" - 1, 400},
        {"GET / HTTP/1.1\r\n" HOST "X\0: a\r\n\r\n", sizeof "GET / HTTP/1.1\r\n" HOST "X\0: a\r\n\r\n" - 1, 400},
        {"GET / HTTP/1.1\r\n" HOST "Authorization: a\r\nAuthorization: b\r\n\r\n", 0, 400},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: 0\r\nContent-Length: 9\r\n\r\n", 0, 400},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: 9\r\nContent-Length: 9\r\n\r\n", 0, 400},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: 9, 9\r\n\r\n", 0, 400},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: +5\r\n\r\n", 0, 400},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n", 0, 400},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: 0x5\r\n\r\n", 0, 400},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length:\r\n\r\n", 0, 400},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999\r\n\r\n", 0, 400},
        {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding : chunked\r\n\r\n", 0, 400},
        {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 0, 400},
        {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", 0, 400},
        {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n", 0, 501},
        {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: xchunked\r\n\r\n", 0, 501},
        {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 0, 400},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(heads); i++) {
        HttpHead head;
        g_autofree char *own = g_memdup2(heads[i].text, heads[i].size ? heads[i].size : strlen(heads[i].text));
        int status = status_of(own, heads[i].size ? heads[i].size : strlen(heads[i].text), &head);
        if (status != heads[i].status)
            g_error("%s: %d", heads[i].text, status);
        http_head_clear(&head);
    }
}

/* Take the text in pieces of this size. Returns how much of it was the body. */
static size_t take(HttpBody *body, const HttpHead *head, const char *text, size_t piece, bool *sound)
{
    size_t at = 0, length = strlen(text);
    http_body_begin(body, head);
    for (*sound = true; *sound && !body->ended && at < length;)
        at += http_body_take(body, text + at, MIN(piece, length - at), sound);
    return at;
}

static void test_counted(void)
{
    const HttpHead head = {.counted = true, .length = 5};
    HttpBody body;
    bool sound;
    for (size_t piece = 1; piece < 9; piece++)
        g_assert_true(take(&body, &head, "12345GET", piece, &sound) == 5 && sound && body.ended);
    g_assert_true(take(&body, &head, "1234", 4, &sound) == 4 && sound && !body.ended);
    http_body_begin(&body, &(HttpHead){.counted = true});
    g_assert_true(body.ended);
}

static void test_chunks(void)
{
    static const char text[] = "5\r\nhello\r\n0A\r\n0\r\n\r\n67890\r\n000\r\n\r\n";
    static const char *const wrong[] = {
        "\r\n", "g\r\n", "5\n", "5 \r\n", "-5\r\n", "0x5\r\n", "123456789\r\n",
        "5\r\nhelloX\r\n", "5\r\nhello\rX", "5\r\nhello\n", "5;a=b\r\nhello", "0\r\nX: y\r\n\r\n", "0\r\n\rX"};
    const HttpHead head = {.chunked = true};
    HttpBody body;
    bool sound;
    g_autofree char *followed = g_strconcat(text, "GET", NULL);
    for (size_t piece = 1; piece <= strlen(followed); piece++)
        g_assert_true(take(&body, &head, followed, piece, &sound) == strlen(text) && sound && body.ended);
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
        for (size_t piece = 1; piece < 20; piece += 18) {
            take(&body, &head, wrong[i], piece, &sound);
            if (sound)
                g_error("%s is taken", wrong[i]);
        }
}

SUITE("http_head")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/http-head/read", test_read);
    g_test_add_func("/http-head/refused", test_refused);
    g_test_add_func("/http-head/counted", test_counted);
    g_test_add_func("/http-head/chunks", test_chunks);
    return g_test_run();
}
