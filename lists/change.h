/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Change settings of a list, write changes into the list's log (store/lists/list_log.h), and undo them. The log has a
 * row for each change that somebody makes to the list by a page, by mail, by REST or in the shell. The row is written
 * in the transaction of the unit of work that makes the change, so both are committed or neither.
 */
#include "lists/work.h"
#include "store/lists/list.h"
#include "store/lists/list_log.h"

/* A row for the log: the kind of the thing that was changed (LOG_* of store/lists/list_log.h), its name, and its value.
 * All strings are borrowed. */
typedef struct Change {
    const char *kind, *name;
    const char *before, *after; /* before NULL: there was nothing; after NULL: there is nothing now */
} Change;

/* Add the row to the list's log; its author is the actor of work. The change itself is the caller's. */
bool change_log(Work *work, const char *list_id, const Change *change, GError **error);

/* Set a setting (value NULL: to its default) and log the change. If it has that value already, nothing is logged.
 * FAIL_NEVER: the value is not allowed, also by the list's family (lists/making/family.h), or names something that the
 * configuration does not have; the message says what is allowed. */
bool change_setting(Work *work, const List *list, const char *name, const char *value, GError **error);

typedef enum Undo {
    UNDO_DONE,
    UNDO_NOTHING, /* the row is no change of a setting or a ban that can be undone */
    UNDO_CHANGED, /* the setting or ban was changed again since, so it stays as it is */
} Undo;

/* Tell how change_undo() would end for a row, with the list as it is now. Only reads the store. */
bool change_look(Store *store, const List *list, const ListLogRow *row, Undo *undo, GError **error);

/* Undo the change of the row with this key: give the setting the value that it had before, lift the ban, or ban again.
 * True with another *result than UNDO_DONE: nothing was changed. FAIL_MISSING: the list's log has no such row. */
bool change_undo(Work *work, const List *list, int64_t key, Undo *result, GError **error);
