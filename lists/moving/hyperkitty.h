/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the mails of a list from the database of HyperKitty, the archive of GNU Mailman 3 (1.2 and later). HyperKitty
 * keeps of a mail what its pages show: sender, subject, date, Message-ID, the mail that it answers, one text, and
 * files. All else of its header is lost, and so is how its parts were put together. Each row becomes a new mail to the
 * list: the text, in UTF-8, with the files behind it. The same row always gives the same bytes.
 *
 * Rows come in the order in which they were archived, one in memory at a time.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/moving/foreign.h"

typedef struct HyperKitty {
    Foreign *database;
    const char *list_id, *address; /* the list is the one of this List-Id, or else of this posting address */
    const char *files;             /* HYPERKITTY_ATTACHMENT_FOLDER, if files are kept there; NULL: none */
    /* Set *known to whether the archive has a mail of this Message-ID already; it is then passed over. */
    bool (*known)(const char *message_id, bool *known, void *data, GError **error);
    /* Take a mail, whose bytes are borrowed, with the time at which it was archived. False ends the reading. */
    bool (*take)(GString *octets, int64_t archived, void *data, GError **error);
    void *data;
} HyperKitty;

typedef struct HyperKittyCounts {
    uint64_t mails, known; /* that were taken, and passed over */
    uint64_t files_lost;   /* files whose content is nowhere, or would make a mail too large */
    uint64_t unusable;     /* rows without a Message-ID */
} HyperKittyCounts;

/* Check that the database is HyperKitty's; else FAIL_CONFIG, also for an older version of it. */
bool hyperkitty_check(Foreign *database, GError **error);

/* Set *total to the number of mails of the list with that List-Id, or else with that posting address. *there is false
 * where the database has no such list. */
bool hyperkitty_count(Foreign *database, const char *list_id, const char *address, bool *there, uint64_t *total,
                      GError **error);

/* Read all mails of the list, and call from->take() for each. *total (may be NULL) is set before to their number.
 * FAIL_MISSING: there is no such list; FAIL_CONFIG: it is no database of HyperKitty, or of an older one; FAIL_LATER: it
 * cannot be read, or known() or take() failed. */
bool hyperkitty_read(const HyperKitty *from, HyperKittyCounts *counts, uint64_t *total, GError **error);
