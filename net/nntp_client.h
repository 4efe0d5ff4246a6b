/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the articles of a news group and post to it, over one connection to a news server (RFC 3977; AUTHINFO of RFC
 * 4643; STARTTLS of RFC 4642). Each call blocks until the server has answered, for at most the time of the settings
 * without any progress, and ten times as long in all.
 *
 * When a call fails with FAIL_LATER, the connection is of no more use and is to be freed. The codes:
 *
 *   FAIL_LATER    the server is not there, says nothing, or will not do it now
 *   FAIL_MISSING  there is no such group
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/smtp_tls.h"

typedef struct NntpClient NntpClient;

typedef enum NntpTls {
    NNTP_TLS_NONE,
    NNTP_TLS_START, /* by STARTTLS, and nothing without it */
    NNTP_TLS_ONCE,  /* from the first byte (port 563) */
} NntpTls;

/* All is borrowed as long as the client lives. */
typedef struct NntpSettings {
    const char *host, *port;
    const char *user, *password; /* NULL: none */
    NntpTls tls;
    const SmtpTls *tls_context;  /* wanted unless tls is NNTP_TLS_NONE; the server's certificate must be in its name */
    int64_t timeout;             /* us */
    size_t article_most;         /* bytes of an article that are read */
    bool (*alive)(void *data);   /* called each second; false gives up. NULL: never */
    void *data;
} NntpSettings;

/* Connect, and do TLS and AUTHINFO as the settings say, until the server takes commands. NULL with FAIL_LATER, whose
 * text names the server. */
NntpClient *nntp_client_open(const NntpSettings *settings, GError **error);
/* Send QUIT where that is possible, and do not wait for the reply. */
void nntp_client_free(NntpClient *client);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NntpClient, nntp_client_free)

/* The articles of a group. Without articles count is 0, and the other two numbers are chosen by the server: "0 0 0" is
 * allowed, too (RFC 3977, 6.1.1.2). */
typedef struct NntpGroup {
    int64_t count, first, last;
} NntpGroup;

/* Choose a group. FAIL_LATER also when its numbers have more than the 16 digits that are allowed. */
bool nntp_client_group(NntpClient *client, const char *name, NntpGroup *group, GError **error);

/* Find the articles of the chosen group from number first to last, by whatever the server knows: LISTGROUP, OVER,
 * XOVER, or NEXT. numbers, of int64_t, gets the lowest of them in order, no more than NNTP_NUMBERS_MOST; *known is the
 * number up to which there are no others, and less than first when the server does not say. The cost grows with the
 * articles that there are, and not with the numbers that are not used. */
#define NNTP_NUMBERS_MOST 1000
bool nntp_client_numbers(NntpClient *client, const char *name, const NntpGroup *wanted, GArray *numbers, int64_t *known,
                         GError **error);

/* Fetch the article of that number in the chosen group; g_bytes_unref(). *article is NULL when there is none (any
 * more), and when it has more than article_most bytes; in the latter case *large is true. */
bool nntp_client_article(NntpClient *client, int64_t number, GBytes **article, bool *large, GError **error);

/* Fetch the header of the article with that Message-ID (without brackets); g_bytes_unref(). *head is NULL when the
 * server has no such article. */
bool nntp_client_head(NntpClient *client, const char *message_id, GBytes **head, GError **error);

typedef enum NntpVerdict {
    NNTP_POSTED,
    NNTP_KNOWN,   /* the server has an article of that Message-ID already */
    NNTP_REFUSED, /* the server will never take this article; *reply says why */
} NntpVerdict;

/* Post an article, with CRLF line ends. reply: g_free(). */
bool nntp_client_post(NntpClient *client, GBytes *article, NntpVerdict *verdict, char **reply, GError **error);
