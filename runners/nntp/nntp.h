/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* What the files of the runner nntp share: nntp.c posts, and keeps the connection; fetch.c reads groups. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/nntp_client.h"
#include "runners/list_runner.h"

typedef struct News {
    NntpSettings settings;
    char *port, *user, *password;
    SmtpTls *tls;
    NntpClient *client;   /* NULL: none is open */
    char *down;           /* why the server could not be used; NULL: it could */
    int64_t down_since;   /* clock_now() */
    int64_t try_at;       /* monotonic: not to be tried before */
    int64_t look_at;      /* monotonic: when groups are looked at */
    char *faults;         /* of the last look, for people; NULL: none */
} News;

News *news_of(Runner *runner);

/* The connection, made if there is none. NULL: FAIL_LATER; the server is not tried again within seconds. */
NntpClient *news_client(Runner *runner, GError **error);

/* A call on the connection failed: forget it unless error is FAIL_MISSING. */
void news_failed(Runner *runner, const GError *error);

/* fetch.c: puts new articles of the list's group into the queue in, and notes how that went. */
bool news_fetch(Runner *runner, const List *list, GError **error);
/* The same for all lists that want it. Tells the master what a person must know. */
void news_fetch_all(Runner *runner);
/* Tell the master. */
void news_tell(Runner *runner);
