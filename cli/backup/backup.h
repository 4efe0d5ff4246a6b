/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write and read the manifest of a backup. A backup, as `listrunner backup` makes it and `listrunner restore` reads it,
 * is a directory with
 *
 *   manifest        the moment of the backup: {"format":1,"moment":1763644800000042, ...}; only a whole one has it
 *   begun           in place of manifest, while the backup is being made
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
    int64_t moment; /* us since 1970 */
    bool database;  /* the backup has listrunner.db */
} Backup;

/* Write the manifest durably, as the last file: it makes the backup whole. False, with an error of GLib: it cannot be
 * written. */
bool backup_write(const char *directory, const Backup *backup, GError **error);

/* Read the manifest of a backup. FAIL_MISSING: the backup is not whole, or there is none. FAIL_NEVER: the manifest is
 * damaged, or of a newer program. FAIL_LATER: it cannot be read. */
bool backup_read(const char *directory, Backup *backup, GError **error);
