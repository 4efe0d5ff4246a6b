/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Declare what the files of the runner nntp share. The runner connects lists with news groups: nntp.c posts to the news
 * server, and keeps the connection; fetch.c reads the groups. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/nntp_client.h"
#include "runners/posts/list_runner.h"

/* A look at the groups of all lists, one step at a time. */
typedef struct NewsRound {
    GPtrArray *places; /* of NewsPlace */
    guint next;        /* the place whose turn is next */
    bool more;         /* a group has more articles than were fetched */
    GString *faults;   /* groups that cannot be read, and why, for people */
} NewsRound;

void news_round_free(NewsRound *round);

typedef struct News {
    NntpSettings settings;
    char *port, *user, *password;
    SmtpTls *tls;
    NntpClient *client;   /* NULL: none is open */
    char *down;           /* why the server could not be used; NULL: it could */
    int64_t down_since;   /* clock_now() */
    int64_t try_at;       /* monotonic: not to be tried before */
    int64_t look_at;      /* monotonic: when groups are looked at */
    NewsRound *round;     /* the look that is being done; NULL: none is */
    int64_t last_arrival; /* us: of the last article that was put into the queue in */
    char *faults;         /* of the last look, for people; NULL: none */
} News;

/* Return the state of the runner, borrowed. */
News *news_of(Runner *runner);

/* Return the connection, borrowed, and make it if there is none. NULL, with FAIL_LATER: the server cannot be used, and
 * is not tried again for some seconds. */
NntpClient *news_client(Runner *runner, GError **error);

/* Call it when a call on the connection failed: close the connection, unless error is FAIL_MISSING. */
void news_failed(Runner *runner, const GError *error);

/* fetch.c: Put new articles of the list's group into the queue in, no more than a step has room for, and note how that
 * went. *more: the group has others. */
bool news_fetch(Runner *runner, const List *list, bool *more, GError **error);
/* Do the next step of the round of all lists that want it, and begin one if none is being done. Returns true when the
 * round is done, and has told the master what a person must know; *more: another is worth while at once. */
bool news_fetch_step(Runner *runner, bool *more);
/* Tell the master what a person must know: that the server or some groups cannot be used; or that all is well. */
void news_tell(Runner *runner);
