/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Any bytes as a post for the content filter, with rules that take most out: what it does not change keeps its bytes,
 * and what it makes can be read and filtered again. */
#include <stdint.h>

#include "mail/mime/content_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const images[] = {"image", "application", NULL}, *const texts[] = {"text", "multipart", NULL};
static const char *const endings[] = {"exe", "png", NULL};

static const ContentRules tables[] = {
    {.filter_types = (char *const *)images},
    {.pass_types = (char *const *)texts, .collapse_alternatives = true},
    {.filter_extensions = (char *const *)endings, .html_to_text = true},
};

static void filter(GBytes *octets, const ContentRules *rules, bool again)
{
    g_autoptr(Message) message = message_new(octets);
    g_autoptr(GPtrArray) removed = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL;
    ContentResult result;
    if (!content_filter(message, rules, &result, removed, &error))
        g_error("it failed: %s", error->message);
    g_autoptr(GBytes) after = message_octets(message);
    if (result != CONTENT_CHANGED && !g_bytes_equal(after, octets))
        g_error("it was changed though nothing was taken out");
    if (result == CONTENT_REFUSED && removed->len == 0)
        g_error("it was refused without a reason");
    if (result == CONTENT_CHANGED && again)
        filter(after, rules, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GBytes) octets = g_bytes_new(data, size);
    for (size_t at = 0; at < G_N_ELEMENTS(tables); at++)
        filter(octets, &tables[at], true);
    return 0;
}
