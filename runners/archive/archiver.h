/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * An archiver: one [archiver.NAME] of the configuration. A type is a const
 * struct in a file of its own (maildir.c, mbox.c, command.c) and a line
 * in archiver_types[] (archive.c).
 *
 * store() takes one mail; it may keep what it did unsynced until flush(),
 * which the runner calls at the end of a batch, before the hop is committed, and whenever store() fails with
 * FAIL_RACE: then the archiver must be flushed before it can take this mail, which is handed to store() once more.
 * When flush() fails the archiver forgets what it held, and the whole batch comes again, each mail between two flushes,
 * so that a failure is known to be of that mail.
 * A mail that comes again has the same key: a type whose store() can look up the key
 * stores it once. One that cannot (immediate) is remembered for as long as
 * the process lives. settled() says that a mail that was stored does not come again,
 * not after a power cut either; it may be said late, and not at all where the process is killed.
 *
 * Failure: FAIL_LATER keeps this archiver's copy in the queue, any other
 * code sends this copy to shunt.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "runners/runner.h"

typedef struct ArchiveMail {
    char key[HASH_DIGITS + 1]; /* the same whenever this mail comes again */
    const char *list;          /* List-Id */
    const char *place;         /* name under which the list's posts are kept here, before archive_file_name() */
    const char *posting_address; /* of the list, "" when unknown */
    const char *message_id;    /* without brackets, "" when unknown */
    const char *sender;        /* envelope sender, "" for the null sender */
    int64_t arrival;
    bool closed;               /* not everybody may read the list's archive */
    bool repeat;               /* it may have been stored before: look closely */
    bool again;                /* it may have been stored since this process began */
    const char *octets;        /* the mail with LF line ends */
    size_t length;
} ArchiveMail;

typedef struct ArchiverType {
    const char *name;
    bool immediate; /* done when store() returns; a repeat would do it again */
    void *(*open)(Runner *runner, const char *section, GError **error);
    bool (*store)(void *archiver, const ArchiveMail *mail, GError **error);
    /* In place of store(): the address that gets the mail by mail. An entry of the queue out, in the same hop. */
    const char *(*recipient)(void *archiver);
    bool (*flush)(void *archiver, GError **error); /* NULL: nothing to flush */
    void (*settled)(void *archiver, const char *key); /* NULL: of no interest */
    /* Work that can wait, when the runner has nothing else to do. Returns the microseconds until it wants to be called
     * again, -1: not. NULL: none. */
    int64_t (*idle)(void *archiver);
    /* Return trouble that a person should know of though mails are stored, borrowed until the next call; NULL: none. */
    const char *(*trouble)(void *archiver);
    void (*close)(void *archiver);
} ArchiverType;

extern const ArchiverType archiver_maildir;
extern const ArchiverType archiver_mbox;
extern const ArchiverType archiver_command;
extern const ArchiverType archiver_mhonarc;
extern const ArchiverType archiver_hyperkitty;
extern const ArchiverType archiver_mail_archive;

/* Whether a maildir archiver is to write an index beside its maildirs. *looks: in this process it looks for posts that
 * are missing there. */
bool archiver_wants_index(Runner *runner, const char *section, bool *looks);

/* The setting, or FAIL_CONFIG that names what is missing. */
const char *archiver_setting(Runner *runner, const char *section, const char *key, GError **error);
