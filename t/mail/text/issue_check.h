/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Check that an issue of a digest (mail/text/issue.h) is sound, whatever its posts are. The unit test, a test over real
 * mail and the fuzzer call issue_check(). A check that fails ends the process. */
#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "mail/text/issue.h"

#define CHECK_SECRET "c0ffee0123456789c0ffee0123456789c0ff"
#define CHECK_RULE "------------------------------"

#define CHECK(condition) \
    do { \
        if (!(condition)) \
            g_error("%s does not hold", #condition); \
    } while (0)

/* Return the issue with these posts, in this form. */
static inline GString *issue_check_compose(IssueForm form, GBytes *const *posts, size_t count)
{
    static const Issue issue = {
        .subject = "Test Digest, Vol 1, Issue 1", .title = "Test Digest, Vol 1, Issue 1", .from = "r@example.com",
        .to = "t@example.com", .id = "1@example.com", .masthead = "Masthead\n", .footer = "Footer\n",
        .contents = "Topics", .footer_title = "About", .end = "End of", .left_out = "[$type $name $size]",
        .prefix = "[t]", .secret = CHECK_SECRET};
    char *octets = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&octets, &length);
    IssueWriter *writer = issue_writer_new(&issue, form, stream);
    for (size_t at = 0; at < count; at++)
        issue_announce(writer, posts[at]);
    for (size_t at = 0; at < count; at++)
        issue_add(writer, posts[at]);
    issue_end(writer);
    issue_writer_free(writer);
    fclose(stream);
    GString *text = g_string_new_len(octets, (gssize)length);
    free(octets);
    return text;
}

/* Check that each post is there byte for byte, in its place, and that boundaries are where a reader looks for them. */
static inline void issue_check_mime(GBytes *const *posts, size_t count)
{
    g_autoptr(GString) text = issue_check_compose(ISSUE_MIME, posts, count);
    static const char boundary[] = "\r\n--digest-" CHECK_SECRET;
    const char *at = text->str, *end = text->str + text->len;
    for (size_t post = 0; post < count; post++) {
        size_t length;
        const char *octets = g_bytes_get_data(posts[post], &length);
        at = memmem(at, (size_t)(end - at), boundary, strlen(boundary));
        CHECK(at != NULL);
        at = memmem(at, (size_t)(end - at), "\r\n\r\n", 4);
        CHECK(at != NULL && (size_t)(end - at) >= 4 + length);
        CHECK(length == 0 || memcmp(at + 4, octets, length) == 0);
        at += 4 + length;
        CHECK((size_t)(end - at) > strlen(boundary) && memcmp(at, boundary, strlen(boundary)) == 0);
    }
    at = memmem(at, (size_t)(end - at), boundary, strlen(boundary));
    CHECK(at != NULL && memcmp(at + strlen(boundary), "--", 2) == 0);
}

/* Check that the issue is UTF-8, has lines that mail may have, and is cut between posts and nowhere else. */
static inline void issue_check_plain(GBytes *const *posts, size_t count)
{
    g_autoptr(GString) text = issue_check_compose(ISSUE_PLAIN, posts, count);
    CHECK(g_utf8_validate(text->str, (gssize)text->len, NULL));
    size_t rules = 0;
    for (const char *line = text->str, *end = line + text->len; line < end;) {
        const char *feed = memchr(line, '\n', (size_t)(end - line));
        CHECK(feed != NULL && feed > line && feed[-1] == '\r' && feed - line <= 999);
        rules += feed - line == (gssize)sizeof CHECK_RULE && memcmp(line, CHECK_RULE, sizeof CHECK_RULE - 1) == 0;
        line = feed + 1;
    }
    CHECK(rules == count + 1); /* one behind the footer */
}

static inline void issue_check(GBytes *const *posts, size_t count)
{
    issue_check_mime(posts, count);
    issue_check_plain(posts, count);
}
