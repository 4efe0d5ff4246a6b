/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Any bytes as HTML: the text that is made of it is text, and text without a sign of HTML comes out as it went in. */
#include <string.h>

#include "mail/mime/mime.h"
#include "t/fuzz/fuzz.h"

/* Is it one line without signs, blanks in a row, or characters that HTML does not have? */
static bool is_plain(const GString *text)
{
    for (gsize at = 0; at < text->len; at++)
        if (text->str[at] <= ' ' || text->str[at] > '~')
            return false;
    return text->len > 0 && !strpbrk(text->str, "<&");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GString) html = g_string_new_len((const char *)data, (gssize)size);
    GString *bare = mime_strip_html(html), *shown = mime_html_text(html);
    require(strlen(bare->str) == bare->len && g_utf8_validate(bare->str, -1, NULL));
    require(strlen(shown->str) == shown->len && g_utf8_validate(shown->str, -1, NULL));
    require(!strstr(shown->str, "\n\n\n") && !strstr(shown->str, " \n"));
    require(!is_plain(html) || g_string_equal(bare, html));
    g_string_free(bare, TRUE);
    g_string_free(shown, TRUE);
    return 0;
}
