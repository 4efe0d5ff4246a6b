/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make sentences about everything that a person has to look at, from what the master and the database say of the site's
 * state (lists/site/site_state.h). "listrunner status" prints them, its exit code follows from them, and the runner
 * watch tells them to the operator.
 */
#include <glib.h>
#include <jansson.h>

typedef enum AttentionKind {
    ATTENTION_PROCESS,   /* a process does not work as it should */
    ATTENTION_SITE,      /* something for the operator of the site */
    ATTENTION_MODERATOR, /* for moderators of lists; nothing is wrong */
    ATTENTION_UNKNOWN,   /* a part of the state could not be found out */
} AttentionKind;

typedef struct Attention {
    AttentionKind kind;
    char *key;  /* the same as long as the matter is the same, "process out 2", whatever the figures */
    char *text; /* UTF-8, without control characters but the line ends of a fault of several lines */
    char *mend; /* the command that shows more or mends it; NULL: none */
    GPtrArray *patterns; /* of const char *: the parts of text, "{{count}} posts are held", ", since {{since}}" */
    json_t *values;      /* of the names in them */
} Attention;

void attention_free(Attention *one);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Attention, attention_free)

/* Return all sentences about a state of site_state(), of Attention, freed with the array. */
GPtrArray *attention_of(const json_t *state);

/* Return the text of one, which attention_of() made, in another language; g_free(). translate returns a pattern in that
 * language, with the same names; NULL: the text stays English. */
typedef const char *AttentionTranslate(void *data, const char *pattern);
char *attention_say(const Attention *one, AttentionTranslate *translate, void *data);

/* Return the sentence about a process that does not work as it should, without its name: "no progress for 3m";
 * g_free(). child is the process as the master tells of it. */
char *attention_of_process(const json_t *child);

/* Write a span of time into text, and return text: "3s", "12m", "5h", "8d". The unit is the largest of which the span
 * has at least two. */
#define ATTENTION_SPAN_SIZE 16
const char *attention_span(char text[ATTENTION_SPAN_SIZE], double seconds);
