/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Shared by the files of the runner nntp: nntp.c posts, and keeps the connection; fetch.c reads groups. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/nntp_client.h"
#include "runners/list_runner.h"

/* A look at the groups of all lists, one step at a time. */
typedef struct NewsRound {
    GPtrArray *places; /* of NewsPlace */
    guint next;        /* the list that comes next */
    bool more;         /* a list was not done with */
    GString *faults;   /* for people */
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

News *news_of(Runner *runner);

/* The connection, made if there is none. NULL: FAIL_LATER; the server is not tried again within seconds. */
NntpClient *news_client(Runner *runner, GError **error);

/* A call on the connection failed: forget it unless error is FAIL_MISSING. */
void news_failed(Runner *runner, const GError *error);

/* fetch.c: Put new articles of the list's group into the queue in, no more than a step has room for, and note how that
 * went. *more: the group has others. */
bool news_fetch(Runner *runner, const List *list, bool *more, GError **error);
/* Do the next step of the round of all lists that want it, and begin one if none is being done. Returns true when the
 * round is done, and has told the master what a person must know; *more: another is worth while at once. */
bool news_fetch_step(Runner *runner, bool *more);
/* Tell the master. */
void news_tell(Runner *runner);
