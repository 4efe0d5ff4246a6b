/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write the part message/delivery-status of a report (RFC 3464), which tells programs what became of recipients. The
 * rest of the report is a notice (mail/text/notice.h).
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct DsnRecipient {
    const char *address; /* UTF-8 */
    bool delayed;        /* Action: delayed, else failed */
    const char *status;  /* "5.1.1" */
    const char *reply;   /* the server's words, any bytes; NULL: none */
    const char *relay;   /* "mx.example.com[192.0.2.1]:25"; NULL: none */
} DsnRecipient;

typedef struct Dsn {
    const char *reporting_host;
    int64_t arrival;        /* us since 1970, as the next two; 0: not known */
    int64_t last_attempt;   /* 0: not known */
    int64_t retry_until;    /* of recipients that are delayed; 0: not known */
    const DsnRecipient *recipients;
    size_t count;
} Dsn;

/* Return the text of the part, ASCII in lines with CRLF; g_free(). */
char *dsn_delivery_status(const Dsn *dsn);
