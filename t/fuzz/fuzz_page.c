/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Any bytes as a mail that a page shows, and as a template. In the HTML of a mail each tag is one of ours, quotation
 * marks are balanced, and where addresses are masked there is no link to one.
 */
#include <string.h>

#include "runners/web/mail_html.h"
#include "mail/text/mustache.h"
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

/* Nothing in the head but fields of ours, of ASCII, each once. */
static void check_mail(const GString *mail)
{
    static const char *const fields[] = {"From: ",         "Date: ",         "Subject: ",
                                         "Message-ID: ",   "In-Reply-To: ",  "References: ",
                                         "MIME-Version: ", "Content-Type: ", "Content-Transfer-Encoding: "};
    const char *end = strstr(mail->str, "\n\n");
    size_t next = 0;
    require(end && strlen(mail->str) == mail->len && g_utf8_validate(mail->str, -1, NULL));
    for (const char *line = mail->str; line < end; line = strchr(line, '\n') + 1) {
        for (const char *byte = line; *byte != '\n'; byte++)
            require(g_ascii_isprint(*byte));
        if (*line == ' ')
            continue;
        while (next < G_N_ELEMENTS(fields) && !g_str_has_prefix(line, fields[next]))
            next++;
        require(next++ < G_N_ELEMENTS(fields));
    }
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
    g_autoptr(GString) masked_text = g_string_new(NULL);
    mail_html_masked_mail(mail, masked_text);
    check_mail(masked_text);
    try_template(data, size);
    return 0;
}
