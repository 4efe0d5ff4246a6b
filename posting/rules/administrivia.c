/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "mail/header.h"
#include "posting/rule.h"
#include "store/lists/list_setting.h"

#define LINES_MAX 10
#define LINE_LENGTH_MAX 1000

/* Words that were meant for the list manager, and how many words may follow. */
static const struct {
    const char *word;
    unsigned least, most;
} commands[] = {
    {"confirm", 1, 1}, {"help", 0, 0},   {"info", 0, 0}, {"lists", 0, 0},     {"options", 0, 0},     {"password", 2, 2},
    {"remove", 0, 0},  {"set", 3, 3},    {"subscribe", 0, 3},                 {"unsubscribe", 0, 1}, {"who", 0, 1},
};

static bool is_command(const char *line)
{
    g_autofree char *text = g_ascii_strdown(line, -1);
    g_strdelimit(text, "\t\r\n", ' ');
    g_auto(GStrv) words = g_strsplit(g_strstrip(text), " ", -1);
    unsigned count = 0;
    for (char **word = words; *word; word++)
        count += **word != '\0';
    for (size_t at = 0; at < G_N_ELEMENTS(commands) && count > 0; at++)
        if (strcmp(words[0], commands[at].word) == 0)
            return count - 1 >= commands[at].least && count - 1 <= commands[at].most;
    return false;
}

/* The first lines that are not empty, up to a boundary or an end. */
static bool has_command(const char *at, const char *end)
{
    for (unsigned lines = 0; at < end && lines < LINES_MAX;) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((feed ? feed : end) - at);
        g_autofree char *line = g_strstrip(g_strndup(at, MIN(length, LINE_LENGTH_MAX)));
        if (g_str_has_prefix(line, "--") && strlen(line) > 2)
            return false;
        if (*line && is_command(line))
            return true;
        lines += *line != '\0';
        at = feed ? feed + 1 : end;
    }
    return false;
}

/* Is it text that can be read as it stands? */
static bool is_readable(const Message *message, const char *prefix)
{
    g_autofree char *type = message_value(message, "Content-Type");
    g_autofree char *encoding = message_value(message, "Content-Transfer-Encoding");
    if (encoding && g_ascii_strncasecmp(encoding, "base64", 6) == 0)
        return false;
    return !type ? strcmp(prefix, "text/plain") == 0 : g_ascii_strncasecmp(type, prefix, strlen(prefix)) == 0;
}

/* The first part of a multipart begins after the first line that begins with "--". */
static GBytes *first_part(GBytes *body)
{
    gsize length;
    const char *text = g_bytes_get_data(body, &length);
    if (length < 3)
        return NULL;
    const char *mark = memcmp(text, "--", 2) == 0 ? text : memmem(text, length, "\n--", 3);
    const char *feed = mark ? memchr(mark + 1, '\n', length - (size_t)(mark + 1 - text)) : NULL;
    if (!feed)
        return NULL;
    gsize start = (gsize)(feed + 1 - text);
    return g_bytes_new_from_bytes(body, start, length - start);
}

static bool check_body(const Message *message, unsigned depth)
{
    g_autoptr(GBytes) body = message_body(message);
    gsize length;
    const char *text = g_bytes_get_data(body, &length);
    if (is_readable(message, "text/plain"))
        return text && has_command(text, text + length);
    if (depth == 0 || !text || !is_readable(message, "multipart/"))
        return false;
    g_autoptr(GBytes) part = first_part(body);
    g_autoptr(Message) inner = part ? message_new(part) : NULL;
    return inner && check_body(inner, depth - 1);
}

static bool check(Post *post, bool *hit, GError **error)
{
    *hit = false;
    if (!post->list->settings->administrivia)
        return true;
    g_autofree char *value = message_value(post->message, "Subject");
    g_autofree char *subject = header_decode(value ? value : "");
    *hit = is_command(subject) || check_body(post->message, 3);
    if (*hit)
        post_add_reason(post, "The message looks like a command for the list manager.");
    return true;
}

const Rule rule_administrivia = {.name = "administrivia", .check = check};
