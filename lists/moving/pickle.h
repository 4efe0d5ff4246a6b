/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read what Python's pickle module wrote, in all protocols from 0 to 5, without ever doing what it says. In Python a
 * pickle may call any function; here a call becomes a value that says which class and which arguments, and only classes
 * that the reader names are taken. Nothing recurses on the bytes, and there are never more values than bytes.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum PickleType {
    PICKLE_NONE,
    PICKLE_BOOL,
    PICKLE_INTEGER,
    PICKLE_FLOAT,
    PICKLE_BYTES, /* and str of Python 2 */
    PICKLE_TEXT,  /* UTF-8, in which a byte that was no text is a lone surrogate (pickle_text_bytes()) */
    PICKLE_LIST,  /* and tuple, set */
    PICKLE_DICT,
    PICKLE_OBJECT, /* of a class, or the class itself */
} PickleType;

/* One value of a pickle, which owns it. A value may stand in several places, or even inside itself, so code that walks
 * values must bound how deep and how far it goes. */
typedef struct PickleValue PickleValue;
struct PickleValue {
    PickleType type;
    int64_t integer;  /* INTEGER, BOOL; one that does not fit is the nearest that does */
    double number;    /* FLOAT */
    GString *bytes;   /* BYTES, TEXT; of an OBJECT the class, "email.message.Message" */
    GPtrArray *items; /* of PickleValue: LIST; DICT: keys and values by turns; OBJECT: what was appended to it */
    PickleValue *arguments, *state; /* of an OBJECT: what it was made with, and what it has; NULL: nothing */
};

typedef struct Pickle Pickle;

/* Read a pickle; pickle_free(). classes: names of classes that are taken, ended by NULL; a name that ends in a dot
 * stands for all that begin so. FAIL_NEVER: these bytes are no whole pickle, or it has another class; the message says
 * where. */
Pickle *pickle_read(const void *bytes, size_t length, const char *const *classes, GError **error);
void pickle_free(Pickle *pickle);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Pickle, pickle_free)

/* Return the value that was pickled, in which all others are; borrowed. */
const PickleValue *pickle_root(const Pickle *pickle);

/* Return the value of a key in a DICT; borrowed. NULL: there is no such key, or dict is no DICT. */
const PickleValue *pickle_get(const PickleValue *dict, const char *key);
/* Return a table of all keys of a DICT, to look up many of them: text -> PickleValue, both borrowed.
 * g_hash_table_unref() */
GHashTable *pickle_table(const PickleValue *dict);
/* Return the text of BYTES or TEXT, up to a zero byte; borrowed. NULL: the value has another type. */
const char *pickle_string(const PickleValue *value);
/* Append to `bytes` those of BYTES, or those of which TEXT was made: a lone surrogate becomes the byte that it stands
 * for. */
void pickle_text_bytes(const PickleValue *value, GString *bytes);
