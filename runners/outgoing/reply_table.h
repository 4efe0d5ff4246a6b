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
    REPLY_SITE,        /* the server is in trouble: counts like a lost connection */
    REPLY_GROUP,       /* we are too fast for it, and for all domains that it serves: slower */
    REPLY_SESSION,     /* this connection has had its share: the next one may have more */
    REPLY_TRANSACTION, /* the transaction has as many recipients as it may: the next one may have more */
    REPLY_CONNECTIONS, /* there are as many connections as there may be */
} ReplyScope;

typedef struct ReplyTable ReplyTable;

/* config NULL: the built-in rules alone. */
ReplyTable *reply_table_new(const Config *config);
void reply_table_free(ReplyTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ReplyTable, reply_table_free)

/* Of a 4xx reply. */
ReplyScope reply_table_look(const ReplyTable *table, const char *reply);
