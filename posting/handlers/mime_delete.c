/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/program.h"
#include "mail/mime/content_filter.h"
#include "mail/mime/decorate.h"
#include "posting/handler.h"
#include "store/lists/list_setting.h"

#define CONVERT_TIMEOUT (10 * CLOCK_SECOND)
#define CONVERT_OUTPUT (8 * 1024 * 1024)
#define CONVERT_MEMORY ((size_t)1 << 30)

/* By the program of the site. */
static GString *convert(const GString *html, void *data, GError **error)
{
    char *const *words = data;
    const Program program = {.words = words, .timeout = CONVERT_TIMEOUT, .output_max = CONVERT_OUTPUT,
                             .memory_max = CONVERT_MEMORY};
    g_autoptr(GBytes) input = g_bytes_new(html->str, html->len), output = NULL;
    int code;
    if (!program_run(&program, input, &code, &output, error))
        return NULL;
    if (code != 0) {
        fail(error, FAIL_LATER, "%s: exit code %d", words[0], code);
        return NULL;
    }
    size_t length;
    const char *text = g_bytes_get_data(output, &length);
    g_autofree char *valid = g_utf8_make_valid(text ? text : "", (gssize)length);
    return g_string_new(valid);
}

static bool filter(Post *post, ContentResult *result, GPtrArray *removed, GError **error)
{
    const List *list = post->list;
    ContentRules rules = {
        .filter_types = list->settings->filter_types,
        .pass_types = list->settings->pass_types,
        .filter_extensions = list->settings->filter_extensions,
        .pass_extensions = list->settings->pass_extensions,
        .collapse_alternatives = list->settings->collapse_alternatives,
        .html_to_text = list->settings->convert_html_to_plaintext,
        .convert = post->site && post->site->html_to_text ? convert : NULL,
        .data = post->site ? post->site->html_to_text : NULL,
    };
    g_autoptr(GError) fault = NULL;
    if (content_filter(post->message, &rules, result, removed, &fault))
        return true;
    /* A post is not lost because the site's converter failed: ours does it. */
    log_warn("%s list=%s html_to_plain_text_command: %s", post->trace, list->list_id, fault->message);
    g_ptr_array_set_size(removed, 0);
    rules.convert = NULL;
    return content_filter(post->message, &rules, result, removed, error);
}

static void end(Post *post, const char *why)
{
    static const PostEnd ends[] = {POST_DISCARDED, POST_REJECTED, POST_FORWARDED, POST_PRESERVED};
    post->end = ends[CLAMP(post->list->settings->filter_action, 0, 3)];
    post_add_reason(post, "%s", why);
}

/* The list of what was taken out, behind the text. */
static void report(Post *post, const GPtrArray *removed)
{
    g_autoptr(GString) text = g_string_new("\nThe list took these parts out of this message:\n");
    for (unsigned at = 0; at < removed->len; at++)
        g_string_append_printf(text, "  %s\n", (const char *)removed->pdata[at]);
    g_auto(Decorated) decorated = {0};
    decorate(post->message, &(Decoration){.footer = text->str}, &decorated);
    g_autoptr(GByteArray) octets = g_byte_array_new();
    for (unsigned at = 0; at < decorated.pieces->len; at++) {
        size_t length;
        const guint8 *piece = g_bytes_get_data(decorated.pieces->pdata[at], &length);
        g_byte_array_append(octets, piece, (guint)length);
    }
    g_autoptr(GBytes) whole = g_byte_array_free_to_bytes(g_steal_pointer(&octets));
    message_replace(post->message, whole);
}

static bool process(Post *post, GError **error)
{
    if (!post->list->settings->filter_content)
        return true;
    ContentResult result;
    g_autoptr(GPtrArray) removed = g_ptr_array_new_with_free_func(g_free);
    if (!filter(post, &result, removed, error))
        return false;
    if (result == CONTENT_REFUSED)
        end(post, removed->pdata[0]);
    if (result != CONTENT_CHANGED)
        return true;
    for (unsigned at = 0; at < removed->len; at++)
        g_ptr_array_add(post->removed, g_strdup(removed->pdata[at]));
    message_set(post->message, "X-Content-Filtered-By", "Listrunner");
    if (post->list->settings->filter_report && removed->len > 0)
        report(post, removed);
    return true;
}

const Handler handler_mime_delete = {.name = "mime-delete", .process = process};
