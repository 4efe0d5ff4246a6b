/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Rules about the text of a post, and its size. */
#include <inttypes.h>
#include <string.h>

#include "base/pattern.h"
#include "mail/header.h"
#include "mail/mime/partial.h"
#include "posting/chain.h"
#include "store/lists/list.h"
#include "store/lists/list_setting.h"

/* --- administrivia --------------------------------------------------------- */

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

static bool check_administrivia(Post *post, bool *hit, GError **error)
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

const Rule rule_administrivia = {.name = "administrivia", .check = check_administrivia};

/* --- digests --------------------------------------------------------------- */

#define TEXT_MAX (64 * 1024)

/* "Re: Test Digest, Vol 3, Issue 7": the Subject of a digest, of ours as of others. */
static bool has_subject_of_digest(Post *post)
{
    g_autofree char *raw = message_value(post->message, "Subject"), *subject = header_decode(raw ? raw : "");
    return pattern_matches_text("\\bdigest,? +vol(ume)?\\.? *\\d+,? +issue *\\d+\\s*$", subject, post->patterns);
}

/* Between the contents and the first message, and between messages, digests have rows of so many dashes. */
static bool quotes_a_whole_digest(const Post *post)
{
    g_autoptr(GBytes) body = message_body(post->message);
    size_t length;
    const char *text = g_bytes_get_data(body, &length), *end = text + MIN(length, TEXT_MAX);
    unsigned rows = 0;
    for (const char *at = text; text && at < end;) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        const char *stop = feed ? feed : end;
        while (at < stop && (*at == '>' || *at == ' '))
            at++;
        size_t dashes = 0;
        while (at + dashes < stop && at[dashes] == '-')
            dashes++;
        const char *rest = at + dashes;
        rows += (dashes == 30 || dashes == 70) && (rest == stop || *rest == '\r');
        at = stop + 1;
    }
    return rows >= 2;
}

/* Somebody answers a digest, quoting all of it, or without saying what it is about. */
static bool check_digests(Post *post, bool *hit, GError **error)
{
    *hit = post->site && post->site->hold_digest && (has_subject_of_digest(post) || quotes_a_whole_digest(post));
    if (*hit)
        post_add_reason(post, "The message answers a digest without a subject of its own, or quotes all of it.");
    return true;
}

const Rule rule_digests = {.name = "digests", .check = check_digests};

/* --- partial --------------------------------------------------------------- */

/* A part of a message is held, for nobody can see what it is a part of. It comes here when parts are not put
 * together, or when these could not be (post->left). */
static bool passes(const Post *post)
{
    if (!post->left)
        return post->list->settings->partial_action == PARTIAL_PASS;
    if (g_str_equal(post->left, "expired"))
        return post->list->settings->fragment_expiry == FRAGMENT_EXPIRY_PASS;
    return g_str_equal(post->left, "released");
}

static bool check_partial(Post *post, bool *hit, GError **error)
{
    g_auto(Partial) partial = {0};
    *hit = !passes(post) && partial_read(post->message, &partial);
    if (*hit && post->left_reason)
        post_add_reason(post, "%s", post->left_reason);
    else if (*hit)
        post_add_reason(post, "The message is only a part of one (message/partial), which this list does not take.");
    return true;
}

const Rule rule_partial = {.name = "partial", .check = check_partial};

/* --- max-size -------------------------------------------------------------- */

static bool check_max_size(Post *post, bool *hit, GError **error)
{
    int64_t limit = post->list->settings->max_message_size;
    *hit = limit > 0 && post->size / 1024 >= (uint64_t)limit && post->size > (uint64_t)limit * 1024;
    if (*hit)
        post_add_reason(post, "The message has %zu octets; the list allows %" PRId64 " KiB.", post->size, limit);
    return true;
}

const Rule rule_max_size = {.name = "max-size", .check = check_max_size};
