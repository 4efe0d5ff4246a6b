/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find what a temporary refusal is about. Each rule is a regular expression over the server's reply ("421 4.7.28 Our
 * system has detected ..."); the first that matches decides. The site's rules ([reply.NAME], in the order of the file)
 * come before the built-in ones, which know the usual texts of servers. Only words and codes that speak of rate or
 * volume are of the scope group. A reply that none matches is about the message.
 */
#include <glib.h>

#include "base/config.h"

typedef enum ReplyScope {
    REPLY_MESSAGE,     /* this message; the server is well */
    REPLY_RECIPIENT,   /* this recipient; the server is well */
    REPLY_SITE,        /* the server is in trouble: it counts like a lost connection */
    REPLY_GROUP,       /* mail comes too fast for the server and all domains that it serves: send more slowly */
    REPLY_SESSION,     /* this connection has had its share: the next one may have more */
    REPLY_TRANSACTION, /* the transaction has as many recipients as it may: the next one may have more */
    REPLY_CONNECTIONS, /* there are as many connections as there may be */
} ReplyScope;

typedef struct ReplyTable ReplyTable;

/* Make the table; config NULL: of the built-in rules alone. */
ReplyTable *reply_table_new(const Config *config);
void reply_table_free(ReplyTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ReplyTable, reply_table_free)

/* Return what a 4xx reply is about. */
ReplyScope reply_table_look(const ReplyTable *table, const char *reply);
