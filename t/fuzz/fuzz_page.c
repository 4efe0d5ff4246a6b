/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Any bytes as a mail that a page shows, and as a template. In the HTML of a mail each tag is one of ours, quotation
 * marks are balanced, and where addresses are masked there is no link to one.
 */
#include <string.h>

#include "runners/web/mail_html.h"
#include "runners/web/mustache.h"
#include "t/fuzz/fuzz.h"

static const char *const tags[] = {"p>",
                                   "p ",
                                   "/p>",
                                   "a rel=\"nofollow",
                                   "/a>",
                                   "blockquote>",
                                   "/blockquote>",
                                   "details>",
                                   "details open>",
                                   "/details>",
                                   "summary ",
                                   "/summary>",
                                   "pre ",
                                   "pre>",
                                   "/pre>",
                                   "span>",
                                   "span class=\"",
                                   "/span>",
                                   "section class=\"inner\">",
                                   "/section>",
                                   "b>",
                                   "/b>",
                                   "hr>"};

static void check_html(const char *html, bool masked)
{
    for (const char *at = html; (at = strchr(at, '<')); at++) {
        bool known = false;
        for (size_t i = 0; i < G_N_ELEMENTS(tags) && !known; i++)
            known = g_str_has_prefix(at + 1, tags[i]);
        require(known);
        const char *end = strchr(at, '>');
        require(end && !memchr(at + 1, '<', (size_t)(end - at - 1)));
        unsigned quotes = 0;
        for (const char *byte = at; byte < end; byte++)
            quotes += *byte == '"';
        require(quotes % 2 == 0);
    }
    require(g_utf8_validate(html, -1, NULL));
    require(!masked || !strstr(html, "href=\"mailto:"));
}

static const Mustache *itself(void *data, const char *name)
{
    (void)name;
    return data;
}

static void try_template(const uint8_t *data, size_t size)
{
    g_autofree char *text = g_strndup((const char *)data, size);
    g_autoptr(Mustache) template = mustache_new("input", text, NULL, NULL, NULL);
    if (!template)
        return;
    json_auto_t *view = json_pack("{ss s[i] s{ss}}", "a", "<", "b", 1, "c", "d", "&");
    g_autoptr(GString) out = g_string_new(NULL);
    const char *partial = strchr(text, '>'); /* one that stood twice in itself would take for ever */
    mustache_fill(template, view, partial && !strchr(partial + 1, '>') ? itself : NULL, template, out, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GBytes) octets = g_bytes_new(data, size);
    g_autoptr(Readable) mail = readable_new(octets, READABLE_TEXT);
    for (int masked = 0; masked < 2; masked++) {
        const MailHtml how = {.language = "en", .files = "/file/", .masked = masked};
        g_autoptr(GString) html = g_string_new(NULL);
        mail_html(&how, mail, html);
        check_html(html->str, masked);
    }
    try_template(data, size);
    return 0;
}
