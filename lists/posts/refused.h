/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep mail that lists refused, for trials (lists/trial/trial.h), where the site wants it: [refused] keep, size and
 * directory. Only trials read it, and nothing depends on it. A mail that cannot be kept, since the disk or the place
 * for it is full, is left out, and the log says so.
 *
 * Each mail is a file DIRECTORY/LIST/TIME.TRACE (TIME in microseconds, 16 digits; LIST as archive_file_name() has it),
 * which only the user of the site may read. A line of JSON comes first, then the mail as it came, without the password
 * of a moderator:
 *
 *   {"fate":"discarded","reasons":"The message has spam in it.","meta":{"sender":"anne@example.org","to":"posting"}}
 *   From: Anne <anne@example.org>
 *
 * The file DIRECTORY/total says how many bytes all have; a file counts as whole blocks of 4 KiB. Files are not synced.
 * Several processes may keep mail at one time. Times are microseconds since 1970.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"

/* Ways in which a list refused a mail; words of trial_fate_text(). */
#define REFUSED_HELD "held" /* and a person refused it then */
#define REFUSED_REJECTED "rejected"
#define REFUSED_DISCARDED "discarded"

typedef struct Refused {
    char *list_id; /* as archive_file_name() writes it, where it was read from a file */
    char *name;    /* TIME.TRACE; set by who reads */
    int64_t arrival;
    char *trace; /* tells the mail from others of that time; a mail that is tried once more keeps it */
    char *fate, *reasons;
    json_t *meta; /* as LMTP gave it; NULL: nothing is known */
    GBytes *octets;
} Refused;

void refused_clear(Refused *mail);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Refused, refused_clear)

/* Does the site keep refused mail? */
bool refused_wanted(const Config *config);

/* Keep a mail, which stays the caller's, if the site wants that and there is room. A mail of the same list, arrival and
 * trace that is kept already stays as it is. A failure is only logged. */
void refused_keep(const Config *config, const Refused *mail);

/* Return the names of the list's mails that arrived at `since` or later and are not too old to be kept; of char*, freed
 * with the array. They are in the order of arrival. The array is empty where the site keeps none. NULL: the directory
 * cannot be read. */
GPtrArray *refused_names(const Config *config, const char *list_id, int64_t since, GError **error);

/* Read the mail of this name into *mail; refused_clear(). After false *mail is as it was. FAIL_MISSING: it has gone;
 * FAIL_NEVER: it is damaged; FAIL_LATER: it cannot be read. */
bool refused_read(const Config *config, const char *list_id, const char *name, Refused *mail, GError **error);

/* Called by refused_each() with a mail, which is borrowed for the call. Set *remove, which is false at first, to remove
 * the mail's file. */
typedef void RefusedEach(const Refused *mail, bool *remove, void *data);
/* Call each() for every mail of all lists. Damaged mails are passed over. False: a file cannot be read or removed. */
bool refused_each(const Config *config, RefusedEach *each, void *data, GError **error);

/* The timer's part: remove mail that is older than [refused] keep. Then remove the oldest mail of all lists until a
 * quarter of [refused] size is free. Where the site keeps none, all mail goes. *removed is raised by the number of
 * mails removed. The bytes are counted anew into DIRECTORY/total. Files whose names are none of ours stay. */
bool refused_tidy(const Config *config, int64_t now, int64_t *removed, GError **error);
