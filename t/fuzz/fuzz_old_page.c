/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Any bytes as a page of an old archive: what is found is UTF-8 on one line, and nothing of it stands behind the head.
 * The first line as an address and a query: what is found of it fits in a path, and the same address says the same.
 */
#include <string.h>

#include "lists/moving/old_address.h"
#include "lists/moving/old_page.h"
#include "t/fuzz/fuzz.h"

static void require_line(const char *text)
{
    require(!text || (g_utf8_validate(text, -1, NULL) && !strpbrk(text, "\r\n")));
}

static void read_page(const char *octets, size_t length)
{
    g_auto(OldPage) page = {0}, longer = {0};
    old_page_read(octets, length, &page);
    require_line(page.subject);
    require_line(page.message_id);
    require(!page.message_id || *page.message_id);
    require(page.date >= 0);
    /* The mail's own text changes nothing. */
    g_autofree char *text = g_strndup(octets, length);
    if (!strstr(text, "<!--beginarticle-->") || length > OLD_PAGE_MAX / 2)
        return;
    g_autofree char *more = g_strconcat(
        text, "<!--X-Subject: a --><!--X-Message-Id: b -->HREF=\"mailto:c?In-Reply-To=d\"", NULL);
    old_page_read(more, strlen(more), &longer);
    require(g_strcmp0(page.message_id, longer.message_id) == 0);
    require(g_strcmp0(page.subject, longer.subject) == 0);
}

static void read_address(OldKind kind, const char *path, const char *query)
{
    g_auto(OldAddress) address = {0}, again = {0};
    g_autofree char *key = old_address_file_key(kind, path);
    require(!key || *key);
    if (!old_address_read(kind, path, query, &address)) {
        require(!address.list && !address.hash && !address.keys[0]);
        return;
    }
    require((address.place == OLD_SITE) == !address.list);
    require(!address.list || (*address.list && g_utf8_validate(address.list, -1, NULL)));
    require((address.place == OLD_NUMBER) == (address.keys[0] != NULL));
    require((address.place == OLD_HASH || address.place == OLD_THREAD) == (address.hash != NULL));
    require(!address.hash || (strlen(address.hash) == 32 && !strpbrk(address.hash, "/\"<> ")));
    if (address.place == OLD_MONTH || address.place == OLD_MONTH_MAILS)
        require(address.year >= 1970 && address.year <= 9999 && address.month >= 1 && address.month <= 12);
    require(old_address_read(kind, path, query, &again) && again.place == address.place);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *octets = (const char *)data;
    read_page(octets, size);
    const char *end = size > 0 ? memchr(octets, '\n', size) : NULL;
    g_autofree char *line = g_strndup(octets, end ? (size_t)(end - octets) : size);
    char *query = strchr(line, '?');
    if (query)
        *query++ = '\0';
    for (int kind = 0; kind < OLD_KINDS; kind++)
        read_address((OldKind)kind, line, query ? query : "");
    return 0;
}
