/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Text for a fixed pitch: patches and tables. */
#include <string.h>

#include "mail/text/readable_internal.h"

static size_t line_length(const char *at, const char *end)
{
    const char *feed = memchr(at, '\n', (size_t)(end - at));
    return feed ? (size_t)(feed - at) + 1 : (size_t)(end - at);
}

static bool begins_with(const char *at, const char *end, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0;
}

/* Does a patch begin here? It takes two lines to tell. */
static bool begins_patch(const char *at, const char *end)
{
    static const char *const pairs[][2] = {
        {"diff -", ""}, {"--- ", "+++ "}, {"Index: ", "====="}, {"Index: ", "-----"}, {"Index: ", "diff "}};
    for (size_t pair = 0; pair < G_N_ELEMENTS(pairs); pair++) {
        if (!begins_with(at, end, pairs[pair][0]))
            continue;
        const char *next = at + line_length(at, end);
        if (next < end && begins_with(next, end, pairs[pair][1]))
            return true;
    }
    return false;
}

/* May a line stand between two hunks? */
static bool is_between(const char *at, const char *end)
{
    static const char *const words[] = {"diff ",
                                        "index ",
                                        "--- ",
                                        "+++ ",
                                        "@@ ",
                                        "new file mode",
                                        "deleted file mode",
                                        "old mode",
                                        "new mode",
                                        "similarity index",
                                        "dissimilarity index",
                                        "rename ",
                                        "copy ",
                                        "Binary files ",
                                        "GIT binary patch",
                                        "literal ",
                                        "delta ",
                                        "Index: ",
                                        "=====",
                                        "-----",
                                        "\\ No newline",
                                        "Only in ",
                                        "RCS file: ",
                                        "retrieving revision "};
    for (size_t word = 0; word < G_N_ELEMENTS(words); word++)
        if (begins_with(at, end, words[word]))
            return true;
    return false;
}

/* "3,7" or "3": how many lines. */
static long count_of(const char *range)
{
    const char *comma = range + strspn(range, "0123456789");
    return *comma == ',' ? strtol(comma + 1, NULL, 10) : 1;
}

typedef struct Hunk {
    long removed, added; /* lines that are still to come, those that stay counted in both */
} Hunk;

static void begin_hunk(Hunk *hunk, const char *at, const char *end)
{
    if (!begins_with(at, end, "@@ -"))
        return;
    g_autofree char *line = g_strndup(at, MIN(80, (size_t)(end - at)));
    const char *plus = strstr(line, " +");
    if (!plus)
        return;
    hunk->removed = count_of(line + strlen("@@ -"));
    hunk->added = count_of(plus + 2);
}

/* Is the line at at part of the hunk? */
static bool continues(Hunk *hunk, const char *at)
{
    bool stays = strchr(" \n\t", *at) != NULL;
    if (!stays && !strchr("+-\\", *at))
        return false;
    hunk->removed -= stays || *at == '-';
    hunk->added -= stays || *at == '+';
    return true;
}

size_t readable_patch_length(const char *at, const char *end)
{
    if (at >= end || !strchr("d-I", *at) || !begins_patch(at, end))
        return 0;
    const char *next = at;
    for (Hunk hunk = {0}; next < end; next += line_length(next, end)) {
        bool inside = hunk.removed > 0 || hunk.added > 0;
        if (inside ? !continues(&hunk, next) : !is_between(next, end) || begins_with(next, end, "-- \n"))
            break;
        if (!inside)
            begin_hunk(&hunk, next, end);
    }
    return (size_t)(next - at);
}

/* Has the line blanks in a row between two words, or a sign that draws a column? */
static bool has_columns(const char *at, size_t length)
{
    size_t indent = strspn(at, " ");
    const char *rest = at + MIN(indent, length);
    size_t left = length - MIN(indent, length);
    bool border = left > 1 && (*rest == '|' || (*rest == '+' && rest[1] == '-'));
    return border || memmem(rest, left, "   ", 3) || memchr(rest, '\t', left) || memmem(rest, left, " | ", 3);
}

bool readable_is_table(const char *text, size_t length)
{
    size_t lines = 0, indented = 0, columns = 0;
    for (const char *at = text, *end = text + length; at < end;) {
        size_t line = line_length(at, end), bare = line - (at[line - 1] == '\n');
        indented += bare > 4 && (*at == '\t' || memcmp(at, "    ", 4) == 0);
        columns += has_columns(at, bare);
        lines++;
        at += line;
    }
    return lines >= 2 && (indented == lines || columns * 2 > lines);
}
