/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The words of mail systems, in the languages of etc/bounce. Its README.md says what each kind is for; the tables are
 * made from its files by words.awk. Internal to mail/recognise/.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* One piece of text in lower case; two is NULL then. Or two pieces that both stand in one paragraph, in any order; then
 * the first begins a word. */
typedef struct Phrase {
    const char *one, *two;
} Phrase;

/* A phrase that tells the reason of a failure, and that reason, a word of bounce_reasons. */
typedef struct ReasonPhrase {
    const char *words, *reason;
} ReasonPhrase;

/* Each ends with a row of NULL. */
extern const Phrase words_subject[], words_perhaps[], words_reply[], words_failed[], words_waits[], words_ended[];
extern const Phrase words_label[], words_field[], words_other[], words_reference[], words_origin[], words_verdict[];
extern const Phrase words_advice[];
extern const ReasonPhrase words_reason[];

/* Return the text in lower case, of any script; length -1: up to its NUL. The functions below take texts in this form.
 * g_free() */
char *words_lower(const char *text, gssize length);

/* Does the text, as words_lower() makes it, hold the phrase? */
bool words_hold(const char *lower, const Phrase *phrase);

/* Does the text hold a phrase of the table? */
bool words_any(const char *lower, const Phrase *phrases);

/* Put the rows of the table that the text holds into found, at most limit, and return how many they are. */
size_t words_seek(const char *lower, const Phrase *phrases, const Phrase **found, size_t limit);

/* Does a word of the text begin with a row of the table? A row of at most four letters has to be the whole word. */
bool words_begin(const char *lower, const Phrase *phrases);

/* Does the text begin with a row of the table? */
bool words_lead(const char *lower, const Phrase *phrases);

/* Is the whole text equal to a row of the table? */
bool words_is(const char *lower, const Phrase *phrases);

/* The reason that the text tells in a language other than English; NULL when it tells none. */
const char *words_reason_of(const char *lower);
