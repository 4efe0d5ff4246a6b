/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/backup/backup.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "switchboard/meta.h"

bool backup_write(const char *directory, const Backup *backup, GError **error)
{
    g_autofree char *file = g_build_filename(directory, BACKUP_MANIFEST, NULL), *time = clock_text(backup->moment);
    g_autoptr(json_t)
        manifest = json_pack("{si sI ss sb ss}", "format", BACKUP_FORMAT, "moment", (json_int_t)backup->moment, "time",
                             time, "database", (int)backup->database, "version", PACKAGE_VERSION);
    g_autofree char *text = meta_print(manifest);
    return g_file_set_contents_full(file, text, -1, G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0640,
                                    error);
}

bool backup_read(const char *directory, Backup *backup, GError **error)
{
    g_autofree char *file = g_build_filename(directory, BACKUP_MANIFEST, NULL), *text = NULL;
    size_t length;
    g_autoptr(GError) fault = NULL;
    if (!g_file_get_contents(file, &text, &length, &fault))
        return fail(error, g_error_matches(fault, G_FILE_ERROR, G_FILE_ERROR_NOENT) ? FAIL_MISSING : FAIL_LATER,
                    "%s is no whole backup: %s", directory, fault->message);
    g_autoptr(json_t) manifest = meta_parse(text, length, error);
    if (!manifest) {
        g_prefix_error(error, "%s: ", file);
        return false;
    }
    *backup = (Backup){.moment = meta_integer(manifest, "moment", 0), .database = meta_bool(manifest, "database")};
    if (meta_integer(manifest, "format", 0) != BACKUP_FORMAT || backup->moment <= 0)
        return fail(error, FAIL_NEVER, "%s: this program reads format %d alone, with the time of the moment", file,
                    BACKUP_FORMAT);
    return true;
}
