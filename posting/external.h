/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Run programs of the site, [external.NAME], that look at each post, such as a virus or spam scanner. A program gets
 * the message on standard input, and the list, the sender and the trace in its environment. Its exit code is the
 * answer.
 */
#include "base/config.h"
#include "posting/post.h"

/* The exit codes of a program. The first line of what the program writes to standard output is the reason for people.
 * With EXTERNAL_PASS, a handler's program writes the changed message there, or nothing to leave it as it is. */
enum {
    EXTERNAL_PASS = 0,
    EXTERNAL_HOLD = 10,
    EXTERNAL_REJECT = 11,
    EXTERNAL_DISCARD = 12,
    EXTERNAL_LATER = 75, /* the post waits, and the program is asked again */
};

typedef struct External {
    char *name;      /* "external.NAME" */
    char **words;
    int64_t timeout; /* us */
} External;

/* Return the external programs that [SECTION] external names, in that order; with section NULL, return all. The array
 * has External, which are freed with it. */
GPtrArray *external_read(const Config *config, const char *section);
/* Find a program by its name "external.NAME"; it is borrowed from the array. NULL: there is none. */
const External *external_find(const GPtrArray *all, const char *name);

/* Run the program as a rule. *hit says whether it objects; then post->action is set to what it wants, and its reason is
 * added to the post. FAIL_LATER: it could not be run, took too long, or answered EXTERNAL_LATER or with a code that has
 * no meaning. So no post passes because a scanner is broken, and none is lost. */
bool external_judge(const External *external, Post *post, bool *hit, GError **error);
/* Run the program as a handler: it changes the message, or ends the post (post->end). Here EXTERNAL_HOLD means
 * POST_PRESERVED, since moderators have decided already. Failures are those of external_judge(). */
bool external_change(const External *external, Post *post, GError **error);
