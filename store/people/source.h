/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep the sources of a list's members: files, URLs, other lists or queries that name the addresses to be members
 * (lists/sources/source.h), and which source gave which address. There is a row for each address that a source gives.
 * It says whether a source made the membership: then the member is removed when no source gives the address any more. A
 * member who had joined without a source stays. An address that left, or was removed, is remembered, and no source
 * brings it back.
 *
 * A refresh reads a source anew: source_begin(), then fill a stage with all addresses that the source gives now. The
 * stage is a temporary table that only this connection sees. Call source_notice_left() next. Then source_stage_fresh()
 * and source_stage_gone() compare the stage page by page with the addresses that the source gave before. The caller
 * carries out each page in a transaction of its own. source_end() is last. A refresh that is broken off between two
 * pages is finished by the next one.
 *
 * Times are microseconds since 1970, 0: never. Errors are those of the store.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mailbox.h"
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
    int64_t given, kept_out, bad; /* at read_at: addresses given; of these kept out (left, banned); bad lines */
    char *fault;                  /* of the last try; "": it went well */
    char *bad_lines;              /* the first of the last try that are no address, "12: text" each, with a line end
                                     between two; NULL: none */
    int64_t turn;                 /* counts refreshes */
} MemberSource;

void member_source_free(MemberSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MemberSource, member_source_free)

/* Add a source, whose key and made_at are set. FAIL_EXISTS: the list has one of that name. */
bool source_add(Store *store, MemberSource *source, GError **error);
/* Write place, query, bind_dn, password_file, interval and welcome of the source. It is due at once then, and a refresh
 * that is under way fails with FAIL_RACE. */
bool source_change(Store *store, const MemberSource *source, GError **error);
/* Find a source by its name; member_source_free(). FAIL_MISSING: the list has no source of that name. */
MemberSource *source_find(Store *store, const char *list_id, const char *name, GError **error);
/* Return the sources of a list (NULL: of all) by list and name; of MemberSource, freed with the array. */
GPtrArray *source_all(Store *store, const char *list_id, GError **error);
/* Return the sources that are due by now, the one that has waited longest first. */
GPtrArray *source_due(Store *store, int64_t now, GError **error);
/* Make the source due at this time. */
bool source_set_due(Store *store, const MemberSource *source, int64_t when, GError **error);
/* Remove a source and its rows of addresses. The members whom it made stay, as if they had joined by themselves. */
bool source_remove(Store *store, const MemberSource *source, GError **error);
/* Count the members whom this source gives and a source made, and whom no other source gives. */
bool source_count_alone(Store *store, const MemberSource *source, int64_t *count, GError **error);
/* Count the sources of all lists that failed at their last try. */
bool source_count_faults(Store *store, int64_t *count, GError **error);

/* Begin a refresh: write a new turn and tried_at, and read all fields of *source anew from the database. An older
 * refresh of this source fails with FAIL_RACE from then on. FAIL_MISSING: the source was removed meanwhile. */
bool source_begin(Store *store, MemberSource *source, int64_t now, GError **error);
/* Check, in the transaction of each page, that this refresh is still the one that counts. FAIL_RACE: a later refresh
 * has begun, or somebody has changed the source: give up. */
bool source_check_turn(Store *store, const MemberSource *source, GError **error);
/* Write how the refresh ended: read_at, due_at, given, kept_out, bad, bad_lines and fault. FAIL_RACE: as for
 * source_check_turn(). */
bool source_end(Store *store, const MemberSource *source, GError **error);

/* ---- comparing ---- */

typedef struct SourceStage SourceStage;

/* Begin to fill the stage. From here to source_stage_close() use the store for nothing else. */
SourceStage *source_stage_open(Store *store, const MemberSource *source, GError **error);
void source_stage_free(SourceStage *stage);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SourceStage, source_stage_free)
/* Add one address; one that is there already is passed over. FAIL_NEVER: no valid address; go on with the next one. */
bool source_stage_add(SourceStage *stage, const char *address, const char *name, GError **error);
/* Add all members of a list. FAIL_MISSING: there is no such list. */
bool source_stage_add_list(SourceStage *stage, const char *list_id, GError **error);

typedef struct SourceCounts {
    int64_t given;   /* addresses in the stage */
    int64_t before;  /* those that the source gave before */
    int64_t missing; /* those of them that are not in the stage */
} SourceCounts;
/* End filling, and count. After that the store may be used again, and the pages can be asked for. */
bool source_stage_close(SourceStage *stage, SourceCounts *counts, GError **error);

/* Find addresses that sources of the list gave and that are members no more, and note that they left, so that no source
 * brings them back. An address that has become a member again since counts as one that joined by itself. */
bool source_notice_left(Store *store, const char *list_id, int64_t now, GError **error);

#define SOURCE_PAGE 5000    /* rows */
#define SOURCE_WAY "source" /* in the log of a list: the member went because the source does not give the address now */

/* An address that is in the stage, and that the source did not give before. */
typedef struct SourceFresh {
    char *folded, *address, *name; /* name may be NULL */
    int64_t member;                /* the membership that is there; 0: none, and it is made when it is taken */
    bool made;                     /* a source made that membership */
    int64_t known, person;         /* keys of the address and its person; 0: it is not known */
    char *email;                   /* the address as it is known; NULL: it is not */
    bool left;                     /* known as one who stays out */
    int64_t log_at;                /* 0: the log of the list does not say that the person left; else when */
    char *log_way;                 /* and by which way; "": removed */
} SourceFresh;
/* Return the next SOURCE_PAGE of these addresses, or what is left, in order; an empty array: that was all. Of
 * SourceFresh, freed with the array. */
GPtrArray *source_stage_fresh(SourceStage *stage, GError **error);
/* Make members of those addresses (of SourceFresh, in order) that are none, and set their member and made. Write that
 * the source gives all of them. */
bool source_take(Store *store, const MemberSource *source, GPtrArray *fresh, int64_t now, GError **error);
/* Note that the address has left the list, at log_at by log_way, so that no source brings it back. */
bool source_keep_out(Store *store, const MemberSource *source, const SourceFresh *fresh, GError **error);

/* An address that the source gave before, and that is not in the stage. */
typedef struct SourceGone {
    char *folded;   /* as the source gave it */
    int64_t member; /* the membership that goes, since a source made it and no source will give it; 0: none goes */
    char *member_folded, *address; /* of the member by now; NULL: there is none any more */
} SourceGone;
/* As source_stage_fresh(), of SourceGone. */
GPtrArray *source_stage_gone(SourceStage *stage, GError **error);
/* Write that the source does not give the addresses of this page any more, and remove the members who go with them.
 * Call it in the transaction in which source_stage_gone() gave the page. */
bool source_stage_drop(SourceStage *stage, GPtrArray *gone, GError **error);

/* ---- why ---- */

typedef struct SourceGiven {
    char *name; /* of the source */
    int64_t given_at;
    bool made; /* else the person had joined before */
} SourceGiven;
/* Return the sources of the list that give the address; of SourceGiven, freed with the array. */
GPtrArray *source_of_address(Store *store, const char *list_id, const Mailbox *address, GError **error);
/* The names of the sources that made this membership and give its address; g_strfreev(). */
char **source_of_member(Store *store, const char *id, GError **error);
/* Set *way (g_free()) to how the address left the list (leave_way_text(), or "import" where it left it in another list
 * system), and *left_at to when. "": it was removed, or the way is not known. NULL: it is not remembered as one that
 * left. */
bool source_left_find(Store *store, const char *list_id, const Mailbox *address, char **way, int64_t *left_at,
                      GError **error);
