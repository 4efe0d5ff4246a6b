/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Model a disk with a cache before it, on which the operations of a CrashLog are played. `cached` is what processes
 * see; `durable` is what was synced. Only the files of crash_states-t use this.
 */
#include "t/switchboard/crashlog.h"

#define CRASH_SECTOR 512U

typedef struct CrashPlace {
    const char *name; /* interned */
    int file;
} CrashPlace;

typedef struct CrashDir {
    GArray *cached, *durable; /* of CrashPlace, sorted by name */
    GArray *pending;          /* of CrashOp: entry operations not synced */
} CrashDir;

typedef struct CrashData {
    GByteArray *cached, *durable;
    guint least; /* the least length since the last sync: durable bytes behind it may be gone */
} CrashData;

typedef struct CrashModel {
    CrashDir dirs[CRASH_PLACES];
    GArray *files; /* of CrashData */
    CrashNotes notes;
} CrashModel;

CrashModel *crashmodel_new(void);
void crashmodel_free(CrashModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CrashModel, crashmodel_free)

/* Add an operation to a log, and to its model. */
void crashlog_append(CrashLog *log, const CrashOp *op);

/* Play an operation on the model. */
void crashmodel_apply(CrashModel *model, const CrashOp *op);
/* Make all that is cached durable. */
void crashmodel_sync_all(CrashModel *model);

/* Return the number of the file that has this name in the cache; CRASH_NO_FILE: none. */
int crashmodel_find(const CrashModel *model, unsigned place, const char *name);

/* Carry out an operation on the entries of one directory (of CrashPlace). */
void crashmodel_change(GArray *places, const CrashOp *op);

/* Is the directory `place` there? places has the entries of all directories, by their numbers. */
bool crashmodel_has_dir(GArray *const *places, unsigned place);

/* Return a hash that is equal for models which allow the same states. */
uint64_t crashmodel_hash(const CrashModel *model);
/* Go on with a hash over these bytes. The first call begins with CRASH_HASH_START. */
uint64_t crash_hash(uint64_t hash, const void *octets, size_t length);
#define CRASH_HASH_START UINT64_C(0xcbf29ce484222325)

/* May a power cut at the model's moment leave this state, while no more was promised in `notes` than then? Each file's
 * sectors may be old or new and its length any between. Operations on names may come in any order, but those of one
 * file or name in theirs. The crash count of an entry says nothing below its limit. */
bool crashmodel_reaches(const CrashModel *model, GArray *const *places, GBytes *const *contents,
                        const CrashNotes *notes);

/* The operations that a directory has pending, in chains whose operations stay in order. Operations of one file are in
 * one chain, and so are those of two files that had one name. */
typedef struct CrashChains {
    guint ops;
    guint *of;     /* the chain of each operation, named by the number of one operation in it */
    guint *length; /* of each chain */
} CrashChains;

void crashchains_find(const GArray *pending, CrashChains *chains);
void crashchains_clear(CrashChains *chains);

/* Return every content (GBytes) that the file may have after a power cut: first the durable one, then the cached one,
 * then all between. */
GPtrArray *crash_contents(const CrashData *data);
