/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The mails of a list in the database of HyperKitty, the archive of GNU Mailman 3 (1.2 and later). HyperKitty keeps of
 * a mail what its pages show: sender, subject, date, Message-ID, the mail that it answers, one text, and files. All
 * else of its header is lost, and so is how its parts were put together. What is given here is a new mail of that: the
 * text, in UTF-8, with the files behind it, to the list. The same row always gives the same bytes.
 *
 * Rows come in the order in which they were archived, one in memory at a time.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/foreign.h"

typedef struct HyperKitty {
    Foreign *database;
    const char *list_id, *address; /* the list is the one of this List-Id, or else of this posting address */
    const char *files;             /* HYPERKITTY_ATTACHMENT_FOLDER, if files are kept there; NULL: none */
    /* Is the mail of this Message-ID in the archive already? Then it is passed over. */
    bool (*known)(const char *message_id, bool *known, void *data, GError **error);
    /* Take a mail, with the time at which it was archived. */
    bool (*take)(GString *octets, int64_t archived, void *data, GError **error);
    void *data;
} HyperKitty;

typedef struct HyperKittyCounts {
    uint64_t mails, known; /* that were taken, and passed over */
    uint64_t files_lost;   /* files whose content is nowhere, or would make a mail too large */
    uint64_t unusable;     /* rows without a Message-ID */
} HyperKittyCounts;

/* FAIL_CONFIG: it is no database of HyperKitty, or of an older one. */
bool hyperkitty_check(Foreign *database, GError **error);

/* How many mails the list of that List-Id, or else of that posting address, has there; *there is false where no such
 * list is. */
bool hyperkitty_count(Foreign *database, const char *list_id, const char *address, bool *there, uint64_t *total,
                      GError **error);

/* *total (may be NULL) is the number of the list's mails there. FAIL_MISSING: there is no such list; FAIL_CONFIG: it is
 * no database of HyperKitty, or of an older one; FAIL_LATER: it cannot be read, or known() or take() failed. */
bool hyperkitty_read(const HyperKitty *from, HyperKittyCounts *counts, uint64_t *total, GError **error);
