/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Declare what the files which implement archive_index.h and archive_search.h share. For this folder only. */
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "store/archive/archive_index.h"
#include "store/archive/archive_words.h"
#include "store/row.h"
#include "store/schema/migrate.h"
#include "store/store_internal.h"

/* A message's id is made of the second of its arrival, and a number of ARCHIVE_ID_SHIFT bits within that second. When
 * more messages arrive in a second, the others get ids of the seconds that follow. Each bit of the number costs room in
 * the table `word`, which keeps the differences of ids. */
#define ARCHIVE_ID_SHIFT 6
#define ARCHIVE_ARRIVAL_MAX ((INT64_C(1) << 34) - 1)                    /* seconds */
#define ARCHIVE_ARRIVAL(id) (((id) >> ARCHIVE_ID_SHIFT) * CLOCK_SECOND) /* us since 1970 */

/* How much earlier or later than its arrival a message's date may be to be believed, in seconds. */
#define ARCHIVE_EARLY INT64_C(5184000) /* 60 days */
#define ARCHIVE_LATE INT64_C(86400)

struct ArchiveIndex {
    Store *store;
    char *link;   /* the path of the symbolic link by which the index is found */
    char *target; /* the name of the index's file, to which the link led when it was opened */
};

/* The schema of the index's file: one migration alone, since an index of another version is not migrated but made
 * again. */
extern const Migration archive_schemas[];

/* Return ok, which says whether an operation on the index succeeded. Where it failed since the file is damaged, change
 * the code of *error to FAIL_CONFIG. */
bool archive_index_checked(ArchiveIndex *index, bool ok, GError **error);

/* The columns of a message, m.COLUMN, as archive_message_read() takes them, and the tables they come from. */
#define ARCHIVE_MESSAGE_COLUMNS                                                                                       \
    "m.id, m.list, m.thread, m.date * 1000000, n.hash, m.file, m.name, m.address, m.subject, m.size, m.attachments, " \
    "m.state, m.note"
#define ARCHIVE_MESSAGE_TABLES "message m JOIN node n ON n.id = m.node"
#define ARCHIVE_MESSAGE_COUNT 13 /* columns */
/* Return the message of the present row of such a query, which the caller frees. */
ArchiveMessage *archive_message_read(Query *query);
