/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Declare what only http.c, which reads requests, and http_answer.c, which answers them, share. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "runners/server/http.h"
#include "runners/server/http_head.h"
#include "runners/server/server.h"

struct Http {
    const HttpSpec *spec;
    Server *server;
    struct evhttp *evhttp;
    GPtrArray *listeners;    /* of struct evconnlistener, evhttp's */
    GHashTable *connections; /* struct bufferevent -> Client */
    struct event *look;
    void *data;
    size_t max_connections, max_header_size;
    int64_t request_timeout, requests_per_connection;
    bool accepting;
    GPtrArray *large;   /* of HttpLarge: what http_answer_bytes() sends just now */
    size_t large_total; /* bytes of these */
};

/* A content on its way to one or more clients. */
typedef struct HttpLarge {
    Http *http;
    GBytes *content;
    unsigned clients;
} HttpLarge;

/* The phase of a connection, which is what it waits for. */
typedef enum HttpPhase {
    PHASE_HEAD,   /* a request's head */
    PHASE_BODY,   /* the rest of its body */
    PHASE_ANSWER, /* evhttp, which has all of the request */
    PHASE_SHUT    /* its end: nothing more is read */
} HttpPhase;

/* A connection. We hold a reference to its bufferevent until evhttp has dropped its own. */
typedef struct HttpClient {
    Http *http;
    struct bufferevent *stream;
    char peer[SERVER_PEER_SIZE];
    int64_t since;    /* monotonic: when the connection, or the first byte of a request came; 0: no byte of the next */
    int64_t requests; /* so far */
    int64_t until;    /* monotonic: a large answer is to be read by then; 0: there was none */
    struct HttpStream *flow; /* its answer without an end; NULL: none */
    struct evbuffer *held;   /* what came, and evhttp must not see yet */
    bool passing;            /* on_arrived() is not to look: we fill the input ourselves */
    HttpPhase phase;
    HttpBody body;
    void *sender;    /* who sends the request, as the spec judged */
    int refused;     /* status to refuse the request with; 0: none */
    const char *why; /* it is refused */
} HttpClient;

struct HttpStream {
    HttpClient *client;
    struct evhttp_request *request;
    const HttpStreamSpec *spec;
    void *data;
    bool busy;
};

struct HttpCall {
    HttpClient *client;
    struct evhttp_request *request;
    const char *verb, *query;
    char *path;
    bool last; /* of its connection */
};

/* Call it for a connection that is closed: call closed() of the stream on it, if there is one, and free the stream. */
void http_stream_forget(HttpClient *client);
