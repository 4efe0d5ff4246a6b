/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read rows for an export of a site or a list, and write the rows of an export, or of another list system, into this
 * site (doc/export.md, doc/moving.md).
 * carry_kinds[] has one kind for each sort of row (user, member, held post, and so on), with its fields and statements.
 * Rows name each other by ids and addresses, so that they fit into a database that has other rows. carry_table() says
 * which tables of the schema are exported, and why the others are not.
 *
 * Users, addresses, members and such keep their ids. Held and scheduled posts and requests keep their numbers where
 * these are free; otherwise they get new ones.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/driver/driver.h"
#include "store/lists/list.h"
#include "store/people/member.h"
#include "store/store_type.h"

typedef enum CarryType {
    CARRY_TEXT,
    CARRY_INTEGER, /* numbers, and times in microseconds since 1970 */
    CARRY_BOOL,    /* VALUE_INTEGER */
    CARRY_BYTES,
    CARRY_ID,     /* VALUE_INTEGER, a key; carry_id() */
    CARRY_CHOICE, /* VALUE_INTEGER, the place of a word in words */
    CARRY_EMAIL,  /* VALUE_TEXT, an address */
    CARRY_NAME,   /* VALUE_TEXT, without control characters, since it comes into fields of letters */
    CARRY_OBJECT, /* in no kind of carry_kinds[]; for fields that callers add themselves */
} CarryType;

typedef struct CarryField {
    const char *name;
    CarryType type;
    const char *words; /* "member|owner" */
    bool may;          /* the field may be missing */
    bool secret;       /* whoever reads the field can do what its owner can */
} CarryField;

/* Further work of carry_write() for a row besides inserting it: it counts the row, or finds a free number. */
typedef enum CarryHook {
    CARRY_NOTHING,
    CARRY_USER,
    CARRY_ADDRESS,
    CARRY_MEMBER,
    CARRY_HELD,
    CARRY_SCHEDULED,
    CARRY_REQUEST,
} CarryHook;

/* Say who answers for the rows of a kind. A list's file may write what a list's token may (lists/authority.h). */
typedef enum CarryReach {
    CARRY_UNDECIDED,
    CARRY_OF_LIST, /* of the list: each file may write them; lists/moving/leaving.c looks at single fields */
    CARRY_OF_SITE, /* of the site: written where the operator asks for that, and each row is named */
    CARRY_OF_MANY, /* the same, but there are so many that they are counted */
} CarryReach;

#define CARRY_FIELDS_MAX 26
#define CARRY_NUMBER_MOST "1099511627776" /* more held posts than any site had */
typedef struct CarryKind {
    const char *name;
    bool of_list;
    CarryReach reach;
    CarryHook hook;
    const char *select;         /* reads the rows of the site, or with of_list the rows of the list $1 */
    const char *select_of_list; /* without of_list: reads the rows that the list $1 needs; NULL: it needs none */
    const char *insert;         /* with of_list $1 is the list. The fields follow; an e-mail address is two, as it is
                                   written and folded. NULL: the caller writes such rows itself */
    CarryField fields[CARRY_FIELDS_MAX]; /* ended by one without name */
} CarryKind;

/* All kinds, in the order in which their rows must be written; ended by one without name. */
extern const CarryKind carry_kinds[];
/* Return the kind of this name, or NULL. */
const CarryKind *carry_kind(const char *name);

/* Return whether this table of the schema is exported. With false, *why is the reason in words (static), or NULL where
 * the table is not known here. */
bool carry_table(const char *table, const char **why);

/* Take a row with a value for each field, all borrowed for the call. False, with error, ends the reading. */
typedef bool CarryRow(const CarryKind *kind, const Value *values, void *data, GError **error);
/* Call row for each row of a kind, as a stream. With list_id NULL they are the rows of the site, else those of the
 * list, or that the list needs; a kind that has no such rows gives none. Call it inside a transaction. */
bool carry_read(Store *store, const CarryKind *kind, const char *list_id, CarryRow *row, void *data, GError **error);

/* Write one row, inside a transaction. *known: the row, or another row in its place, is there already, and nothing was
 * changed. FAIL_NEVER: a value is not allowed; FAIL_MISSING: a thing that it refers to is not there; FAIL_EXISTS: the
 * address is there already and belongs to another user. */
bool carry_write(Store *store, const CarryKind *kind, const char *list_id, const Value *values, bool *known,
                 GError **error);

/* Write one row whose ids this store has made: they may lie ahead of the clock, as a clock that was set back leaves
 * them, while those that carry_write() takes from outside may not. */
bool carry_write_own(Store *store, const CarryKind *kind, const char *list_id, const Value *values, bool *known,
                     GError **error);

/* The same with the values after error: carry_row(store, "digest", list_id, &known, error, INTEGER(1), ...). */
#define carry_row(store, name, list_id, known, error, ...) \
    carry_write_own(store, carry_kind(name), list_id, (const Value[]){__VA_ARGS__}, known, error)

/* Remove a user whom carry_write() made, if the user has no address here, since all of them belong to others. */
bool carry_drop_user(Store *store, int64_t user, GError **error);

/* ---- people of another list system, who have no ids here yet ----
 * Call these in order of the addresses where that can be had, since rows lie in that order. */

typedef struct CarryUser {
    const char *display_name; /* "": none */
    const char *password;     /* a hash of crypt(5); NULL: none */
    bool server_owner;
    int64_t created_at;
    Preferences preferences;
} CarryUser;

typedef struct CarryAddress {
    const char *email;
    const char *display_name;           /* "": none */
    int64_t registered_at, verified_at; /* verified_at 0: never shown to be the person's own */
    bool preferred;                     /* by its user */
    Preferences preferences;
    const CarryUser *user; /* NULL: the address belongs to no user */
    const char *with;      /* another address of the same user, which is there already; NULL: none is */
} CarryAddress;
/* Write an address, and its user where need be. One that is known to the store without a user gets the user; one that
 * has a user keeps that. *known: nothing was changed. FAIL_NEVER: no valid address. */
bool carry_address(Store *store, const CarryAddress *address, bool *known, GError **error);

typedef struct CarryMember {
    const char *list_id, *address, *display_name; /* NULL: none */
    Role role;
    bool as_user;
    Action moderation_action; /* ACTION_UNSET: as the list says */
    Preferences preferences;
    const char *topics; /* of which the member wants posts, one name a line (store/lists/topic.h); NULL: of all */
    bool topics_unmatched;
    int64_t score; /* hundredths; then these count, too: */
    int64_t bounced_at, disabled_at, warned_at, warnings;
    int64_t next_at; /* when something is due for the score, 0: never */
} CarryMember;
/* Write a member. The address is made when it is not known. *known: there is such a member, and nothing was changed.
 * FAIL_NEVER: no valid address; FAIL_MISSING: no such list, or as_user and the address is not known. */
bool carry_member(Store *store, const CarryMember *member, bool *known, GError **error);

/* ---- lists ---- */

typedef struct CarryList {
    const char *address; /* "talk@example.com" */
    const char *list_id;
    int64_t created_at, last_post_at;
    int64_t post_id;           /* number of the next post, from 1 */
    int64_t held_last;         /* list_number of the last held post, 0: there was none */
    int64_t archive;           /* List.archive; -1: that of the removed list with this id, or else 0 */
    const char *password_hash; /* of the moderators, by crypt(5); NULL: none */
} CarryList;
/* Make the list with the default of each setting. Errors are those of list_create(). */
List *carry_list(Store *store, const CarryList *list, GError **error);
/* Read what no other function has of a list: CarryList.held_last, and password_hash (g_free()). FAIL_MISSING: there is
 * no such list. */
bool carry_read_list(Store *store, const char *list_id, int64_t *held_last, char **password_hash, GError **error);
/* Return the List-Ids of all lists, or of the lists of a domain, in order; g_strfreev(). */
char **carry_lists(Store *store, const char *mail_host, GError **error);

/* ---- what came from where ---- */

/* Set *whole: did an earlier import note that it had brought in this part whole? Names of parts are the caller's. */
bool carry_find_part(Store *store, const char *name, bool *whole, GError **error);
/* Note that the part was brought in whole. The note is removed with the list; list_id NULL: it belongs to no list. */
bool carry_note_part(Store *store, const char *name, const char *list_id, GError **error);
/* Set *system to the name of the list system from which the list was imported, "mlmmj", which is the first word of the
 * names of its parts; g_free(). A Listrunner from which it came later does not count, if there is another. NULL: the
 * list was made here. */
bool carry_system(Store *store, const char *list_id, char **system, GError **error);
/* Return the List-Ids of the lists that were imported from this system; g_strfreev(). */
char **carry_lists_of(Store *store, const char *system, GError **error);

/* ---- ids ---- */

/* Write a key as the id that an export has, and read one. False: id is no id. */
#define CARRY_ID_SIZE STORE_ID_SIZE
void carry_id(int64_t key, char id[CARRY_ID_SIZE]);
bool carry_id_parse(const char *id, int64_t *key);
