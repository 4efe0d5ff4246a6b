/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The log of a list (store/list_log.h) gets a row for each change that somebody makes to it, whichever way it comes: by
 * a page, by mail, by REST or in the shell. The use cases of this folder write it within the change's own transaction.
 */
#include "lists/work.h"
#include "store/list.h"
#include "store/list_log.h"

/* All borrowed. */
typedef struct Change {
    const char *kind, *name;
    const char *before, *after; /* NULL: there was, or is, nothing */
} Change;

/* Add the row, by whoever the unit's actor is. */
bool change_log(Work *work, const char *list_id, const Change *change, GError **error);

/* Set a setting (value NULL: to its default), and log that; a value that is there already is no change. FAIL_NEVER: the
 * value is not allowed, or names what is not in the configuration; the message says what is. */
bool change_setting(Work *work, const List *list, const char *name, const char *value, GError **error);

typedef enum Undo {
    UNDO_DONE,
    UNDO_NOTHING, /* the row is no change of a setting or a ban that can be undone */
    UNDO_CHANGED, /* it was changed again since */
} Undo;

/* Tell how change_undo() would end for a row, with the list as it is now. Only reads the store. */
bool change_look(Store *store, const List *list, const ListLogRow *row, Undo *undo, GError **error);

/* Give the setting of a row the value that it had before, lift a ban, or ban again. FAIL_MISSING: the list has no such
 * row. */
bool change_undo(Work *work, const List *list, int64_t key, Undo *result, GError **error);
