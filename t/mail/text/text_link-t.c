/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/text_link.h"

#include <string.h>

#include "t/doubling.h"
#include "t/suite.h"

/* The text with "w{...}", "m{...}" and "a{...}" around what was found, and "!" before one that holds an address. */
static char *marked(const char *text)
{
    GString *out = g_string_new(NULL);
    g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(TextLink));
    text_link_find(text, strlen(text), links);
    size_t at = 0;
    for (guint number = 0; number < links->len; number++) {
        const TextLink *link = &g_array_index(links, TextLink, number);
        g_string_append_len(out, text + at, (gssize)(link->start - at));
        g_string_append_printf(out, "%s%c{%.*s}", link->kind == TEXT_LINK_WEB && link->holds_address ? "!" : "",
                               "wma"[link->kind], (int)link -> length, text + link -> start);
        at = link->start + link->length;
    }
    g_string_append(out, text + at);
    return g_string_free(out, FALSE);
}

static void assert_marked(const char *text, const char *wanted)
{
    g_autofree char *found = marked(text);
    g_assert_cmpstr(found, ==, wanted);
}

static void test_web(void)
{
    assert_marked("see https://example.com/a?b=c&d=%20#e and ftp://x.example",
                  "see w{https://example.com/a?b=c&d=%20#e} "
                  "and w{ftp://x.example}");
    assert_marked("HTTP://EXAMPLE.COM", "w{HTTP://EXAMPLE.COM}");
    assert_marked("(http://example.com/).", "(w{http://example.com/}).");
    assert_marked("(see http://example.com/a_(b)).", "(see w{http://example.com/a_(b)}).");
    assert_marked("[http://example.com/x], \"http://example.com/y\"!",
                  "[w{http://example.com/x}], \"w{http://example.com/y}\"!");
    assert_marked("<http://example.com/x.> http://example.com/x...",
                  "<w{http://example.com/x.}> w{http://example.com/x}...");
    assert_marked("*http://example.com* 'http://example.com'", "*w{http://example.com}* 'w{http://example.com}'");
    assert_marked("http://[2001:db8::1]:80/", "w{http://[2001:db8::1]:80/}");
    assert_marked("http://a.example/http://b.example/", "w{http://a.example/http://b.example/}");
    assert_marked("http://a.example/\nb", "w{http://a.example/}\nb");
}

static void test_other_scripts(void)
{
    assert_marked("http://b\u00fccher.example/\u00fc\u3002", "w{http://b\u00fccher.example/\u00fc}\u3002");
    assert_marked("\u300chttp://\u4f8b\u3048.jp/\u300d", "\u300cw{http://\u4f8b\u3048.jp/}\u300d");
    assert_marked("j\u00f6rg@b\u00fccher.example", "a{j\u00f6rg@b\u00fccher.example}");
}

/* Check that nothing is marked that is no link, or would be one to something that runs. */
static void test_none(void)
{
    assert_marked("javascript:alert(1) data:text/html,x vbscript:x file:///etc/passwd",
                  "javascript:alert(1) data:text/html,x vbscript:x file:///etc/passwd");
    assert_marked("xhttp://example.com svn+http://example.com http: http:// http://. http:///x https:/x",
                  "xhttp://example.com svn+http://example.com http: http:// http://. http:///x https:/x");
    assert_marked("javascript:http://example.com/%0aalert(1)", "javascript:w{http://example.com/%0aalert(1)}");
    assert_marked("a@b @c.example a@ a@.b.example a@b..example a@1.2.3 a@-",
                  "a@b @c.example a@ a@.b.example a@b..example "
                  "a@1.2.3 a@-");
    assert_marked("mailto: mailto:x mailto:@example.com", "mailto: mailto:x mailto:@example.com");
    g_autofree char *tail = g_strnfill(TEXT_LINK_MAX, 'x'),
                    *longer = g_strconcat("http://", tail, " b@c.example", NULL);
    g_autofree char *wanted = g_strconcat("http://", tail, " a{b@c.example}", NULL);
    assert_marked(longer, wanted);
}

static void test_addresses(void)
{
    assert_marked("Anne <anne@example.org>, 'bart+x@mail.example.org'.", "Anne <a{anne@example.org}>, "
                                                                         "'a{bart+x@mail.example.org}'.");
    assert_marked("mailto:anne@example.org?subject=a%20b, x", "m{mailto:anne@example.org?subject=a%20b}, x");
    assert_marked("<MAILTO:anne@example.org>", "<m{MAILTO:anne@example.org}>");
    assert_marked("mailto:a;b@example.org", "mailto:a;a{b@example.org}");
    assert_marked("https://lists.example/anne@example.org/x https://x.example/%40a https://x.example/@anne",
                  "!w{https://lists.example/anne@example.org/x} w{https://x.example/%40a} w{https://x.example/@anne}");
    assert_marked("https://x.example/?to=anne%40example.org", "!w{https://x.example/?to=anne%40example.org}");
    assert_marked("a@b.example@c.example", "a{a@b.example}@c.example");
}

static void test_mask(void)
{
    static const char *const texts[][2] = {
        {"", ""},
        {"no @ here", "no @ here"},
        {"Anne <anne@example.org>.", "Anne <anne@\u2026>."},
        {"mailto:anne@example.org?cc=bart@example.org", "mailto:anne@\u2026?cc=bart@\u2026"},
        {"https://x.example/?to=anne%40example.org&x", "https://x.example/?to=anne%40\u2026&x"},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(texts); at++) {
        g_autofree char *masked = text_link_mask(texts[at][0], strlen(texts[at][0]));
        g_assert_cmpstr(masked, ==, texts[at][1]);
    }
}

static void find(const char *text, size_t length, void *data)
{
    g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(TextLink));
    text_link_find(text, length, links);
    g_free(text_link_mask(text, length));
}

static void test_long(void)
{
    static const Doubling inputs[] = {
        {.unit = "http://"},
        {.unit = "mailto:a@b.example/"},
        {.unit = "/mailto:x"},
        {.unit = "@"},
        {.unit = "a@"},
        {.unit = "a@b."},
        {.unit = "a.", .after = "@"},
        {.unit = "%40"},
        {.unit = "(", .before = "http://a"},
        {.unit = ").", .before = "http://a"},
        {.unit = "http://a "},
        {.unit = "a@b.example "},
        {.unit = "-", .before = "a@b"},
        {.unit = "mailto:a@b.example/mailto:"},
        {.unit = "\xc3\xa4", .before = "http://"},
        {.unit = "x@x.xx%40", .before = "http://"},
    };
    doubling_check_all(inputs, G_N_ELEMENTS(inputs), find, NULL);
}

SUITE("text_link")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/text link/web", test_web);
    g_test_add_func("/text link/other scripts", test_other_scripts);
    g_test_add_func("/text link/none", test_none);
    g_test_add_func("/text link/addresses", test_addresses);
    g_test_add_func("/text link/mask", test_mask);
    g_test_add_func("/text link/long", test_long);
    return g_test_run();
}
