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

/* Values are the Pickle's, and may stand in several places, or even inside themselves: who walks them counts how deep
 * and how much. */
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

/* classes: names that are taken, ended by NULL; one that ends in a dot stands for all that begin so. FAIL_NEVER: these
 * bytes are no whole pickle, or it has another class; the message says where. */
Pickle *pickle_read(const void *bytes, size_t length, const char *const *classes, GError **error);
void pickle_free(Pickle *pickle);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Pickle, pickle_free)

const PickleValue *pickle_root(const Pickle *pickle);

/* The value of a key in a DICT, or NULL; NULL also for what is no DICT. */
const PickleValue *pickle_get(const PickleValue *dict, const char *key);
/* The same for whoever asks for many keys of a large one: text -> PickleValue, both borrowed. g_hash_table_unref() */
GHashTable *pickle_table(const PickleValue *dict);
/* The text of BYTES or TEXT, else NULL; borrowed. One that has a zero byte ends there. */
const char *pickle_string(const PickleValue *value);
/* Append the bytes of BYTES, or those that TEXT was made of: lone surrogates become the bytes that they stand for. */
void pickle_text_bytes(const PickleValue *value, GString *bytes);
