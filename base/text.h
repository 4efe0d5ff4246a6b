/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Understand texts that people write: a word that is mistyped, numbers and ranges of them, and placeholders. */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the word that somebody meant who mistyped it ---- */

/* The nearest candidate so far. Begin with {wanted, NULL, most + 1}, where most is the largest distance that counts. */
typedef struct NearWord {
    const char *wanted, *best; /* best: one of the candidates, borrowed; NULL: none is near enough */
    size_t distance;
} NearWord;

/* Take the candidate when it is nearer than those before. The distance is how many changes turn one word into the
 * other; a change inserts, removes or replaces a byte, or swaps two neighbours. A word of which every byte differs is
 * never near. */
void near_word_offer(NearWord *near, const char *candidate);

/* ---- numbers as people write them: "12", or "12-15" or "12..15" for all from the first to the last ---- */

typedef struct NumberRange {
    int64_t first, last; /* both belong to it; the same for one number */
} NumberRange;

/* Read the number or range with which text begins, and return how many bytes it has. Each number may have the letter
 * `mark` (in lower case) before it, in either case ("r4-r6" for 'r'); '\0': no letter. A "-" or ".." that no number
 * follows is not read. 0: text begins with no number of at most 17 digits, or the last is less than the first. */
size_t number_range_read(const char *text, char mark, NumberRange *range);

/* ---- placeholders: $name or ${name}; $$ is one dollar sign ----
 *
 * mail/text/template.h fills them in. An unknown one is refused when the text is set, so that nobody gets a letter with
 * it. */

/* Read the placeholder at a dollar sign. Set *name to the beginning of its name and *end to the text behind it, and
 * return the length of the name; 0: no placeholder stands there. */
size_t placeholder_read(const char *dollar, const char **name, const char **end);

/* Return the names of the placeholders in text, each once; g_strfreev(). A name that begins with a digit ($5) does not
 * count. */
char **placeholder_names(const char *text);

/* Return text with two dollar signs before each placeholder that `known` (names, separated by blanks) lacks, so that it
 * stays as it is written; g_free(). *unknown is set to these placeholders, "$one, $two", g_free(); NULL: there are
 * none. */
char *placeholder_keep_unknown(const char *text, const char *known, char **unknown);

/* Does `known` (names, separated by blanks) have each placeholder of text? FAIL_NEVER: it does not; the message begins
 * with `what`, and names the placeholder and those that are known. */
bool placeholder_check(const char *what, const char *text, const char *known, GError **error);
