/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read a source of members into a stage (a table of the store, store/people/source.h), by one function for each kind of
 * source. Each fails when the source was cut, or changed while it was read: only a whole source counts. Only the files
 * lists/source*.c use this.
 */
#include <glib.h>
#include <stdio.h>

#include "lists/sources/source.h"

typedef struct SourceReading {
    const SourceRun *run;
    const MemberSource *source;
    SourceStage *stage;
    const char *password; /* NULL: none */
    int64_t lines, bad;   /* lines or rows so far, and those of them that are no addresses */
    uint64_t number;      /* of the current line of a file; 0: the source has rows, and `lines` is their number */
    const char *text;     /* of the current line; may be no UTF-8; NULL: the source has rows */
    GString *bad_lines;   /* the first few bad lines, with their numbers */
} SourceReading;

/* Put one address into the stage. If the text is no address, only count it as bad, and return true. False: the store
 * failed, the run is to end, or there are too many addresses. */
bool source_reading_add(SourceReading *reading, const char *address, const char *name, GError **error);
/* Ask whether the run is to go on, in a reader that may wait for long without an address. FAIL_LATER: it is to end. */
bool source_reading_goes_on(const SourceReading *reading, GError **error);
/* Put all addresses of a file into the stage (its form: lists/people/member_line.h). The file stays the caller's. */
bool source_reading_lines(SourceReading *reading, FILE *file, GError **error);

/* Read a whole source of one kind. FAIL_LATER: it cannot be read now; FAIL_CONFIG, FAIL_NEVER, FAIL_MISSING: it can
 * only be read when somebody has mended it. */
typedef bool SourceRead(SourceReading *reading, GError **error);
SourceRead source_read_ldap;

/* Check that the site lets sources read the file of this path. If not, fail with `code`; the message names the setting.
 */
bool source_may_read(const WorkSite *site, const char *path, int code, GError **error);
/* Check a URL for source_read_ldap(). FAIL_NEVER: the message says what is right. */
bool source_check_ldap(const char *url, GError **error);
