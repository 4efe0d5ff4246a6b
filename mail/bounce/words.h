/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The words of mail systems, in the languages of etc/bounce, and the codes of their replies. The README.md of
 * etc/bounce says what each kind is for; the tables are made from its files by words.awk. Internal to mail/bounce/.
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

/* RFC 3463 status in a text ("5.1.1"), preferring one behind a reply code. Into status, "" when there is none. */
#define STATUS_SIZE 12
void status_scan(const char *text, char status[STATUS_SIZE]);

/* The first SMTP reply code of 4xx or 5xx that stands where replies have it; 0 when there is none. */
unsigned reply_scan(const char *text);

/* Where that code stands; NULL when there is none. */
const char *reply_find(const char *text);

/* ---- addresses ---- */

/* The first address at or after at: its place, and *length; NULL when there is none. */
const char *address_scan(const char *at, size_t *length);

/* The address that begins at at, perhaps behind one of <"'( or mailto: ; NULL when none does. */
const char *address_begins(const char *at, size_t *length);

/* The Internet address inside an X.400 one, "c=US;a= ;p=X;dda:RFC-822=joe(a)example.com" (RFC 2156); g_free(), NULL: it
 * has none. */
char *address_x400(const char *text);
