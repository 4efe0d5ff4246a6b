/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Rows that leave a site and come into another (doc/export.md): one kind for each sort of thing, with the fields by
 * which others know it, so that a row finds its place in a store with other keys. carry_table() says which tables of
 * the schema leave, and why the others stay.
 *
 * Ids of users, addresses, members and such are kept. Numbers of held posts and requests are kept where they are free.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/driver.h"
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
    CARRY_OBJECT, /* of no kind: for the caller's own */
} CarryType;

typedef struct CarryField {
    const char *name;
    CarryType type;
    const char *words; /* "member|owner" */
    bool may;          /* be missing */
    bool secret;       /* so that whoever reads it can do what its owner can */
} CarryField;

/* A further act beside the row. */
typedef enum CarryHook {
    CARRY_NOTHING,
    CARRY_USER,
    CARRY_ADDRESS,
    CARRY_MEMBER,
    CARRY_HELD,
    CARRY_SCHEDULED,
    CARRY_REQUEST,
} CarryHook;

#define CARRY_FIELDS_MAX 26
#define CARRY_NUMBER_MOST "1099511627776" /* more held posts than any site had */
typedef struct CarryKind {
    const char *name;
    bool of_list;
    CarryHook hook;
    const char *select;         /* those of the site; of_list: those of the list $1 */
    const char *select_of_list; /* of a kind of the site: those that the list $1 needs; NULL: none */
    const char *insert;         /* of_list: $1 is the list. The fields follow; an e-mail address is two, as it is
                                   written and folded. NULL: written by the caller */
    CarryField fields[CARRY_FIELDS_MAX]; /* ended by one without name */
} CarryKind;

/* In the order in which they are written; ended by one without name. */
extern const CarryKind carry_kinds[];

/* Does this table of the schema leave? False with *why, in words, where it stays; *why NULL: nobody knows the table. */
bool carry_table(const char *table, const char **why);

/* Called with a value for each field; they are borrowed. */
typedef bool CarryRow(const CarryKind *kind, const Value *values, void *data, GError **error);
/* Read all rows of a kind in their order, as a stream: inside a transaction. list_id NULL: those of the site. */
bool carry_read(Store *store, const CarryKind *kind, const char *list_id, CarryRow *row, void *data, GError **error);

/* Write one row. *known: it, or another in its place, is there, and nothing changed. FAIL_NEVER: a value is not
 * allowed; FAIL_MISSING: what it refers to is not there; FAIL_EXISTS: an address is another user's here. Inside a
 * transaction. */
bool carry_write(Store *store, const CarryKind *kind, const char *list_id, const Value *values, bool *known,
                 GError **error);

/* Remove a user whom carry_write() made, if all addresses were another user's here. */
bool carry_drop_user(Store *store, int64_t user, GError **error);

/* Set what nobody sets otherwise of a list that was just made. */
typedef struct CarryList {
    const char *list_id;
    int64_t held_last, archive;
} CarryList;
bool carry_read_list(Store *store, CarryList *list, char **password_hash, GError **error);
bool carry_write_list(Store *store, const CarryList *list, GError **error);
/* The ids of all lists, or those of a domain, in order. */
char **carry_lists(Store *store, const char *mail_host, GError **error);

#define CARRY_ID_SIZE STORE_ID_SIZE
void carry_id(int64_t key, char id[CARRY_ID_SIZE]);
bool carry_id_parse(const char *id, int64_t *key);
