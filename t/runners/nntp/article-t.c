/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/nntp/article.h"
#include "t/suite.h"

#include <string.h>

static const char *const removed[] = {"received", "X-Trace", NULL};
static const ArticleRules rules = {.newsgroup = "local.test", .list_id = "test.example.com",
                                   .mail_host = "example.com", .remove = removed, .date = 0};

#define DATE "Date: Thu, 1 Jan 1970 01:00:00 +0100\r\n"

static char *made(const char *text, const ArticleRules *own, bool own_id, char **id)
{
    g_autoptr(GBytes) post = g_bytes_new(text, strlen(text));
    g_autoptr(GBytes) article = article_make(post, own, own_id, id);
    return g_strndup(g_bytes_get_data(article, NULL), g_bytes_get_size(article));
}

#define FRONT "Newsgroups: local.test\r\nX-News-Gateway: test.example.com\r\n"

static void test_kept(void)
{
    g_autofree char *id = NULL;
    g_autofree char *text = made("Received: by x\r\nFrom: a@example.org\r\nSubject: one\r\n two\r\n" DATE
                                 "Message-ID: <1@example.org>\r\nX-Own: kept\r\nx-trace: 1\r\n\r\nbody\r\n.\r\n",
                                 &rules, false, &id);
    g_assert_cmpstr(text, ==, FRONT "Message-ID: <1@example.org>\r\nFrom: a@example.org\r\nSubject: one\r\n two\r\n"
                                    DATE "X-Own: kept\r\n\r\nbody\r\n.\r\n");
    g_assert_cmpstr(id, ==, "1@example.org");
}

/* Fields that would be an order to news servers, or a lie about who let it pass. */
static void test_orders(void)
{
    g_autofree char *id = NULL;
    g_autofree char *text = made("From: a@example.org\nControl: cancel <2@x>\nSupersedes: <2@x>\nNewsgroups: alt.all\n"
                                 "Approved: me\nPath: a!b\nXref: a\nReturn-Path: <a@b>\n" DATE "Subject: s\n"
                                 "Message-ID: <1@x>\n\nbody", &rules, false, &id);
    g_assert_cmpstr(text, ==, FRONT "Message-ID: <1@x>\r\nFrom: a@example.org\r\n" DATE
                                    "Subject: s\r\n\r\nbody\r\n");
    ArticleRules moderated = rules;
    moderated.approved = "test@example.com";
    g_free(id);
    g_autofree char *approved = made("Subject: s\r\n\r\n", &moderated, false, &id);
    g_assert_nonnull(strstr(approved, "\r\nApproved: test@example.com\r\n"));
}

static void test_mended(void)
{
    g_autofree char *id = NULL, *again = NULL;
    static const char post[] = "To: a@x\r\nTo: b@x\r\nCc:\r\nSubject:\r\n long words\r\nX-A: 1\r\nX-A: 2\r\n"
                               "Message-ID: <with blank@x>\r\n\r\n";
    g_autofree char *text = made(post, &rules, false, &id);
    g_assert_true(g_str_has_suffix(id, ".news@example.com"));
    g_autofree char *expected = g_strdup_printf(
        FRONT "Message-ID: <%s>\r\nTo: a@x\r\nX-Original-To: b@x\r\nSubject: long words\r\nX-A: 1\r\nX-A: 2\r\n"
        "X-Original-Message-ID: <with blank@x>\r\nDate: Thu, 1 Jan 1970 00:00:00 +0000\r\n\r\n\r\n", id);
    g_assert_cmpstr(text, ==, expected);
    g_free(made(post, &rules, true, &again));
    g_assert_cmpstr(again, ==, id); /* the same at each try */
    g_autofree char *own = NULL, *bare = made("Message-ID: <1@x>\r\n\r\nx", &rules, true, &own);
    g_assert_cmpstr(own, !=, "1@x");
    g_assert_nonnull(strstr(bare, "\r\nX-Original-Message-ID: <1@x>\r\nSubject: (no subject)\r\n"));
}

/* The one field of an article that is made of this one, which is no other field that it must have. */
static char *field_made(const char *field)
{
    g_autofree char *id = NULL, *post = g_strconcat(field, "Subject: s\r\n" DATE "\r\nx\r\n", NULL);
    g_autofree char *text = made(post, &rules, false, &id);
    const char *end = strstr(text, "Subject: s\r\n" DATE), *start = strstr(text, "Message-ID:");
    g_assert_true(start && end);
    start = strchr(start, '\n') + 1;
    return g_strndup(start, (size_t)(end - start));
}

/* News servers insist on UTF-8, text on each line, and no control characters. */
static void test_octets(void)
{
    static const char *const cases[][2] = {
        {"X-A: J\xf6rg \x93x\x94\r\n", "X-A: J\xc3\xb6rg \xe2\x80\x9cx\xe2\x80\x9d\r\n"},
        {"X-A: J\xc3\xb6rg\r\n", "X-A: J\xc3\xb6rg\r\n"},
        {"From: \"J\xf6rg\"\r\n <j@example.org>\r\n", "From: \"J\xc3\xb6rg\"\r\n <j@example.org>\r\n"},
        {"X-A: \x81\r\n", "X-A: \xc2\x81\r\n"},
        {"X-A: a\1b\x7f\vc\td\r\n", "X-A: a b  c\td\r\n"},
        {"X-A: a\rb\r\n", "X-A: a b\r\n"},
        {"X-A: \1\r\n b\r\n", "X-A: b\r\n"},
        {"X-A: a\r\n \v \r\n b\r\n", "X-A: a    b\r\n"},
        {"X-A: \x1b\r\n", ""},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *found = field_made(cases[at][0]);
        g_test_message("%s", cases[at][0]);
        g_assert_cmpstr(found, ==, cases[at][1]);
    }
    static const char gbk[] = "Subject: \xc4\xe3\r\nContent-Type: text/plain; charset=gbk\r\n\r\nx";
    g_autofree char *id = NULL, *text = made(gbk, &rules, false, &id);
    g_assert_nonnull(strstr(text, "\r\nSubject: \xe4\xbd\xa0\r\n"));
    static const char utf7[] = "Content-Type: text/plain; charset=UTF-7\r\n"
                               "Subject: \xf6+AAo-Control: cancel <a@b>\r\n\r\nx";
    static const char utf16[] = "Content-Type: text/plain; charset=UTF-16LE\r\nSubject: \xf6\xd8\n X: a\r\n\r\nx";
    for (int at = 0; at < 2; at++) {
        g_autofree char *one = NULL, *hidden = made(at ? utf7 : utf16, &rules, false, &one);
        g_assert_null(strstr(hidden, "\nControl"));
        g_assert_nonnull(strstr(hidden, "Subject: \xc3\xb6"));
    }
    static const char nul[] = "X-A: a\0b\r\nSubject: s\r\n\r\na\0\r\n\0\0b\r\n\0";
    g_autoptr(GBytes) post = g_bytes_new_static(nul, sizeof nul - 1);
    g_autofree char *other = NULL;
    g_autoptr(GBytes) article = article_make(post, &rules, false, &other);
    size_t length;
    const char *octets = g_bytes_get_data(article, &length);
    g_assert_null(memchr(octets, '\0', length));
    g_assert_true(length > 11 && memcmp(octets + length - 10, "\r\n\r\na\r\nb\r\n", 10) == 0);
}

/* Each line has at most 998 bytes and some text, and unfolded they are what they were, but for a blank where there was
 * none to break the line at. */
static void test_long_lines(void)
{
    static const char *const units[] = {"word ", "x", "<1@example.org> ", "<1@example.org>", "a@example.org,",
                                        "\xc3\xb6", "a  \t ", "words\r\n and "};
    for (size_t at = 0; at < G_N_ELEMENTS(units); at++)
        for (size_t size = 980; size < 4000; size += size < 1010 ? 1 : 701) {
            g_autoptr(GString) value = g_string_new("X-A: ");
            while (value->len < size)
                g_string_append(value, units[at]);
            g_string_append(value, "y\r\n");
            g_autofree char *found = field_made(value->str);
            g_auto(GStrv) lines = g_strsplit(found, "\r\n", -1);
            g_autoptr(GString) all = g_string_new(NULL);
            g_assert_true(g_utf8_validate(found, -1, NULL));
            for (char **line = lines; line[1]; line++) {
                g_assert_cmpuint(strlen(*line), <=, 998);
                g_assert_true(line == lines || **line == ' ' || **line == '\t');
                g_assert_cmpuint(strspn(*line, " \t"), <, strlen(*line));
                g_string_append(all, *line);
            }
            g_auto(GStrv) had = g_strsplit_set(value->str, " \t\r\n", -1), has = g_strsplit_set(all->str, " \t", -1);
            g_autofree char *before = g_strjoinv("", had), *after = g_strjoinv("", has);
            g_assert_cmpstr(before, ==, after);
        }
    g_autofree char *name = g_strnfill(1000, 'N'), *field = g_strconcat(name, ": x\r\n", NULL);
    g_autofree char *none = field_made(field);
    g_assert_cmpstr(none, ==, "");
}

static void test_dates(void)
{
    static const struct {
        const char *date;
        bool kept;
    } cases[] = {
        {"Thu, 1 Jan 1970 00:00:00 +0000", true},
        {"1 Jan 1970 00:00 -0100 (a zone)", true},
        {"Thu, 1 Jan 1970 00:00:00 GMT", true},
        {"Thu, 01 Jan 1970 11:59:00 +0000", true},
        {"Fri, 2 Jan 1970 02:00:00 +1400", true},
        {"Thu, 1 Jan 1970 12:01:00 +0000", false},
        {"Mon, 23 Nov 9999 10:00:00 +0000", false},
        {"yesterday", false},
        {"Thu, 1 Jan 70 00:00:00 +0000", false},
        {"Thu, 32 Jan 1970 00:00:00 +0000", false},
        {"Thu, 1 Foo 1970 00:00:00 +0000", false},
        {"Thu, 1 anF 1970 00:00:00 +0000", false},
        {"Thu, 1 Jan 1970 24:00:00 +0000", false},
        {"Thu, 1 Jan 1970 00:00:00 +9900", false},
        {"Thu, 1 Jan 1970 00:00:00", false},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *id = NULL, *post = g_strdup_printf("Date: %s\r\nSubject: s\r\n\r\nx", cases[at].date);
        g_autofree char *text = made(post, &rules, false, &id);
        g_autofree char *kept = g_strdup_printf("\r\nDate: %s\r\n", cases[at].date);
        g_autofree char *other = g_strdup_printf("\r\nX-Original-Date: %s\r\n", cases[at].date);
        g_test_message("%s", cases[at].date);
        g_assert_cmpint(strstr(text, kept) != NULL, ==, cases[at].kept);
        g_assert_cmpint(strstr(text, other) != NULL, ==, !cases[at].kept);
        g_assert_true(cases[at].kept || strstr(text, "\r\nDate: Thu, 1 Jan 1970 00:00:00 +0000\r\n"));
    }
}

static void test_ids(void)
{
    static const struct {
        const char *id;
        bool kept;
    } cases[] = {
        {"a@b", true}, {"a.b_c!#$%&'*+-/=?^`{|}~@d.e", true}, {"a@[127.0.0.1]", true}, {"a@[x(),:;@\"<y]", true},
        {"a", false}, {"@b", false}, {"a@", false}, {".a@b", false}, {"a..b@c", false}, {"a@b.", false},
        {"a@b@c", false},
        {"\"a\"@b", false}, {"a[1]@b", false}, {"(a)@b", false}, {"a,b@c", false}, {"a;b@c", false}, {"a@b:5", false},
        {"a@[]", false}, {"a@[b", false}, {"a@[b]c", false}, {"a@[\\b]", false}, {"\xc3\xb6@b", false},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *id = NULL, *post = g_strdup_printf("Message-ID: <%s>\r\nSubject: s\r\n\r\nx", cases[at].id);
        g_autofree char *text = made(post, &rules, false, &id);
        g_test_message("%s", text);
        g_assert_cmpint(strcmp(id, cases[at].id) == 0, ==, cases[at].kept);
        g_assert_cmpint(g_str_has_suffix(id, ".news@example.com"), ==, !cases[at].kept);
    }
}

static bool is_own(const char *text)
{
    g_autoptr(GBytes) article = g_bytes_new(text, strlen(text));
    return article_is_own(article, "test.example.com");
}

static void test_own(void)
{
    g_assert_true(is_own("X-News-Gateway: test.example.com\r\n\r\n"));
    g_assert_true(is_own("List-Id: Test <Test.example.com>\r\n\r\n"));
    g_assert_true(is_own("List-Id: test.example.com\r\n\r\n"));
    g_assert_false(is_own("List-Id: Test <other.example.com>\r\nX-News-Gateway: other.example.com\r\n\r\n"));
    g_assert_false(is_own("\r\nList-Id: test.example.com\r\n"));
    g_autoptr(GBytes) head = g_bytes_new_static("Newsgroups: a.b,local.test, c\r\n", 31);
    g_assert_true(article_is_in(head, "local.test"));
    g_assert_true(article_is_in(head, "c"));
    g_assert_false(article_is_in(head, "local"));
}

SUITE("nntp/article")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nntp/article/what is kept", test_kept);
    g_test_add_func("/nntp/article/orders to servers", test_orders);
    g_test_add_func("/nntp/article/what is mended", test_mended);
    g_test_add_func("/nntp/article/octets", test_octets);
    g_test_add_func("/nntp/article/long lines", test_long_lines);
    g_test_add_func("/nntp/article/dates", test_dates);
    g_test_add_func("/nntp/article/ids", test_ids);
    g_test_add_func("/nntp/article/our own", test_own);
    return g_test_run();
}
