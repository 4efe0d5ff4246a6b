/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A backup as `listrunner backup` makes it and `listrunner restore` reads it: a directory with
 *
 *   manifest        of which moment it is; only a whole backup has it: {"format":1,"moment":1763644800000042, ...}
 *   begun           in place of manifest, while it is being made
 *   spool/          the spool
 *   listrunner.db   the database, where that is one of SQLite
 *   files/          the configuration, and the files of keys and passwords that it names, under their whole paths
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define BACKUP_MANIFEST "manifest"
#define BACKUP_BEGUN "begun"
#define BACKUP_SPOOL "spool"
#define BACKUP_DATABASE "listrunner.db"
#define BACKUP_FILES "files"

#define BACKUP_FORMAT 1

typedef struct Backup {
    int64_t moment; /* us */
    bool database;  /* it is in it */
} Backup;

/* Write the manifest, which makes the backup whole. FAIL_LATER. */
bool backup_write(const char *directory, const Backup *backup, GError **error);

/* FAIL_MISSING: it is no whole backup. FAIL_NEVER: the manifest is damaged, or of a newer program. */
bool backup_read(const char *directory, Backup *backup, GError **error);
