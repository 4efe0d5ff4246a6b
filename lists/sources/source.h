/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Give a list members from sources: a file, a URL, another list, a database or an LDAP directory (doc/sources.md). A
 * refresh reads one source whole, and then makes the list follow it:
 *
 *   - An address that the source gives joins, without a question and without a letter. It stays out when it is banned,
 *     is an address of this site that no member may have, or left the list earlier or was removed from it.
 *   - An address that the source no longer gives leaves, if a source had made it a member and no other source gives it.
 *     A person who had joined before the source came stays.
 *   - A source that fails, or is cut in the middle, changes nothing. Nor does one that looks damaged: half of its
 *     addresses and more than SOURCE_HANDFUL are missing, or some are missing while more of its lines than before are
 *     no addresses. Its fault is shown by status, the metrics and the listing until a refresh goes well.
 *
 * Rows are written for what changed alone, some thousand in a transaction; a refresh that is killed is finished by the
 * next one. The list's log gets a row for each who came or went, or one for many. Passwords are in files alone: neither
 * the database nor a message has them.
 */
#include <glib.h>
#include <jansson.h>

#include "lists/work.h"
#include "store/lists/list.h"
#include "store/people/source.h"

#define SOURCE_HANDFUL 5

/* Check what a person wrote: the name, paths and whether they may be read, URLs, circles of lists. Then add the source
 * to the list, in the unit's transaction; it is due at once. The name of a list in source->place is replaced by its
 * List-Id. FAIL_NEVER: the message says what is right; FAIL_MISSING: there is no list of that name; FAIL_EXISTS: the
 * list has a source of that name. */
bool source_make(Work *work, const List *list, MemberSource *source, GError **error);
/* Check a source that was changed, as source_make() does, and store it, in the unit's transaction. */
bool source_set(Work *work, const List *list, MemberSource *source, GError **error);
/* Remove a source. Members who came by it alone stay, as if they had joined. To have them leave, call source_empty()
 * before. */
bool source_unmake(Work *work, const List *list, const MemberSource *source, GError **error);
/* Read the text of an interval between refreshes, "1m" or more; "" gives 0, which is as the site says. FAIL_NEVER: the
 * message says what is right. */
bool source_interval_read(const char *text, int64_t *interval, GError **error);
/* Return the place of a source as people may see it, g_free(). A password is left out, and so is the part of a URL
 * behind "?", which may be a secret. */
char *source_shown(const MemberSource *source);

typedef struct SourceRun SourceRun;
typedef struct SourceResult SourceResult;
/* Read a source whole into the stage (a table of the store, store/people/source.h), and set bad and bad_lines of the
 * result. False: the source or the store failed. */
typedef bool SourceReadAll(const SourceRun *run, const MemberSource *source, SourceStage *stage, SourceResult *result,
                           GError **error);
/* Read a source of any kind. */
SourceReadAll source_read;

/* Return whether the source sends its password unencrypted to another host, so that it can be read on the way. */
bool source_is_plain(const MemberSource *source);

/* The things that a refresh works with. All is borrowed. */
struct SourceRun {
    SourceReadAll *read; /* source_read; NULL: for source_empty() alone, in a program that reads no source */
    Store *store;
    const WorkSite *site;
    const Actor *actor;
    int64_t interval; /* us, where the source has none of its own */
    bool force;       /* follow the source also when too many addresses are missing */
    bool (*commit)(Work *work, void *data, GError **error); /* commit a unit that the refresh began */
    bool (*alive)(void *data); /* called now and then; false: end, and leave the rest for the next refresh */
    void *data;
};

#define SOURCE_BAD_SHOWN 5 /* bad lines whose text is kept */

struct SourceResult {
    GError *fault; /* of the source: nothing was changed; NULL: it went well */
    int64_t given, joined, left, kept_out, bad;
    char *bad_lines; /* as in MemberSource */
    bool cut;        /* alive() ended it */
};
void source_result_clear(SourceResult *result);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SourceResult, source_result_clear)

/* Read the source, as it is set now, and make the list follow it. Call it outside of a unit: it begins units of its
 * own, and has run->commit() commit them. True: *result says what came of it; result->fault is set where the source
 * failed. False: FAIL_RACE, a later refresh has begun or the source was set; FAIL_MISSING, the source or its list was
 * removed; else the store failed. Units that were committed before stand. */
bool source_refresh(const SourceRun *run, MemberSource *source, SourceResult *result, GError **error);
/* Refresh the list as source_refresh() does, as if the source gave nobody: members who came by it alone leave. */
bool source_empty(const SourceRun *run, MemberSource *source, SourceResult *result, GError **error);

/* Say why an address is a member of the list or is not: {address, list, member, sources: [{name, given_at, made}],
 * because: [sentences]}. FAIL_NEVER: it is no address. */
json_t *source_why(Work *work, const List *list, const char *address, GError **error);
