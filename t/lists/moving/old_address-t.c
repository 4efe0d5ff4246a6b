/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Addresses of old archives, and their pages. */
#include <string.h>

#include "lists/moving/old_address.h"
#include "lists/moving/old_page.h"
#include "t/suite.h"

#define HASH "JJIGKPKB6CVDX6B2CUG4IHAJRIQIOUTP"

/* Return what an address says, in one line: "message talk 2019-March/1234 1234". "none": it is no address. g_free() */
static char *said(OldKind kind, const char *text)
{
    static const char *const places[] = {"site", "list", "month", "mails", "message", "hash", "thread"};
    g_auto(OldAddress) address = {0};
    g_autofree char *path = g_strndup(text, strcspn(text, "?"));
    if (!old_address_read(kind, path, text[strlen(path)] ? text + strlen(path) + 1 : "", &address))
        return g_strdup("none");
    GString *line = g_string_new(places[address.place]);
    const char *const more[] = {address.list, address.keys[0], address.keys[1], address.hash};
    for (size_t i = 0; i < G_N_ELEMENTS(more); i++)
        if (more[i])
            g_string_append_printf(line, " %s", more[i]);
    if (address.place == OLD_MONTH || address.place == OLD_MONTH_MAILS)
        g_string_append_printf(line, " %d-%d", address.year, address.month);
    return g_string_free(line, FALSE);
}

static const struct {
    OldKind kind;
    const char *address, *says;
} known[] = {
    {OLD_PIPERMAIL, "", "site"},
    {OLD_PIPERMAIL, "/", "site"},
    {OLD_PIPERMAIL, "/talk", "list talk"},
    {OLD_PIPERMAIL, "//talk//index.html", "list talk"},
    {OLD_PIPERMAIL, "/talk/2019-March/001234.html", "message talk 2019-March/1234 1234"},
    {OLD_PIPERMAIL, "/ta%6Ck/2019-March/001234%2Ehtml", "message talk 2019-March/1234 1234"},
    {OLD_PIPERMAIL, "/talk/2019-March/000000.html", "message talk 2019-March/0 0"},
    {OLD_PIPERMAIL, "/talk/2019/1234567.html", "message talk 2019/1234567 1234567"},
    {OLD_PIPERMAIL, "/talk/2019-March/thread.html", "month talk 2019-3"},
    {OLD_PIPERMAIL, "/talk/2019q4/date.html", "month talk 2019-10"},
    {OLD_PIPERMAIL, "/talk/Week-of-Mon-20190304/", "month talk 2019-3"},
    {OLD_PIPERMAIL, "/talk/20191231/subject.html", "month talk 2019-12"},
    {OLD_PIPERMAIL, "/talk/2019-March.txt.gz", "mails talk 2019-3"},
    {OLD_PIPERMAIL, "/talk/2019.txt", "list talk"},
    {OLD_PIPERMAIL, "/talk/2019q5/", "none"},
    {OLD_PIPERMAIL, "/talk/1900-March/", "none"},
    {OLD_PIPERMAIL, "/talk/2019-M\xc3\xa4rz/", "none"},
    {OLD_PIPERMAIL, "/talk/2019-March/1234567890.html", "none"},
    {OLD_PIPERMAIL, "/talk/2019-March/001234.html/x", "none"},
    {OLD_PIPERMAIL, "/talk/../x", "none"},
    {OLD_PIPERMAIL, "/talk/%2e%2e", "none"},
    {OLD_PIPERMAIL, "/talk%2F2019-March", "none"},
    {OLD_PIPERMAIL, "/talk%00", "none"},
    {OLD_PIPERMAIL, "/talk%f", "none"},
    {OLD_PIPERMAIL, "/t\xff", "none"},
    {OLD_HYPERKITTY, "/list/talk@example.com", "list talk@example.com"},
    {OLD_HYPERKITTY, "/list/talk%40example.com/latest", "list talk@example.com"},
    {OLD_HYPERKITTY, "/list/talk@example.com/message/" HASH "/", "hash talk@example.com " HASH},
    {OLD_HYPERKITTY, "/list/talk@example.com/message/jjigkpkb6cvdx6b2cug4ihajriqioutp/attachment/2/a.png",
     "hash talk@example.com " HASH},
    {OLD_HYPERKITTY, "/list/talk@example.com/thread/" HASH, "thread talk@example.com " HASH},
    {OLD_HYPERKITTY, "/list/talk@example.com/2019/3/", "month talk@example.com 2019-3"},
    {OLD_HYPERKITTY, "/list/talk@example.com/2019/12/24/", "month talk@example.com 2019-12"},
    {OLD_HYPERKITTY, "/list/talk@example.com/2019/13/", "none"},
    {OLD_HYPERKITTY, "/list/talk@example.com/2019/", "none"},
    {OLD_HYPERKITTY, "/list/talk@example.com/message/" HASH "A/", "none"},
    {OLD_HYPERKITTY, "/list/talk@example.com/message/new", "none"},
    {OLD_HYPERKITTY, "/search", "none"},
    {OLD_MHONARC, "/talk/msg00123.html", "message talk 123"},
    {OLD_MHONARC, "/talk/2019/03/msg00007.html", "message talk 2019/03/7"},
    {OLD_MHONARC, "/talk/threads.html", "list talk"},
    {OLD_MHONARC, "/talk/2019/03/", "month talk 2019-3"},
    {OLD_MHONARC, "/talk/201903/thrd2.html", "month talk 2019-3"},
    {OLD_MHONARC, "/talk/msg.html", "list talk"},
    {OLD_MHONARC, "/talk/picture.png", "none"},
    {OLD_SYMPA, "/arc/talk/2019-03/msg00012.html", "message talk 2019-03/12"},
    {OLD_SYMPA, "/arc/talk/2019-03/mail3.html", "month talk 2019-3"},
    {OLD_SYMPA, "/arc/talk", "list talk"},
    {OLD_SYMPA, "/arc/talk/msg00012.html", "none"},
    {OLD_SYMPA, "/arc/talk/2019-03/x/msg00012.html", "none"},
    {OLD_SYMPA, "/arcsearch_id/talk/2019-03/87myycy5eh.fsf%40uwakimon.sk.tsukuba.ac.jp", "hash talk " HASH},
    {OLD_SYMPA, "/info/talk", "none"},
    {OLD_EZMLM, "?talk:mss:123:201903:abcdef", "message talk 123"},
    {OLD_EZMLM, "?3%3Amss%3A0123", "message 3 123"},
    {OLD_EZMLM, "?talk:iis:201903:abcdef", "month talk 2019-3"},
    {OLD_EZMLM, "?talk", "list talk"},
    {OLD_EZMLM, "?:mss:1", "none"},
    {OLD_EZMLM, "/3/123", "message 3 123"},
    {OLD_EZMLM, "/3/x", "none"},
};

static void addresses_are_taken_apart(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
        g_autofree char *is = said(known[i].kind, known[i].address);
        if (strcmp(is, known[i].says) != 0)
            g_error("%s: %s, expected %s", known[i].address, is, known[i].says);
    }
}

static void files_have_the_keys_of_their_addresses(void)
{
    static const struct {
        OldKind kind;
        const char *file, *key;
    } files[] = {
        {OLD_PIPERMAIL, "2019-March/001234.html", "2019-March/1234"},
        {OLD_PIPERMAIL, "2019-March/thread.html", NULL},
        {OLD_PIPERMAIL, "index.html", NULL},
        {OLD_PIPERMAIL, "attachments/20190304/x.html", NULL},
        {OLD_MHONARC, "msg00123.html", "123"},
        {OLD_MHONARC, "2019/03/msg00123.html", "2019/03/123"},
        {OLD_SYMPA, "2019-03/msg00012.html", "2019-03/12"},
        {OLD_SYMPA, "2019-03/arctxt/12", NULL},
        {OLD_EZMLM, "0/07", "7"},
        {OLD_EZMLM, "12/34", "1234"},
        {OLD_EZMLM, "12/index", NULL},
        {OLD_EZMLM, "12/345", NULL},
        {OLD_HYPERKITTY, "msg00123.html", NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *key = old_address_file_key(files[i].kind, files[i].file);
        g_assert_cmpstr(key, ==, files[i].key);
    }
    /* Counted, it is what an address without a known volume is looked for as. */
    g_autofree char *counted = old_address_counted(1234);
    g_auto(OldAddress) address = {0};
    g_assert_true(old_address_read(OLD_PIPERMAIL, "/talk/2019-March/001234.html", "", &address));
    g_assert_cmpstr(counted, ==, address.keys[1]);
}

static void a_page_tells_its_mail(void)
{
    static const struct {
        const char *page, *id, *subject;
        int64_t date;
    } pages[] = {
        {"<!-- MHonArc v2.6.19+ -->\n<!--X-Subject: Gr\xc3\xbc\xc3\x9f"
         "e &#45;&#45; &#38; so &#60;on> -->\n"
         "<!--X-Date: Mon, 4 Mar 2019 12:34:56 +0100 -->\n<!--X-Message-Id: x&#45;1+&#38;@b.example -->\n"
         "<!--X-Head-End-->\n<!--X-Message-Id: lie@x -->",
         "x-1+&@b.example",
         "Gr\xc3\xbc\xc3\x9f"
         "e -- & so <on>",
         1551699296},
        {"<!--X-Subject: no id -->\n<!--X-Message-Id: 4e46@NO&#45;ID&#45;FOUND.mhonarc.org -->", NULL, "no id", 0},
        {"<HTML><LINK REL=\"made\" HREF=\"mailto:talk%40a?Subject=Re%3A%20x&In-Reply-To=%3C1-2%40b.example%3E\">"
         "<H1>[Talk] x &amp; y</H1><I>Mon Mar  4 12:34:56 UTC 2019</I><!--beginarticle-->"
         "<A HREF=\"mailto:a?In-Reply-To=%3Clie%40x%3E\"><!--X-Subject: lie -->",
         "1-2@b.example", "[Talk] x & y", 1551702896},
        {"<A HREF=\"mailto:a@b?Subject=Re: x&In-Reply-To=<1@b.example>\"><H1>x</H1>\n<I>Mon Mar 4 12:34:56 2019</I>",
         "1@b.example", "x", 1551702896},
        {"<HTML><A HREF=\"mailto:a@b?Subject=Re: x&In-Reply-To=\"><H1>x</H1><I>yesterday</I>", NULL, "x", 0},
        {"<HTML><A HREF=\"mailto:a@b?In-Reply-To=%ff%fe\">", NULL, NULL, 0},
        {"", NULL, NULL, 0},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(pages); i++) {
        g_auto(OldPage) page = {0};
        old_page_read(pages[i].page, strlen(pages[i].page), &page);
        g_assert_cmpstr(page.message_id, ==, pages[i].id);
        g_assert_cmpstr(page.subject, ==, pages[i].subject);
        g_assert_cmpint(page.date, ==, pages[i].date);
    }
}

static void pages_of_lists_are_taken_apart(void)
{
    static const struct {
        OldPages kind;
        const char *path, *list; /* list "": there is no such page; NULL: it is of all lists */
        bool owners;
    } paths[] = {
        {OLD_PAGES_MAILMAN, "/listinfo/talk", "talk", false},
        {OLD_PAGES_MAILMAN, "/listinfo/c%2B%2B/", "c++", false},
        {OLD_PAGES_MAILMAN, "/admin/talk/general", "talk", true},
        {OLD_PAGES_MAILMAN, "/listinfo", NULL, false},
        {OLD_PAGES_MAILMAN, "", NULL, false},
        {OLD_PAGES_MAILMAN, "/private/talk", "", false},
        {OLD_PAGES_MAILMAN, "/listinfo/../talk", "", false},
        {OLD_PAGES_SYMPA, "/review/talk/1/25/email", "talk", false},
        {OLD_PAGES_SYMPA, "/admin/talk", "talk", true},
        {OLD_PAGES_SYMPA, "/lists", NULL, false},
        {OLD_PAGES_SYMPA, "/lists/computing", "", false},
        {OLD_PAGES_POSTORIUS, "/lists/talk.example.com/held_messages", "talk.example.com", false},
        {OLD_PAGES_POSTORIUS, "/accounts/login/", "", false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
        bool owners;
        char *list;
        bool read = old_pages_read(paths[i].kind, paths[i].path, &list, &owners);
        g_assert_cmpint(read, ==, g_strcmp0(paths[i].list, "") != 0);
        g_assert_cmpstr(list, ==, read ? paths[i].list : NULL);
        g_assert_true(!read || owners == paths[i].owners);
        g_free(list);
    }
}

SUITE("moving/old_address")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/old_address/addresses are taken apart", addresses_are_taken_apart);
    g_test_add_func("/old_address/files have the keys of their addresses", files_have_the_keys_of_their_addresses);
    g_test_add_func("/old_address/a page tells its mail", a_page_tells_its_mail);
    g_test_add_func("/old_address/pages of lists are taken apart", pages_of_lists_are_taken_apart);
    return g_test_run();
}
