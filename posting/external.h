/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Programs of the site, [external.NAME], that look at each post: a virus or spam scanner. The program gets the message
 * on standard input, and the list, the sender and the trace in its environment; its exit code is the answer.
 */
#include "base/config.h"
#include "posting/post.h"

/* The exit codes. What it writes is the reason for people; with EXTERNAL_PASS, from a handler, the changed message. */
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
/* The one called "external.NAME", borrowed; NULL: there is none. */
const External *external_find(const GPtrArray *all, const char *name);

/* Let it judge the post, as a rule: *hit when it objects, and post->action is what it wants. FAIL_LATER: it could not
 * be run, took too long, or answered EXTERNAL_LATER or with a code that has no meaning; so no post passes because a
 * scanner is broken, and none is lost. */
bool external_judge(const External *external, Post *post, bool *hit, GError **error);
/* Let it change the post, as a handler, or end it; fails likewise. */
bool external_change(const External *external, Post *post, GError **error);
