/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Serve HTTP/1.1 on the sockets that the master bound (runners/server/server.h). The main of such a program is
 *
 *   int main(int argc, char **argv) { return http_main(&spec, argc, argv); }
 *
 * libevent's evhttp reads and writes; this skeleton lets pass only what RFC 9112 allows (runners/server/http_head.h),
 * asks who sends a request before its body is read, and sets the limits. They are read from the section that the spec
 * names: max_connections (further clients wait in the kernel's queue), request_timeout (how long a request may take to
 * arrive, and a client to read), requests_per_connection (then the connection is closed), max_header_size and
 * max_body_size (answered 431 and 413). Everything runs in one thread, and a call is answered before handle() returns,
 * or becomes a stream there.
 *
 * There is no TLS. A socket that is neither on the loopback interface nor a UNIX socket is served with a warning in
 * the log.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"

typedef struct Http Http;
typedef struct HttpCall HttpCall; /* a request, and the answer to it */

typedef struct HttpSpec {
    const char *name;    /* for the log and the usage text */
    const char *section; /* of its settings */
    /* Make what the calls need, before any request is read. False: the process ends with the error. */
    bool (*start)(Http *http, GError **error);
    /* Judge the sender of a request by its Authorization field (NULL: it has none), before anything of its body is
     * read. The returned sender is http_sender() of the call, and is freed after it by sender_free(). Member NULL:
     * nobody is judged, everybody may send a body, and there is no sender. */
    void *(*judge)(Http *http, const char *authorization, const char *peer);
    /* Return true when the sender may send a body with this verb. If not, the body is not read, the call comes without
     * it, and the connection ends with the answer. */
    bool (*may_send)(const void *sender, const char *verb);
    void (*sender_free)(void *sender);
    /* Answer the call with http_answer(), once. */
    void (*handle)(Http *http, HttpCall *call);
    /* Answer, once, a request that is refused before handle() sees it, with this status: 400, 413, 431, 501 or 505.
     * why is a sentence for authors of clients, or NULL. Of the call only the functions for the answer, http_header()
     * and http_peer() may be used. The connection ends with the answer. Member NULL: the answer is JSON. */
    void (*refuse)(Http *http, HttpCall *call, int status, const char *why);
    /* Free all that start() made. */
    void (*stop)(Http *http);
} HttpSpec;

/* Run the program, and return its exit code. */
int http_main(const HttpSpec *spec, int argc, char **argv);

const Config *http_config(const Http *http);
void http_set_data(Http *http, void *data);
void *http_data(const Http *http);

/* ---- the request; all strings are borrowed and live as long as the call ---- */

const char *http_verb(const HttpCall *call); /* "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS" */
const char *http_path(const HttpCall *call); /* as it came, percent signs and all, without the query */
const char *http_query(const HttpCall *call); /* what follows the "?", as it came; "" when there is none */
const char *http_header(const HttpCall *call, const char *name); /* NULL: there is none */
const char *http_header_last(const HttpCall *call, const char *name); /* of several fields of that name the last one */
const char *http_body(const HttpCall *call, size_t *length);     /* not ended by a zero byte; may hold any bytes */
const char *http_peer(const HttpCall *call);                     /* "127.0.0.1", "::1" or "unix" */
void *http_sender(const HttpCall *call);                         /* as the spec judged */

/* ---- the answer ---- */

/* Add a field to the answer. A value with a control character is left out. */
void http_set_header(HttpCall *call, const char *name, const char *value);
/* Send the answer. type NULL: there is no body. For HEAD the body is counted and not sent. */
void http_answer(HttpCall *call, int status, const char *type, const char *body, size_t length);
/* Send the answer with a body that may be large; call it only if there is room (http_has_room()). The content is in
 * memory once, for as many clients as are sent it at one time. A client that reads slower than HTTP_SLOWEST is cut
 * off. */
#define HTTP_SLOWEST (16 * 1024) /* bytes a second, behind request_timeout */
void http_answer_bytes(HttpCall *call, int status, const char *type, GBytes *content);
/* Return true when this content may be sent now: it is being sent already, or all such contents together, with this
 * one, take no more than HTTP_LARGE_TOTAL. */
#define HTTP_LARGE_TOTAL (64 * 1024 * 1024) /* bytes; one that is larger goes alone */
bool http_has_room(const HttpCall *call, GBytes *content);

/* ---- an answer in parts: long, or without an end (server-sent events) ---- */

typedef struct HttpStream HttpStream;
typedef struct HttpStreamSpec {
    void (*room)(HttpStream *stream);   /* all that was sent has left: there is room for more */
    void (*closed)(HttpStream *stream); /* the client has gone, or the process ends; the stream is freed behind it */
    int status;                         /* 0: 200 */
    bool finite; /* it ends with http_stream_finish(), which a process that stops waits for */
} HttpStreamSpec;

/* Begin the answer in place of http_answer(). The call ends with handle(); the stream lives until
 * closed(). A client who reads nothing for request_timeout while something waits for it is cut off. The connection
 * serves no other request. For HEAD nothing is sent, and room() is not called. */
HttpStream *http_stream(HttpCall *call, const char *type, const HttpStreamSpec *spec, void *data);
/* Cut the client off; closed() is called soon. */
void http_stream_end(HttpStream *stream);
/* End the answer as whole, behind what was sent; closed() is called before this returns. */
void http_stream_finish(HttpStream *stream);
/* Send a part of the answer, which is copied. */
void http_stream_send(HttpStream *stream, const char *octets, size_t length);
/* Return true while something that was sent has not left yet. Send only when it returns false, to bound the memory. */
bool http_stream_busy(const HttpStream *stream);
void *http_stream_data(const HttpStream *stream);
/* Return the event loop, for a program that waits for other events than requests. */
struct event_base *http_loop(const Http *http);

/* Return the words for a status, "Not Found", static; "" for a number that has no words here. */
const char *http_reason(int status);
