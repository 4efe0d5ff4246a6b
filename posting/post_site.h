/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Declare the settings of the configuration that are the same for all posts (post.h). setup.h reads most of them. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* How the archivers of the site show a list's archive; NULL: not at all. */
typedef struct PostArchiver {
    const char *name;
    const char *list_url;  /* template, see mail/text/template.h */
    const char *permalink; /* template */
    bool public_only;      /* it gets posts of lists with a public archive alone */
} PostArchiver;

/* How the site makes copies that differ by recipient. */
typedef struct PostCopies {
    int64_t verp_interval;       /* every so many posts get senders by which bounces tell the member; 0: none, 1: all */
    bool verp_personalized;      /* besides, all posts whose copies differ anyway get such senders */
    const char *unsubscribe_url; /* template with $token (RFC 8058), NULL or "": none */
} PostCopies;

/* Run a program of the site (external.h) over a post. Set *code to its exit code, and *output to the bytes that it
 * wrote (a new reference). False: it could not be run. */
struct External;
struct Post;
typedef bool PostAsk(const struct External *external, const struct Post *post, int *code, GBytes **output,
                     GError **error);

/* The part of the configuration that is for all lists. */
typedef struct PostSite {
    const char *header_match_target; /* where header matches without one of their own send a post */
    bool hold_digest;                /* rule digests */
    const char *authserv_id;         /* in Authentication-Results; NULL: handler validate-authenticity does nothing */
    const char *const *trusted;      /* servers whose Authentication-Results are believed; may be NULL */
    bool remove_dkim;                /* handler cleanse-dkim */
    bool news;                       /* there is a news server, for handler to-usenet */
    const GPtrArray *keys;           /* of DkimKey, for handlers dkim-sign and arc-sign; NULL: none */
    const struct Orders *orders;     /* setup.h: chains and pipelines of the site's own; NULL: none */
    const GPtrArray *rule_programs, *handler_programs; /* of External, for rule and handler external; NULL: none */
    char **html_to_text;             /* program and arguments for handler mime-delete; NULL: one of our own */
    PostAsk *ask;                    /* answers in place of a program; NULL: programs are run */
    bool (*alive)(void *data);       /* called every second while a program runs (base/program.h); NULL: nothing */
    void *data;                      /* of alive */
} PostSite;
