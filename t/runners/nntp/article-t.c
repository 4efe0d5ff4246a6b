/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/nntp/article.h"

#include <string.h>

static const char *const removed[] = {"received", "X-Trace", NULL};
static const ArticleRules rules = {.newsgroup = "local.test", .list_id = "test.example.com",
                                   .mail_host = "example.com", .remove = removed, .date = 0};

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
    g_autofree char *text = made("Received: by x\r\nFrom: a@example.org\r\nSubject: one\r\n two\r\nDate: then\r\n"
                                 "Message-ID: <1@example.org>\r\nX-Own: kept\r\nx-trace: 1\r\n\r\nbody\r\n.\r\n",
                                 &rules, false, &id);
    g_assert_cmpstr(text, ==, FRONT "Message-ID: <1@example.org>\r\nFrom: a@example.org\r\nSubject: one\r\n two\r\n"
                                    "Date: then\r\nX-Own: kept\r\n\r\nbody\r\n.\r\n");
    g_assert_cmpstr(id, ==, "1@example.org");
}

/* Fields that would be an order to news servers, or a lie about who let it pass. */
static void test_orders(void)
{
    g_autofree char *id = NULL;
    g_autofree char *text = made("From: a@example.org\nControl: cancel <2@x>\nSupersedes: <2@x>\nNewsgroups: alt.all\n"
                                 "Approved: me\nPath: a!b\nXref: a\nReturn-Path: <a@b>\nDate: d\nSubject: s\n"
                                 "Message-ID: <1@x>\n\nbody", &rules, false, &id);
    g_assert_cmpstr(text, ==, FRONT "Message-ID: <1@x>\r\nFrom: a@example.org\r\nDate: d\r\nSubject: s\r\n\r\n"
                                    "body\r\n");
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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nntp/article/what is kept", test_kept);
    g_test_add_func("/nntp/article/orders to servers", test_orders);
    g_test_add_func("/nntp/article/what is mended", test_mended);
    g_test_add_func("/nntp/article/our own", test_own);
    return g_test_run();
}
