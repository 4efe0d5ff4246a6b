/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/charset.h"
#include "t/suite.h"

#include <string.h>

/* A text in one charset, and all labels under which it must be read. */
static const struct {
    const char *labels, *bytes, *text;
} samples[] = {
    {"unicode-1-1-utf-8 unicode11utf8 unicode20utf8 UTF-8 utf8 x-unicode20utf8", "\xc3\xb6\xe2\x82\xac", "ö€"},
    {"866 cp866 csibm866 IBM866", "\x8f\xe0\xa8\xa2\xa5\xe2", "Привет"},
    {"csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2", "\xb3\xf3\xbf",
     "łóż"},
    {"csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3", "\xe6\xf8", "ĉĝ"},
    {"csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4", "\xe0\xf9", "āų"},
    {"csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
     "\xbf\xe0\xd8\xd2\xd5\xe2", "Привет"},
    {"arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i "
     "iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
     "\xe5\xd1\xcd\xc8\xc7", "مرحبا"},
    {"csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
     "iso_8859-7:1987 sun_eu_greek",
     "\xc3\xe5\xe9\xdc\xa4", "Γειά€"},
    {"csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 "
     "iso_8859-8:1988 visual csiso88598i ISO-8859-8-I logical",
     "\xf9\xec\xe5\xed", "שלום"},
    {"csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6", "\xe6\xf0", "æð"},
    {"iso-8859-13 iso8859-13 iso885913", "\xe0\xfe", "ąž"},
    {"iso-8859-14 iso8859-14 iso885914", "\xf0\xfe", "ŵŷ"},
    {"csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9", "\xa4\xbd", "€œ"},
    {"iso-8859-16", "\xa4\xfe", "€ț"},
    {"cskoi8r koi koi8 koi8-r koi8_r", "\xf0\xd2\xc9\xd7\xc5\xd4", "Привет"},
    {"koi8-ru koi8-u", "\xf0\xd2\xc9\xd7\xa6\xd4", "Привіт"},
    {"koi8-ru", "\xae", "ў"},
    {"csmacintosh mac macintosh x-mac-roman", "\x9a\xa7\xdb", "öß€"},
    {"dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874", "\xca\xc7\xd1\xca\xb4\xd5\x80", "สวัสดี€"},
    {"cp1250 windows-1250 x-cp1250", "\xb3\xf3\xbf\x80", "łóż€"},
    {"cp1251 windows-1251 x-cp1251", "\xcf\xf0\xe8\xe2\xe5\xf2\x88", "Привет€"},
    {"ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 ISO-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 "
     "iso_8859-1:1987 l1 latin1 US-ASCII windows-1252 x-cp1252",
     "J\xf6rg \x93\x80\x94", "Jörg “€”"},
    {"cp1253 windows-1253 x-cp1253", "\xc3\xe5\xe9\xdc\x80", "Γειά€"},
    {"cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 windows-1254 "
     "x-cp1254",
     "\xfe\xfd\x80", "şı€"},
    {"cp1255 windows-1255 x-cp1255", "\xf9\xec\xe5\xed\x80", "שלום€"},
    {"cp1256 windows-1256 x-cp1256", "\xe3\xd1\xcd\xc8\xc7\x80", "مرحبا€"},
    {"cp1257 windows-1257 x-cp1257", "\xe0\xfe\x80", "ąž€"},
    {"cp1258 windows-1258 x-cp1258", "\xfe\x80", "₫€"},
    {"x-mac-cyrillic x-mac-ukrainian", "\x8f\xf0\xe8\xe2\xe5\xf2", "Привет"},
    {"chinese csgb2312 csiso58gb231280 GB2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030",
     "\xc4\xe3\xba\xc3\xd6\xec\xe9\x46\xbb\xf9\x86\xb4\x95\x32\x82\x36", "你好朱镕基喆𠀀"},
    {"Big5 big5-hkscs cn-big5 csbig5 x-x-big5", "\xa7\x41\xa6\x6e\xa1\xd0\xa1\x5a\xf9\xd6\xf9\xd7", "你好－╴碁銹"},
    {"Big5 big5-hkscs cn-big5 csbig5 x-x-big5", "\xa7\x41\xa6\x6e\x9d\xf8\x9d\xef", "你好啲嘅"},
    {"cseucpkdfmtjapanese EUC-JP x-euc-jp", "\xc6\xfc\xcb\xdc\x8e\xb1", "日本ｱ"},
    {"csshiftjis ms932 ms_kanji shift-jis Shift_JIS sjis windows-31j x-sjis",
     "\x93\xfa\x96\x7b\xb1\x87\x40\xee\xe0\x87\x8a", "日本ｱ①髙㈱"},
    {"csiso2022jp ISO-2022-JP",
     "\x1b\x24\x42\x46\x7c\x4b\x5c\x38\x6c\x1b\x28\x42\x20\x52\x65\x3a\x20\x1b\x24\x28\x44\x30\x21\x1b\x28\x42",
     "日本語 Re: 丂"},
    {"cseuckr csksc56011987 EUC-KR iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949",
     "\xbe\xc8\xb3\xe7\x8c\x63\x94\xee", "안녕똠뷁"},
    {"csiso2022kr ISO-2022-KR", "\x1b\x24\x29\x43\x0e\x3e\x48\x33\x67\x0f\x20\x52\x65", "안녕 Re"},
    {"EUC-JP", "\xad\xa1\xad\xea", "①㈱"},
    {"ISO-2022-JP", "\033$B\x2d\x21\x2d\x6a\033(B a \033(I1\033(B", "①㈱ a ｱ"},
    {"ISO-2022-JP", "\033(J\\\033(B", "¥"},
    {"ISO-2022-CN", "\033$)A\016\x56\x50\x0f", "中"},
    {"utf-7 unicode-1-1-utf-7", "Re: +ZeVnLA-", "Re: 日本"},
    {"cp437 IBM437 cspc8codepage437", "\x94\xb4", "ö┤"},
};

static void test_labels(void)
{
    for (size_t at = 0; at < G_N_ELEMENTS(samples); at++) {
        g_auto(GStrv) labels = g_strsplit(samples[at].labels, " ", -1);
        for (char **label = labels; *label; label++) {
            g_autoptr(GString) text = g_string_new(NULL);
            bool exact = charset_decode(*label, samples[at].bytes, strlen(samples[at].bytes), false, text);
            g_test_message("%s", *label);
            g_assert_cmpstr(text->str, ==, samples[at].text);
            g_assert_true(exact);
        }
    }
}

static void assert_decoded(const char *label, const char *bytes, size_t length, const char *wanted, bool wanted_exact)
{
    g_autoptr(GString) text = g_string_new(NULL);
    bool exact = charset_decode(label, bytes, length, false, text);
    g_assert_cmpstr(text->str, ==, wanted);
    g_assert_cmpint(exact, ==, wanted_exact);
}

/* UTF-16 says in front which byte comes first, or else the small one does. */
static void test_utf_16(void)
{
    static const char little[] = "R\0e\0:\0 \0\xe5\x65\x40\xd8\0\xdc", big[] = "\0R\0e\0:\0 \x65\xe5\xd8\x40\xdc\0";
    static const char little_mark[] = "\xff\xfeR\0e\0", big_mark[] = "\xfe\xff\0R\0e";
    static const char *const names[] = {"csunicode",   "iso-10646-ucs-2", "ucs-2",   "unicode",
                                        "unicodefeff", "utf-16",          "UTF-16LE"};
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++) {
        assert_decoded(names[at], little, sizeof little - 1, "Re: 日𠀀", true);
        assert_decoded(names[at], little_mark, sizeof little_mark - 1, "Re", true);
        assert_decoded(names[at], big_mark, sizeof big_mark - 1, "Re", true);
    }
    assert_decoded("unicodefffe", big, sizeof big - 1, "Re: 日𠀀", true);
    assert_decoded("utf-16be", little_mark, sizeof little_mark - 1, "Re", true);
    assert_decoded("utf-16be", "\0R\xdc\0\0e", 6,
                   "R\xef\xbf\xbd"
                   "e",
                   false);
}

/* The result says whether anything was lost or guessed. */
static void test_loss(void)
{
    assert_decoded("utf-8", "a\xc3z", 3, "a\xef\xbf\xbdz", false);
    assert_decoded("windows-1252", "a\x81z", 3, "a\xef\xbf\xbdz", false);
    assert_decoded("iso-8859-2", "a\x9bz", 3, "a\xef\xbf\xbdz", false); /* a C1 control: terminals obey it */
    assert_decoded("euc-kr", "\xb0\xa1\xff", 3, "가\xef\xbf\xbd", false);
    assert_decoded("euc-kr", "\xb0\xa1\xb0", 3, "가\xef\xbf\xbd", false);
    assert_decoded("iso-2022-jp", "\033$B\x46", 4, "\xef\xbf\xbd", false);
    assert_decoded("iso-2022-jp", "\033$B\x2d\x21\x46\033(Bz", 10, "①\xef\xbf\xbdz", false);
    assert_decoded("iso-2022-jp", "\033$B\x46\033$B\x46\x7c", 9, "\xef\xbf\xbd日", false);
    assert_decoded("iso-2022-jp", "\033$B\x46\n\x46\x7c", 7, "\xef\xbf\xbd\n日", false);
    assert_decoded("ks_c_5601-1987", "\xed\x95\x9c", 3, "한", false); /* UTF-8 under another label */
    assert_decoded("no-such-charset", "abc", 3, "abc", false);
    assert_decoded("no-such-charset", "\xe4\x93\x9b\x81", 4, "ä“›\xef\xbf\xbd", false);
    assert_decoded("", "\xe4\x93\x9b\x81", 4, "ä“›\xef\xbf\xbd", false);
    assert_decoded("", "\xc3\xa4", 2, "ä", false);
    assert_decoded("", "abc", 3, "abc", true);
    assert_decoded("utf-8//IGNORE", "a\xc3z", 3, "aÃz", false); /* no such label: nothing tells iconv to be silent */
    assert_decoded("cp437//TRANSLIT", "a", 1, "a", false);
    g_autofree char *long_label = g_strnfill(5000, 'x');
    assert_decoded(long_label, "a", 1, "a", false);
}

/* A NUL ends nothing. */
static void test_nul(void)
{
    static const struct {
        const char *label, *bytes, *wanted;
        size_t length, wanted_length;
    } cases[] = {{"iso-2022-jp", "\033$B\x2d\x21\033(B\0z", "①\0z", 10, 5},
                 {"big5", "\xa7\x41\0\x9d\xf8", "你\0啲", 5, 7},
                 {"big5", "z\0\x88\x66z", "z\0Êz", 5, 5}};
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autoptr(GString) text = g_string_new(NULL);
        g_assert_true(charset_decode(cases[at].label, cases[at].bytes, cases[at].length, false, text));
        g_assert_cmpmem(text->str, text->len, cases[at].wanted, cases[at].wanted_length);
    }
}

/* All that a converter held back to see what follows comes, and all of a long text. */
static void test_long(void)
{
    assert_decoded("windows-1258", "e\xec", 2, "é", true);
    assert_decoded("windows-1258", "e", 1, "e", true);
    assert_decoded("windows-1258", "\xe2", 1, "â", true);
    assert_decoded("big5", "\x88\x66", 2, "Ê", true);
    g_autoptr(GString) bytes = g_string_new(NULL);
    for (unsigned count = 0; count < 100000; count++)
        g_string_append(bytes, "\xbe\xc8");
    g_autoptr(GString) text = g_string_new(NULL);
    g_assert_true(charset_decode("euc-kr", bytes->str, bytes->len, false, text));
    g_assert_cmpint(g_utf8_strlen(text->str, -1), ==, 100000);
}

/* Where a limit cut a character, that one is left out, and nothing is lost. */
static void test_cut(void)
{
    static const struct {
        const char *label, *bytes;
    } cuts[] = {{"utf-8", "\xea\xb0\x80\xe3\x81"},
                {"euc-kr", "\xb0\xa1\xb0"},
                {"", "\xea\xb0\x80\xe3"},
                {"gb18030", "\x82\x37\xcf\x35\x95\x32\x82"},
                {"iso-2022-kr", "\033$)C\016\x30\x21\x30"},
                {"no-such-charset", "\xea\xb0\x80\xe3"}};
    for (size_t at = 0; at < G_N_ELEMENTS(cuts); at++) {
        g_autoptr(GString) text = g_string_new(NULL);
        charset_decode(cuts[at].label, cuts[at].bytes, strlen(cuts[at].bytes), true, text);
        g_assert_cmpstr(text->str, ==, "가");
    }
    static const char japanese[] = "\033$B\x46\x7c\033(B";
    for (size_t length = 0; length < sizeof japanese; length++) {
        g_autoptr(GString) text = g_string_new(NULL);
        g_assert_true(charset_decode("iso-2022-jp", japanese, length, true, text));
        g_assert_cmpstr(text->str, ==, length >= 5 ? "日" : "");
    }
}

static void test_same(void)
{
    g_assert_true(charset_same("utf8", "UTF-8"));
    g_assert_true(charset_same("ks_c_5601-1987", "euc-kr"));
    g_assert_true(charset_same("cp949", "euc-kr"));
    g_assert_true(charset_same("shift_jis", "CP932"));
    g_assert_true(charset_same("big5", "x-windows-950"));
    g_assert_false(charset_same("cp949", "cp932"));
    g_assert_true(charset_same("x-a", "X-A"));
    g_assert_false(charset_same("x-a", "x-b"));
    g_assert_false(charset_same("utf-8", "x-b"));
    g_assert_false(charset_same("x-b", "utf-8"));
}

SUITE("charset")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/charset/labels", test_labels);
    g_test_add_func("/charset/UTF-16", test_utf_16);
    g_test_add_func("/charset/loss", test_loss);
    g_test_add_func("/charset/NUL", test_nul);
    g_test_add_func("/charset/long", test_long);
    g_test_add_func("/charset/cut", test_cut);
    g_test_add_func("/charset/same", test_same);
    return g_test_run();
}
