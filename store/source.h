/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Sources of members: places outside of a list from which members come (lists/source.h), and which source gave whom.
 * Who came by a source has a row for each source that gives the address; where no source made the membership, the row
 * says so, and the member stays when the source no longer gives the address. Who left, or was removed, is remembered,
 * and no source brings the address back.
 *
 * A reading goes into a stage first: a temporary table that only this connection sees. Then it is compared with what
 * the source gave before, page by page in the order of addresses, so memory is flat whatever the size. Each page is
 * asked for and carried out in one transaction of the caller's; one that ends between two pages leaves nothing that the
 * next refresh would not finish.
 *
 * Times are microseconds since 1970, 0: never. Errors are those of the store.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* Kept in the database by number. */
typedef enum SourceKind { SOURCE_FILE, SOURCE_URL, SOURCE_LIST, SOURCE_SQL, SOURCE_LDAP } SourceKind;
const char *source_kind_text(SourceKind kind);
bool source_kind_parse(const char *text, SourceKind *kind);

typedef struct MemberSource {
    int64_t key;
    char *list_id, *name;
    int kind;                                   /* SourceKind */
    char *place;                                /* a path, URL or List-Id; holds no password */
    char *query;                                /* of SOURCE_SQL; else NULL */
    char *bind_dn;                              /* who asks, of SOURCE_LDAP and SOURCE_URL; NULL: nobody */
    char *password_file;                        /* NULL: there is no password */
    int64_t interval;                           /* us between two refreshes; 0: that of the site */
    bool welcome;                               /* new members get a letter */
    int64_t made_at, tried_at, read_at, due_at; /* read_at: of the last reading that went well */
    int64_t given, kept_out, bad; /* of that: addresses given by now, such that stay out, lines that are no address */
    char *fault;                  /* of the last try; "": it went well */
    char *bad_lines;              /* the first of the last try that are no address, "12: text" each, with a line end
                                     between two; NULL: none */
    int64_t turn;                 /* counts refreshes */
} MemberSource;

void member_source_free(MemberSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MemberSource, member_source_free)

/* Add a source, whose key and made_at are set. FAIL_EXISTS: the list has one of that name. */
bool source_add(Store *store, MemberSource *source, GError **error);
/* Write what a person sets of it. It is due at once then, and a refresh that goes on is over. */
bool source_change(Store *store, const MemberSource *source, GError **error);
/* FAIL_MISSING: the list has no source of that name. */
MemberSource *source_find(Store *store, const char *list_id, const char *name, GError **error);
/* Return the sources of a list (NULL: of all) by list and name; of MemberSource, freed with the array. */
GPtrArray *source_all(Store *store, const char *list_id, GError **error);
/* Return the sources that are due by now, the one that has waited longest first. */
GPtrArray *source_due(Store *store, int64_t now, GError **error);
/* Let it be read again at this time. */
bool source_set_due(Store *store, const MemberSource *source, int64_t when, GError **error);
/* Remove a source, and all that it gave: who came by it alone stays as one who joined. */
bool source_remove(Store *store, const MemberSource *source, GError **error);
/* How many members it made whom no other source gives: they go with it. */
bool source_count_alone(Store *store, const MemberSource *source, int64_t *count, GError **error);
/* How many sources failed at their last try. */
bool source_count_faults(Store *store, int64_t *count, GError **error);

/* Begin a refresh: turn and tried_at are written, and the source is read anew. An older refresh of it is over then.
 * FAIL_MISSING: it was removed meanwhile. */
bool source_begin(Store *store, MemberSource *source, int64_t now, GError **error);
/* FAIL_RACE: a later refresh has begun since, or somebody has set the source. */
bool source_check_turn(Store *store, const MemberSource *source, GError **error);
/* Write how it ended: read_at, due_at, given, kept_out, bad, bad_lines and fault. FAIL_RACE as above. */
bool source_end(Store *store, const MemberSource *source, GError **error);

/* ---- comparing ---- */

typedef struct SourceStage SourceStage;

/* Begin to fill the stage. From here to source_stage_close() use the store for nothing else. */
SourceStage *source_stage_open(Store *store, const MemberSource *source, GError **error);
void source_stage_free(SourceStage *stage);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SourceStage, source_stage_free)
/* Add one address; a second time it is passed over. FAIL_NEVER: no valid address; go on with the next. */
bool source_stage_add(SourceStage *stage, const char *address, const char *name, GError **error);
/* Add all members of a list. FAIL_MISSING: there is no such list. */
bool source_stage_add_list(SourceStage *stage, const char *list_id, GError **error);

typedef struct SourceCounts {
    int64_t given;   /* addresses in the stage */
    int64_t before;  /* those that the source gave before */
    int64_t missing; /* those of them that are not in the stage */
} SourceCounts;
/* End filling, and count. */
bool source_stage_close(SourceStage *stage, SourceCounts *counts, GError **error);

/* See who of the members that sources of the list gave has left since, and write it down: they stay out. Who is a
 * member again by another way counts as one who joined. */
bool source_notice_left(Store *store, const char *list_id, int64_t now, GError **error);

#define SOURCE_PAGE 5000    /* rows */
#define SOURCE_WAY "source" /* in the log of a list: the member went because the source does not give the address now */

/* An address that is in the stage, and that the source did not give before. */
typedef struct SourceFresh {
    char *folded, *address, *name; /* name may be NULL */
    int64_t member;                /* the membership that is there; 0: none, and it is made when it is taken */
    bool made;                     /* a source made that */
    int64_t known, person;         /* keys of the address and its person; 0: it is not known */
    char *email;                   /* the address as it is known; NULL: it is not */
    bool left;                     /* known as one who stays out */
    int64_t log_at;                /* 0: the log of the list does not say that the person left; else when */
    char *log_way;                 /* and by which way; "": removed */
} SourceFresh;
/* The next of them, at most SOURCE_PAGE, in order; none: that was all. Of SourceFresh, freed with the array. */
GPtrArray *source_stage_fresh(SourceStage *stage, GError **error);
/* Make those of them (SourceFresh, in order) members who are none, and write that the source gives all. */
bool source_take(Store *store, const MemberSource *source, GPtrArray *fresh, int64_t now, GError **error);
/* Write down that the person has left, as the log says. */
bool source_keep_out(Store *store, const MemberSource *source, const SourceFresh *fresh, GError **error);

/* An address that the source gave before, and that is not in the stage. */
typedef struct SourceGone {
    char *folded, *address; /* address: the member's by now */
    int64_t member;
    bool made;
} SourceGone;
GPtrArray *source_stage_gone(SourceStage *stage, GError **error);
/* Write that the source does not give it any more. *removed: the member went, since a source had made the membership
 * and none gives it now. */
bool source_drop(Store *store, const MemberSource *source, const SourceGone *gone, bool *removed, GError **error);

/* ---- why ---- */

typedef struct SourceGiven {
    char *name; /* of the source */
    int64_t given_at;
    bool made; /* else the person had joined before */
} SourceGiven;
/* The sources of the list that give the address; of SourceGiven, freed with the array. */
GPtrArray *source_of_address(Store *store, const char *list_id, const char *address, GError **error);
/* The names of the sources that made this membership and give its address; g_strfreev(). */
char **source_of_member(Store *store, const char *id, GError **error);
/* *way (g_free()) is how the person left the list (leave_way_text(), BRING_WAY of store/bring.h), "": removed or not
 * known; NULL: is not known as one who left. */
bool source_left_find(Store *store, const char *list_id, const char *address, char **way, int64_t *left_at,
                      GError **error);
