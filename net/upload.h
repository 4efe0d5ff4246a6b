/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A form with one file, sent to an HTTP server by POST (multipart/form-data, RFC 7578), by libcurl. It blocks until the
 * answer is there or the time is over; redirections are not followed.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Upload {
    const char *url;        /* http or https */
    const char *header;     /* one header line, "Authorization: Token x"; NULL: none */
    const char *name, *value; /* of a field */
    const char *file, *file_name; /* of the field that holds the file */
    const char *octets;     /* the file */
    size_t length;
    int64_t timeout;        /* us, for all of it */
    bool (*alive)(void *data); /* called now and then; false gives up (FAIL_LATER). NULL: never */
    void *data;
} Upload;

/* Send it. *status is the code of the answer, and *answer (g_free()) the beginning of its body. FAIL_LATER: there is
 * no answer. FAIL_CONFIG: libcurl cannot use the URL. */
#define UPLOAD_ANSWER_MAX 4096
bool upload_post(const Upload *upload, long *status, char **answer, GError **error);
