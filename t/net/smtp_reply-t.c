/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/smtp_reply.h"
#include "t/suite.h"

#include <string.h>

/* Feeds all of text in pieces of the given size; returns the state after the
 * first whole reply and the bytes taken by it. */
static SmtpReplyState feed(SmtpReply *reply, const char *text, size_t length, size_t piece, size_t *taken)
{
    *taken = 0;
    while (*taken < length) {
        size_t used = 0;
        SmtpReplyState state = smtp_reply_feed(reply, text + *taken, MIN(piece, length - *taken), &used);
        g_assert_cmpuint(used, >, 0);
        *taken += used;
        if (state != SMTP_REPLY_MORE)
            return state;
    }
    return SMTP_REPLY_MORE;
}

static void single(void)
{
    SmtpReply reply;
    size_t used;
    smtp_reply_init(&reply);
    g_assert_cmpint(smtp_reply_feed(&reply, "250 2.1.5 Ok\r\n250", 17, &used), ==, SMTP_REPLY_DONE);
    g_assert_cmpuint(used, ==, 14);
    g_assert_cmpuint(reply.code, ==, 250);
    g_assert_cmpuint(smtp_reply_class(&reply), ==, 2);
    g_assert_true(reply.has_status);
    g_assert_cmpstr(reply.status, ==, "2.1.5");
    g_assert_cmpstr(reply.text, ==, "2.1.5 Ok");
    g_assert_cmpint(smtp_reply_feed(&reply, "354\n", 4, &used), ==, SMTP_REPLY_DONE);
    g_assert_cmpuint(reply.code, ==, 354);
    g_assert_cmpstr(reply.text, ==, "");
    g_assert_cmpstr(reply.status, ==, "3.0.0");
}

static void pieces(void)
{
    static const char text[] = "250-mx.example.com\r\n250-PIPELINING\r\n250-SIZE 1000\r\n250 HELP\r\n";
    for (size_t piece = 1; piece <= sizeof(text); piece++) {
        SmtpReply reply;
        size_t taken;
        smtp_reply_init(&reply);
        g_assert_cmpint(feed(&reply, text, strlen(text), piece, &taken), ==, SMTP_REPLY_DONE);
        g_assert_cmpuint(taken, ==, strlen(text));
        g_assert_cmpstr(reply.text, ==, "mx.example.com\nPIPELINING\nSIZE 1000\nHELP");
    }
}

static void last_code(void)
{
    SmtpReply reply;
    size_t used;
    const char *text = "250-5.1.1 first\r\n550-5.1.1 second\r\n450 4.2.0 third\r\n";
    smtp_reply_init(&reply);
    g_assert_cmpint(smtp_reply_feed(&reply, text, strlen(text), &used), ==, SMTP_REPLY_DONE);
    g_assert_cmpuint(reply.code, ==, 450);
    g_assert_cmpstr(reply.status, ==, "4.2.0");
}

static void status_class(void)
{
    static const struct {
        const char *text;
        const char *status;
        bool given;
    } cases[] = {
        {"550 4.2.1 later\r\n", "5.0.0", false},  {"550 5.1.1\r\n", "5.1.1", true},
        {"550 5.1.1234 x\r\n", "5.0.0", false},   {"550 5.1 x\r\n", "5.0.0", false},
        {"550 5.123.456 x\r\n", "5.123.456", true}, {"450 5.1.1.1 x\r\n", "4.0.0", false},
        {"250 ok\r\n", "2.0.0", false},           {"550 #5.1.0 x\r\n", "5.0.0", false},
        {"550-5.7.1 a\r\n550 b\r\n", "5.7.1", true}, {"450 4..1 x\r\n", "4.0.0", false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        SmtpReply reply;
        size_t used;
        smtp_reply_init(&reply);
        g_assert_cmpint(smtp_reply_feed(&reply, cases[i].text, strlen(cases[i].text), &used), ==, SMTP_REPLY_DONE);
        g_assert_cmpstr(reply.status, ==, cases[i].status);
        g_assert_cmpint(reply.has_status, ==, cases[i].given);
    }
}

static void broken(void)
{
    static const char *const cases[] = {
        "hello\r\n", "\r\n", "25\r\n", "099 x\r\n", "650 x\r\n", "2x0 x\r\n", "250x\r\n", "250\tx\r\n", "-250 x\r\n",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        SmtpReply reply;
        size_t used;
        smtp_reply_init(&reply);
        g_assert_cmpint(smtp_reply_feed(&reply, cases[i], strlen(cases[i]), &used), ==, SMTP_REPLY_BROKEN);
    }
}

static void sanitised(void)
{
    SmtpReply reply;
    size_t used;
    static const char text[] = "550 a\x1b[31m\tb\xff\xc3\xa4\0c\xe2\x82\r\n";
    smtp_reply_init(&reply);
    g_assert_cmpint(smtp_reply_feed(&reply, text, sizeof(text) - 1, &used), ==, SMTP_REPLY_DONE);
    g_assert_true(g_utf8_validate(reply.text, -1, NULL));
    g_assert_cmpstr(reply.text, ==, "a?[31m b?\xc3\xa4?c??");
}

static void limits(void)
{
    /* A line that never ends, and a reply that never ends. */
    for (int lines = 0; lines < 2; lines++) {
        SmtpReply reply;
        smtp_reply_init(&reply);
        size_t fed = 0;
        SmtpReplyState state = SMTP_REPLY_MORE;
        while (state == SMTP_REPLY_MORE && fed < 10 * SMTP_REPLY_OCTETS_MAX) {
            size_t used;
            const char *piece = lines ? "250-abcdefgh\r\n" : "25000000000000";
            state = smtp_reply_feed(&reply, piece, strlen(piece), &used);
            fed += used;
        }
        g_assert_cmpint(state, ==, SMTP_REPLY_BROKEN);
        g_assert_cmpuint(fed, <=, 2 * SMTP_REPLY_OCTETS_MAX);
    }
    /* A long line is cut, the reply stands. */
    g_autoptr(GString) text = g_string_new("550 ");
    for (int i = 0; i < 20000; i++)
        g_string_append_c(text, 'x');
    g_string_append(text, "\r\n");
    for (size_t piece = 7; piece < 40000; piece *= 30) {
        SmtpReply reply;
        size_t taken;
        smtp_reply_init(&reply);
        g_assert_cmpint(feed(&reply, text->str, text->len, piece, &taken), ==, SMTP_REPLY_DONE);
        g_assert_cmpuint(taken, ==, text->len);
        g_assert_cmpuint(reply.text_length, ==, SMTP_REPLY_LINE_MAX - 4);
    }
}

static void print(void)
{
    static const struct {
        const char *text;
        const char *printed;
    } cases[] = {
        {"550 5.1.1 no such user\r\n", "550 5.1.1 no such user"},
        {"550-5.1.1 no such\r\n550 5.1.1 user\r\n", "550 5.1.1 no such user"},
        {"550-first\r\n550\r\n", "550 first"},
        {"421\r\n", "421"},
        {"250-5.1.1 x\r\n250 y\r\n", "250 5.1.1 x y"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        SmtpReply reply;
        size_t used;
        smtp_reply_init(&reply);
        g_assert_cmpint(smtp_reply_feed(&reply, cases[i].text, strlen(cases[i].text), &used), ==, SMTP_REPLY_DONE);
        g_autofree char *printed = smtp_reply_print(&reply);
        g_assert_cmpstr(printed, ==, cases[i].printed);
    }
}

SUITE("smtp_reply")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/smtp_reply/single", single);
    g_test_add_func("/smtp_reply/pieces", pieces);
    g_test_add_func("/smtp_reply/last code", last_code);
    g_test_add_func("/smtp_reply/status class", status_class);
    g_test_add_func("/smtp_reply/broken", broken);
    g_test_add_func("/smtp_reply/sanitised", sanitised);
    g_test_add_func("/smtp_reply/limits", limits);
    g_test_add_func("/smtp_reply/print", print);
    return g_test_run();
}
