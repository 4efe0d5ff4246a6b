/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/nntp_reader.h"
#include "t/suite.h"

#include <string.h>

/* Feeds text; a state, what was used, and the fields of the reader are the answer. */
static NntpState feed(NntpReader *reader, const char *text, bool block, size_t most, size_t *used)
{
    nntp_reader_expect(reader, block, most);
    return nntp_reader_feed(reader, text, strlen(text), used);
}

static void test_lines(void)
{
    static const struct {
        const char *said;
        NntpState state;
        unsigned code;
        const char *text;
    } cases[] = {
        {"200 hello there\r\n", NNTP_DONE, 200, "hello there"},
        {"205\r\n", NNTP_DONE, 205, ""},
        {"441 \xff\001\n", NNTP_DONE, 441, "\357\277\275 "},
        {"220 hello", NNTP_MORE, 0, ""},
        {"SSH-2.0-x\r\n", NNTP_BROKEN, 0, ""},
        {"2000 x\r\n", NNTP_BROKEN, 0, ""},
        {"600 x\r\n", NNTP_BROKEN, 0, ""},
        {"\r\n", NNTP_BROKEN, 0, ""},
    };
    g_auto(NntpReader) reader;
    nntp_reader_init(&reader);
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        size_t used;
        g_assert_cmpint(feed(&reader, cases[at].said, false, 0, &used), ==, cases[at].state);
        g_assert_cmpuint(reader.code, ==, cases[at].code);
        g_assert_cmpstr(reader.text->str, ==, cases[at].text);
    }
    g_autofree char *endless = g_strnfill(NNTP_LINE_MAX + 1, '2');
    size_t used;
    g_assert_cmpint(feed(&reader, endless, false, 0, &used), ==, NNTP_BROKEN);
}

static void test_block(void)
{
    static const char said[] = "220 0 <x@y>\r\nA: 1\r\n\r\n..dot\r\n.x\nend\r\n.\r\n223 next\r\n";
    static const char block[] = "A: 1\r\n\r\n.dot\r\n.x\r\nend\r\n";
    g_auto(NntpReader) reader;
    nntp_reader_init(&reader);
    size_t used;
    g_assert_cmpint(feed(&reader, said, true, 1000, &used), ==, NNTP_DONE);
    g_assert_cmpstr(said + used, ==, "223 next\r\n");
    g_assert_cmpmem(reader.block->data, reader.block->len, block, strlen(block));
    g_assert_false(reader.cut);
    /* Of a long one the beginning is kept, and what follows is understood all the same. */
    g_assert_cmpint(feed(&reader, said, true, 8, &used), ==, NNTP_DONE);
    g_assert_cmpstr(said + used, ==, "223 next\r\n");
    g_assert_cmpmem(reader.block->data, reader.block->len, block, 8);
    g_assert_true(reader.cut);
    /* A refusal has none. */
    g_assert_cmpint(feed(&reader, "423 no\r\n.\r\n", true, 8, &used), ==, NNTP_DONE);
    g_assert_cmpuint(used, ==, strlen("423 no\r\n"));
}

SUITE("nntp_reader")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/net/nntp reader/lines", test_lines);
    g_test_add_func("/net/nntp reader/blocks", test_block);
    return g_test_run();
}
