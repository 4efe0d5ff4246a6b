/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "posting/authors.h"
#include "posting/rule.h"
#include "store/lists/list_setting.h"
#include "store/people/ban.h"

/* A line that is no field ends the header (mail/message.h), and the fields below it are text. Handler cleanse, which
 * takes out of the header what tells who wrote a post, does not see them there. So on an anonymous list such a post
 * waits for a person. An MTA on the way here may have put an empty line before the line that is no field: then a header
 * without From, or a text that begins with fields that programs write, shows what happened. */

/* From and Organization are not among them: people quote them in the first lines of their text. */
static const char *const written_by_programs[] = {
    "Received", "Message-ID", "Return-Path", "DKIM-Signature", "Reply-To", "Sender", "X-Originating-IP", "User-Agent",
};

static bool is_telling(const char *line, size_t length)
{
    for (size_t i = 0; i < G_N_ELEMENTS(written_by_programs); i++) {
        size_t name = strlen(written_by_programs[i]);
        if (length > name && line[name] == ':' && g_ascii_strncasecmp(line, written_by_programs[i], name) == 0)
            return true;
    }
    return false;
}

/* Looks at the text up to its first empty line. */
static bool text_begins_with_fields(const Message *message)
{
    g_autoptr(GBytes) body = message_body(message);
    size_t left;
    const char *at = g_bytes_get_data(body, &left);
    while (left > 0) {
        const char *feed = memchr(at, '\n', left);
        size_t length = feed ? (size_t)(feed - at) + 1 : left;
        if (*at == '\n' || *at == '\r')
            return false;
        if (is_telling(at, length))
            return true;
        at += length;
        left -= length;
    }
    return false;
}

/* Is anybody banned, from the list or from the whole site? */
static bool has_bans(const Post *post, bool *found, GError **error)
{
    int64_t own, everywhere;
    if (!ban_count(post->store, post->list->list_id, &own, error) ||
        !ban_count(post->store, NULL, &everywhere, error))
        return false;
    *found = own + everywhere > 0;
    return true;
}

/* A From that not every reader reads in the same way may show somebody who is banned. */
static bool hides_author(Post *post, bool *hit, GError **error)
{
    bool readable;
    g_autoptr(GPtrArray) authors = authors_read(post, &readable);
    *hit = false;
    if (!readable && !has_bans(post, hit, error))
        return false;
    if (*hit)
        post_add_reason(post, "The address in From cannot be read with certainty, and somebody is banned from the "
                              "list.");
    return true;
}

static bool check(Post *post, bool *hit, GError **error)
{
    const Message *message = post->message;
    if (!hides_author(post, hit, error))
        return false;
    if (*hit)
        return true;
    *hit = post->list->settings->anonymous_list &&
           (message_ends_header_early(message) || !message_has(message, "From") || text_begins_with_fields(message));
    if (*hit)
        post_add_reason(post, "The header of the message is broken: fields that tell who wrote it may stand in the "
                              "text, which goes out as it is.");
    return true;
}

const Rule rule_broken_header = {.name = "broken-header", .check = check};
