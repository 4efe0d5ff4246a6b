/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The interface between the runner archive and an archiver, which stores the mails of lists in one place. Each section
 * [archiver.NAME] of the configuration is an archiver of some type. A type is a const struct in a file of its own
 * (maildir.c, mbox.c, command.c) and a line in archiver_types[] (archive.c).
 *
 * store() takes one mail. It may leave its work unsynced until flush(), which the runner calls at the end of a batch,
 * before the hop is committed. When store() fails with FAIL_RACE, the runner calls flush() and then store() once more
 * for that mail. When flush() fails, the archiver must forget the mails that it held, and the whole batch comes again.
 * Then flush() is called before and after each mail, so that a failure is known to be of that mail.
 *
 * A mail that comes again has the same key. A type whose store() can look up the key stores it once. For a type that
 * cannot (immediate), the runner remembers the keys as long as the process lives.
 *
 * When store() fails with FAIL_LATER, this archiver's copy of the mail stays in the queue; any other code sends the
 * copy to shunt.
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
    bool closed;               /* the list's archive is not open to everybody */
    bool repeat;               /* it may have been stored before: look closely */
    bool again;                /* it may have been stored since this process began */
    const char *octets;        /* the mail with LF line ends */
    size_t length;
} ArchiveMail;

typedef struct ArchiverType {
    const char *name;
    bool immediate; /* the work is done when store() returns, and a second store() would do it again */
    /* Read the archiver's section, and return its state for the other functions. NULL: *error is set. */
    void *(*open)(Runner *runner, const char *section, GError **error);
    /* Store one mail, as the comment above says. */
    bool (*store)(void *archiver, const ArchiveMail *mail, GError **error);
    /* Return the address to which each mail is sent instead of being stored, as an entry of the queue out in the same
     * hop. NULL: mails are stored with store(). */
    const char *(*recipient)(void *archiver);
    bool (*flush)(void *archiver, GError **error); /* NULL: nothing to flush */
    /* Take note that the mail with this key, which was stored, does not come again, not even after a power cut. It may
     * be called late, and never where the process is killed. NULL: the type does not need to know. */
    void (*settled)(void *archiver, const char *key);
    /* Do work that can wait, while the runner has nothing else to do. Returns the microseconds until it is to be called
     * again; -1: it need not be. NULL: there is no such work. */
    int64_t (*idle)(void *archiver);
    /* Return trouble that a person should know of though mails are stored, borrowed until the next call; NULL: none. */
    const char *(*trouble)(void *archiver);
    /* Free the state that open() returned. */
    void (*close)(void *archiver);
} ArchiverType;

extern const ArchiverType archiver_maildir;
extern const ArchiverType archiver_mbox;
extern const ArchiverType archiver_command;
extern const ArchiverType archiver_mhonarc;
extern const ArchiverType archiver_hyperkitty;
extern const ArchiverType archiver_mail_archive;

/* Look whether a maildir archiver is to write an index beside its maildirs. *looks becomes true if this process is the
 * one that looks for posts which the index lacks. */
bool archiver_wants_index(Runner *runner, const char *section, bool *looks);

/* Return a setting that must be there, borrowed. NULL, with FAIL_CONFIG: it is missing. */
const char *archiver_setting(Runner *runner, const char *section, const char *key, GError **error);
