/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Reading a source of members into a stage (store/source.h), one function for each kind. Each reads to the proven end:
 * a reading that is cut, or that changes while it is read, fails. For the files lists/source*.c.
 */
#include <glib.h>
#include <stdio.h>

#include "lists/source.h"

typedef struct SourceReading {
    const SourceRun *run;
    const MemberSource *source;
    SourceStage *stage;
    const char *password; /* NULL: none */
    int64_t lines, bad;   /* addresses that came, such that are none */
    uint64_t number;      /* of the line of a file; 0: the source has rows, which are counted */
    const char *text;     /* of that line; may be no UTF-8 */
    GString *bad_lines;   /* the first few */
} SourceReading;

/* Put one address into the stage; one that is none is counted. False: the store failed, the run is to end, or there are
 * too many. */
bool source_reading_add(SourceReading *reading, const char *address, const char *name, GError **error);
/* Is the run to go on? For a reader that may wait for long without an address. */
bool source_reading_goes_on(const SourceReading *reading, GError **error);
/* Read lines of addresses (lists/member_line.h). The file stays the caller's. */
bool source_reading_lines(SourceReading *reading, FILE *file, GError **error);

/* Read all. FAIL_LATER: it cannot be read now; FAIL_CONFIG, FAIL_NEVER, FAIL_MISSING: it can only be read when somebody
 * has mended it. */
typedef bool SourceRead(SourceReading *reading, GError **error);
SourceRead source_read_url, source_read_sql, source_read_ldap;

/* May files of sources lie there? FAIL_... as the code says, else; the message names the setting. */
bool source_may_read(const WorkSite *site, const char *path, int code, GError **error);
/* Is it a URL by which source_read_ldap() can search? FAIL_NEVER. */
bool source_check_ldap(const char *url, GError **error);
