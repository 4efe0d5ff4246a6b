/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Test the runner rest without its sockets. restframe.c stands in place of runners/server/http.c. A test fills in the
 * fields of a request in an HttpCall, calls rest_frame_handle(), and finds the answer in the same HttpCall.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "runners/rest/rest.h"
#include "runners/server/http.h"

struct Http {
    const HttpSpec *spec;
    Config *config;
    void *data;
};

struct HttpCall {
    const char *verb, *path;
    const char *query;                           /* NULL: none */
    const char *type, *credentials, *host, *tag; /* Content-Type, Authorization, Host, If-None-Match; NULL: no field */
    const char *peer;                            /* NULL: 127.0.0.1 */
    const char *body;
    size_t length;
    void *sender; /* set by the runner: who asks, by the credentials */
    /* the answer */
    unsigned answers; /* how often the runner answered; right is 1 */
    int status;
    char *media;     /* NULL: no body */
    GString *text;   /* its bytes */
    GString *fields; /* "Allow: GET\nETag: ...\n" */
};

/* Free the answer. */
void http_call_clear(HttpCall *call);
/* Return the value of a header field of the answer; g_free(). NULL: there is none. */
char *http_call_field(const HttpCall *call, const char *name);
/* Return the text of a member of the JSON object in the answer. It is borrowed from *object (json_decref()). */
const char *http_call_word(const HttpCall *call, const char *name, json_t **object);

/* A route whose fields anybody may see, for a Call that a test makes itself: {.route = &open_route, .by = BY_SITE}. */
extern const RestRoute open_route;
/* Free the content of such a Call. */
void call_clear(Call *call);

/* Start the runner, over a new database and a file of passwords with the line "a:b". lines (may be "") are further ones
 * for section [rest]. There is one runner at a time. */
void rest_frame_open(const char *lines);
/* Let the runner answer the request. */
void rest_frame_handle(HttpCall *call);
/* Answer the request, see that it was answered once, and clear it. Return the status; *answer is the JSON that came,
 * NULL where none did (json_decref()). answer may be NULL. */
int rest_frame_ask(HttpCall *call, json_t **answer);
/* Open one more connection to the runner's database; store_free(). */
Store *rest_frame_store(void);
/* Take the database away, or bring it back. */
void rest_frame_hide(bool hidden);
/* Make a token like this one, and return it as Authorization has it, "Bearer lrt_..."; g_free(). */
char *rest_frame_token(Store *store, const Token *like);
void rest_frame_close(void);
