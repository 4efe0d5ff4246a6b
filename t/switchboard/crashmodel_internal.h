/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The model of a disk with a cache before it, on which a CrashLog is played.
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
    guint least; /* length since the last sync: what was durable behind it may be gone */
} CrashData;

typedef struct CrashModel {
    CrashDir dirs[CRASH_PLACES];
    GArray *files; /* of CrashData */
    CrashNotes notes;
} CrashModel;

CrashModel *crashmodel_new(void);
void crashmodel_free(CrashModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CrashModel, crashmodel_free)

/* Adds the operation to a log. */
void crashlog_append(CrashLog *log, const CrashOp *op);

void crashmodel_apply(CrashModel *model, const CrashOp *op);
void crashmodel_sync_all(CrashModel *model);

/* The number of the file that has this name in the cache; CRASH_NO_FILE: none. */
int crashmodel_find(const CrashModel *model, unsigned place, const char *name);

/* Entry operations on a list of places. */
void crashmodel_change(GArray *places, const CrashOp *op);

/* Whether the directory is there where these are the entries of each. */
bool crashmodel_has_dir(GArray *const *places, unsigned place);

/* Equal for models that allow the same states. */
uint64_t crashmodel_hash(const CrashModel *model);
uint64_t crash_hash(uint64_t hash, const void *octets, size_t length);
#define CRASH_HASH_START UINT64_C(0xcbf29ce484222325)

/* Whether the state may be left by a power cut at the model's moment, and nobody was promised less then: each file's
 * sectors old or new, its length any between, the operations on names in any order but that of one file or name. The
 * crash count of an entry says nothing below its limit. */
bool crashmodel_reaches(const CrashModel *model, GArray *const *places, GBytes *const *contents,
                        const CrashNotes *notes);

/* The operations pending in a directory, by files: those of one file stay in order, and so do those of two that had one
 * name. */
typedef struct CrashChains {
    guint ops;
    guint *of;     /* of each operation, its chain: the number of one of them */
    guint *length; /* of each chain */
} CrashChains;

void crashchains_find(const GArray *pending, CrashChains *chains);
void crashchains_clear(CrashChains *chains);

/* Every content that the file may have after a power cut: first as it was,
 * then as it is, then all between. Of GBytes. */
GPtrArray *crash_contents(const CrashData *data);
