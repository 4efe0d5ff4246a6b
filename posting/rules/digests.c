/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/pattern.h"
#include "mail/header.h"
#include "posting/rule.h"

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
static bool check(Post *post, bool *hit, GError **error)
{
    *hit = post->site && post->site->hold_digest && (has_subject_of_digest(post) || quotes_a_whole_digest(post));
    if (*hit)
        post_add_reason(post, "The message answers a digest without a subject of its own, or quotes all of it.");
    return true;
}

const Rule rule_digests = {.name = "digests", .check = check};
