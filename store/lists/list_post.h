/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Number the posts of a list, and remember the Message-IDs of the mails that it has seen, so that none is taken twice.
 * FAIL_MISSING: there is no such list.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* Count a post that was accepted for delivery: *post_id is its number, and last_post_at becomes time. */
bool list_count_post(Store *store, const char *list_id, int64_t time, int64_t *post_id, GError **error);
/* Count a post as list_count_post() does, when list_record_message_id() told its number (SeenMail.next) earlier in this
 * transaction. So no answer of the database is waited for. */
bool list_take_number(Store *store, const char *list_id, int64_t time, int64_t post_id, GError **error);

/* Set *known as list_record_message_id() would, and record nothing. The _soon() function announces it (store.h). */
void list_knows_message_id_soon(Store *store, const char *list_id, const char *message_id, const char *entry);
bool list_knows_message_id(Store *store, const char *list_id, const char *message_id, const char *entry, bool *known,
                           GError **error);

/* A mail that was seen on a list. */
typedef struct SeenMail {
    const char *message_id;
    const char *entry; /* the trace of the mail's entry, or the hash in the entry's name (switchboard/entry.h) */
    const char *spool; /* where the entry is: the spool's id */
    int64_t time;
    int64_t *next; /* NULL, or set to the list's next post number; 0: the Message-ID was recorded before */
} SeenMail;

/* Record that a mail was seen on the list. *known is true when another entry recorded the same Message-ID earlier, and
 * false when it was this same entry. */
bool list_record_message_id(Store *store, const char *list_id, const SeenMail *seen, bool *known, GError **error);

/* Note that a recorded mail, named by message_id and entry, is in another spool (seen->spool) since seen->time, because
 * somebody accepted it there after it was held. Without such a record nothing happens. */
bool list_move_message_id(Store *store, const char *list_id, const SeenMail *seen, GError **error);
