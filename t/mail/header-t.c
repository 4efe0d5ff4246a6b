/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/header.h"

#include <glib.h>
#include <string.h>

#include "mail/message.h"
#include "t/mail/corpus.h"
#include "t/suite.h"

static const struct {
    const char *value, *text;
} decoded[] = {
    {"plain", "plain"},
    {"folded\r\n text", "folded text"},
    {"=?iso-8859-1?q?J=F6rg_x?=", "J\xc3\xb6rg x"},
    {"=?UTF-8?B?SsO2cmc=?= Re", "J\xc3\xb6rg Re"},
    {"=?utf-8*de?b?SsO2cmc=?=", "J\xc3\xb6rg"},
    {"a =?utf-8?q?b?= =?utf-8?q?c?= d", "a bc d"},
    {"=?utf-8?q?b?=\r\n =?iso-8859-1?q?=F6?=", "b\xc3\xb6"},
    {"=?utf-8?q?=C3?= =?utf-8?q?=B6?=", "\xc3\xb6"},
    {"=?utf-8?q?=C3?=", "\xef\xbf\xbd"},
    {"=?no-such-charset?q?abc?=", "abc"},
    {"=?utf-8?x?abc?=", "=?utf-8?x?abc?="},
    {"=?utf-8?q?abc", "=?utf-8?q?abc"},
    {"=?utf-8?q?", "=?utf-8?q?"},
    {"=?", "=?"},
    {"a =?utf-8?q?\?= b", "a  b"},
    {"=?utf-8?q?a=0D=0ABcc:_b?=", "a  Bcc: b"},
    {"\xff", "\xef\xbf\xbd"},
    {"\xc3\xb6", "\xc3\xb6"},
    {"", ""},
};

static void test_decode(void)
{
    for (size_t at = 0; at < G_N_ELEMENTS(decoded); at++) {
        g_autofree char *text = header_decode(decoded[at].value);
        g_assert_cmpstr(text, ==, decoded[at].text);
    }
}

/* Values that mail programs write, in charsets that iconv knows under other names or not so large. */
static const struct {
    const char *value, *text;
    bool exact;
} charsets[] = {
    {"=?ks_c_5601-1987?B?UmU6IL7Is+c=?=", "Re: 안녕", true},
    {"=?EUC-KR?B?jGOU7g==?=", "똠뷁", true},
    {"=?iso-8859-8-i?Q?Re=3A_=F9=EC=E5=ED?=", "Re: שלום", true},
    {"=?x-sjis?B?UmU6IJP6lns=?=", "Re: 日本", true},
    {"=?shift_jis?B?h0Du?= =?x-sjis?B?4IeK?=", "①髙㈱", true},
    {"=?gb2312?B?UmU6INbs6UY=?=", "Re: 朱镕", true},
    {"=?GBK?B?1uw=?=\r\n =?gb2312?B?6UY=?=", "朱镕", true},    /* one charset with two labels */
    {"=?gb2312?B?1uzp?=\r\n =?gb2312?B?Rg==?=", "朱镕", true}, /* cut within a character */
    {"=?utf-8?B?5pc=?= =?utf8?Q?=A5x?=", "日x", true},
    {"=?iso-2022-jp?B?GyRCRnwbKEI=?= =?iso-2022-jp?B?GyRCS1wbKEI=?=", "日本", true},
    {"=?iso-2022-jp?B?GyRCRnw=?= =?iso-2022-jp?B?S1wbKEI=?=", "日本", true},
    {"=?iso-2022-jp?B?GyRCRnw=?= =?iso-2022-jp?Q?x?=", "日x", true}, /* the second begins anew */
    {"=?iso-8859-1?Q?=80_=93x=94?=", "€ “x”", true},
    {"=?us-ascii?Q?x?= =?iso-8859-2?Q?=B3?=", "xł", true},
    {"=?x-unknown?Q?Re=3A_x?=", "Re: x", false},
    {"=?utf-8?Q?Re=3A_=FF?=", "Re: \xef\xbf\xbd", false},
    {"=?iso-8859-2?Q?Re=3A_=9B?=", "Re: \xef\xbf\xbd", false},
    {"=?utf-8?Q?Re=3A_=C2=9B31m?=", "Re:   31m", false},
    {"=?utf-8?Q?Re=3A=0D=0Ax?=", "Re:  x", false},
    {"=?utf-8?Q?Re=3A=00x?=", "Re:\xef\xbf\xbdx", false},
    {"Re: \xff", "Re: \xef\xbf\xbd", false},
    {"Re:\r\n\tfolded", "Re: folded", true},
};

static void test_charsets(void)
{
    for (size_t at = 0; at < G_N_ELEMENTS(charsets); at++) {
        g_autofree char *text = NULL, *shown = header_show(charsets[at].value),
                        *same = header_decode(charsets[at].value);
        bool exact = header_decode_exactly(charsets[at].value, &text);
        g_assert_cmpstr(text, ==, charsets[at].text);
        g_assert_cmpstr(same, ==, charsets[at].text);
        g_assert_cmpint(exact, ==, charsets[at].exact);
        bool ascii = g_str_is_ascii(charsets[at].value);
        g_assert_cmpstr(shown, ==, exact || !ascii ? charsets[at].text : charsets[at].value);
    }
}

static void test_phrase_raw(void)
{
    g_autofree char *word = header_phrase_raw("=?x-foo?Q?=FF?=", 6), *octets = header_phrase_raw("J\xf6rg", 6);
    g_autofree char *quoted = header_phrase_raw("=?x-foo?Q?=FF?= \"x, y", 6);
    g_assert_cmpstr(word, ==, "=?x-foo?Q?=FF?=");
    g_assert_cmpstr(octets, ==, "J\xf6rg");
    g_assert_cmpstr(quoted, ==, "\"=?x-foo?Q?=FF?= \\\"x, y\"");
}

static void assert_lines(const char *value, size_t column)
{
    size_t first = strcspn(value, "\r");
    g_assert_cmpuint(first + column, <=, 78);
    for (const char *at = value + first; *at; at += strcspn(at, "\r")) {
        g_assert_true(g_str_has_prefix(at, "\r\n "));
        at += 2;
        g_assert_cmpuint(strcspn(at, "\r"), <=, 76);
    }
}

/* Check that a word longer than a line can be is no encoded word. Otherwise each of many beginnings without an end
 * would be searched for its end through all that follows: this test would not come to its own end. */
static void test_endless_words(void)
{
    g_autofree char *long_text = g_strnfill(998, 'x'), *longer_text = g_strnfill(999, 'x');
    g_autofree char *word = g_strconcat("=?utf-8?q?", long_text, "?=", NULL);
    g_autofree char *no_word = g_strconcat("=?utf-8?q?", longer_text, "?=", NULL);
    g_autofree char *text = header_decode(word), *same = header_decode(no_word);
    g_assert_cmpstr(text, ==, long_text);
    g_assert_cmpstr(same, ==, no_word);
    g_autoptr(GString) many = g_string_new(NULL);
    while (many->len < 2 * 1024 * 1024)
        g_string_append(many, "=?a?q?x");
    g_autofree char *unchanged = header_decode(many->str);
    g_assert_true(g_str_equal(unchanged, many->str));
}

static void test_encode(void)
{
    g_autofree char *plain = header_encode("plain", 9);
    g_assert_cmpstr(plain, ==, "plain");
    static const char *const texts[] = {
        "J\xc3\xb6rg", "=?looks like one?=", "line\nend",
        "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"
        "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"
        "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e",
        "a long line of plain text that does not fit on a single line of a header field "
        "and so must be folded somewhere",
    };
    for (size_t at = 0; at < G_N_ELEMENTS(texts); at++)
        for (size_t column = 0; column < 75; column += 5) {
            g_autofree char *value = header_encode(texts[at], column);
            g_autofree char *back = header_decode(value);
            g_autofree char *expected = g_strdelimit(g_strdup(texts[at]), "\n", ' ');
            g_assert_cmpstr(back, ==, expected);
            if (column < 30)
                assert_lines(value, column);
        }
}

static void test_phrase(void)
{
    g_autofree char *plain = header_phrase("Anne Person", 0), *quoted = header_phrase("Person, \"A\"", 0);
    g_autofree char *encoded = header_phrase("J\xc3\xb6rg", 0), *empty = header_phrase("", 0);
    g_assert_cmpstr(plain, ==, "Anne Person");
    g_assert_cmpstr(quoted, ==, "\"Person, \\\"A\\\"\"");
    g_assert_cmpstr(encoded, ==, "=?utf-8?b?SsO2cmc=?=");
    g_assert_cmpstr(empty, ==, "");
}

static void check_mail(GBytes *mail, const char *name, void *data)
{
    g_autoptr(Message) message = message_new(mail);
    for (size_t at = 0; at < message_field_count(message); at++) {
        g_autofree char *value = field_value(message_field(message, at));
        g_autofree char *text = header_decode(value);
        g_assert_true(g_utf8_validate(text, -1, NULL));
        g_autofree char *again = header_encode(text, 9);
        g_autofree char *back = header_decode(again);
        if (strcmp(text, back) != 0)
            g_error("%s: %s became %s", name, text, back);
    }
    ++*(unsigned *)data;
}

static void test_corpus(gconstpointer folder)
{
    unsigned count = 0;
    g_assert_cmpuint(corpus_each(folder, check_mail, &count), >, 80);
    g_assert_cmpuint(count, >, 80);
}

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

SUITE("header")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/header/decode", test_decode);
    g_test_add_func("/header/endless words", test_endless_words);
    g_test_add_func("/header/encode", test_encode);
    g_test_add_func("/header/phrase", test_phrase);
    g_test_add_func("/header/phrase as it came", test_phrase_raw);
    g_test_add_func("/header/charsets", test_charsets);
    g_test_add_data_func("/header/corpus lists", "lists", test_corpus);
    g_test_add_data_func("/header/corpus mime", "mime", test_corpus);
    g_test_add_func("/mail/received/client", test_client);
    return g_test_run();
}
