/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find an address in the maildirs and mboxes that the archivers of this host keep, and replace it by another one
 * (mail/text/pseudonym.h).
 *
 * A mail of a maildir is replaced as one file, an mbox as a whole. The new file is written beside the old one, synced
 * and renamed; whoever reads sees the old bytes or the new ones. A mail of an mbox that is longer than MBOX_MAIL_MAX
 * (mail/mbox.h) is neither looked through nor replaced. When at least one mail of a maildir archive was replaced, its
 * index is made again from the new bytes, and takes the place of the old one by a rename. Called again after it was
 * interrupted, it goes on: what was replaced is not found again, and a file beside the index, .index/pseudonyms, says
 * that the index still has to be made.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/config.h"
#include "mail/text/pseudonym.h"

typedef struct ArchivePseudonym {
    const Pseudonym *names;
    bool replace; /* else only look */
    /* Called once for each mail that has the address; count is how often it has it. In an mbox, detail is the number of
     * the mail. Called with count 0 for an archiver whose archive is not looked through, since another program keeps
     * it; place is then its name, detail its type. A mail is told of before it is replaced. */
    void (*found)(const char *place, const char *detail, size_t count, void *data);
    void (*looked)(uint64_t mails, void *data); /* after each mail: so many were looked at; may be NULL */
    void *data;
    uint64_t mails; /* were looked at; 0 before the first call */
} ArchivePseudonym;

/* Look through all archives, and replace if run->replace. False: it failed, and can be called again to go on. */
bool archive_pseudonym_run(ArchivePseudonym *run, const Config *config, GError **error);
