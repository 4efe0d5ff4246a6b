/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Send requests to HTTP servers, by libcurl. Each call blocks until the answer is there or the time is over;
 * redirections are not followed.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct HttpRequest {
    const char *url;        /* http or https; file where files is set */
    bool files;
    bool public_only;       /* connect to addresses of the public Internet alone (base/ip.h), whatever the
                               name resolves to, and through no proxy */
    const char *header;     /* one header line, "Authorization: Token x"; NULL: none */
    const char *const *headers; /* more of them, ended by NULL; NULL: none */
    const char *user, *password; /* for Basic authentication; NULL or "": none */
    int64_t timeout;        /* us, for all of it */
    size_t answer_max;      /* bytes of the answer's body that are kept */
    bool (*alive)(void *data); /* called now and then; false gives up (FAIL_LATER). NULL: never */
    void *data;
} HttpRequest;

/* The answer. */
typedef struct HttpAnswer {
    long status;   /* 0 for a file */
    GString *body; /* the first answer_max bytes of it */
    bool cut;      /* there were more */
} HttpAnswer;

void http_answer_clear(HttpAnswer *answer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(HttpAnswer, http_answer_clear)

/* A form with one field and one file (multipart/form-data, RFC 7578). */
typedef struct HttpForm {
    const char *name, *value;     /* the field */
    const char *file, *file_name; /* of the field that holds the file */
    const char *octets;           /* the file */
    size_t length;
} HttpForm;

/* Send a request (GET, POST of a body, POST of a form) and wait for its answer. True for an answer of any status, which
 * the caller frees with http_answer_clear(). FAIL_LATER: there is no answer. FAIL_CONFIG: libcurl cannot use the URL.
 * FAIL_NEVER: the host has an address that public_only forbids, and nothing was sent. http_post() sends the body as it
 * is; its Content-Type is one of the request's headers. */
bool http_get(const HttpRequest *request, HttpAnswer *answer, GError **error);
bool http_post(const HttpRequest *request, const char *body, size_t length, HttpAnswer *answer, GError **error);
bool http_post_form(const HttpRequest *request, const HttpForm *form, HttpAnswer *answer, GError **error);
