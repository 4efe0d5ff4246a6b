/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The REST runner without its sockets. restframe.c stands in place of runners/http.c: the test fills in a request, and
 * finds there what was answered.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "runners/http.h"
#include "runners/rest/rest.h"

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
    void *sender; /* as the runner judged */
    /* the answer */
    unsigned answers;
    int status;
    char *media;     /* NULL: no body */
    GString *text;   /* its bytes */
    GString *fields; /* "Allow: GET\nETag: ...\n" */
};

/* Free what was answered. */
void http_call_clear(HttpCall *call);
/* The value of a field of the answer, NULL where there is none; g_free(). */
char *http_call_field(const HttpCall *call, const char *name);
/* The member of the JSON object that was answered, borrowed from *object (json_decref()). */
const char *http_call_word(const HttpCall *call, const char *name, json_t **object);

/* Its fields are open to all, for calls that a test makes for itself: {.route = &open_route, .by = BY_SITE}. */
extern const RestRoute open_route;
/* Free what such a call holds. */
void call_clear(Call *call);

/* The one runner. Start it over a new database and a file of passwords with the line "a:b"; lines (may be "") are
 * further ones for section [rest]. */
void rest_frame_open(const char *lines);
/* Answer the request. */
void rest_frame_handle(HttpCall *call);
/* Answer the request, see that it was answered once, and clear it. Return the status; *answer is the JSON that came,
 * NULL where none did (json_decref()). answer may be NULL. */
int rest_frame_ask(HttpCall *call, json_t **answer);
/* One more connection to its database; store_free(). */
Store *rest_frame_store(void);
/* Make a token like this one, and return it as Authorization has it, "Bearer lrt_..."; g_free(). */
char *rest_frame_token(Store *store, const Token *like);
void rest_frame_close(void);
