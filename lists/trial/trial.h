/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find out what a change of a list's settings would do, before it is made. The mail of the list's last days runs
 * through rules and handlers twice: as the list is now, and as it would be. What becomes of each post is compared
 * (doc/try.md). Nothing is delivered or sent, and nothing is written into the store, the spool or the archive.
 *
 *   Trial trial = {.store = store, .config = config, .list_id = "test.example.com", .since = now - 7 * TRIAL_DAY,
 *                  .change = change, .each = show, .data = data};
 *   g_auto(TrialTally) tally = {0};
 *   trial_run(&trial, &tally, &error);
 *
 * A trial takes long: run it where nobody waits, in a process of low priority. change() is the place to lower it
 * (idle_become()), since the list has been read from the store by then. A trial leaves no file behind, in whatever way
 * it ends. Times are microseconds since 1970.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/config.h"
#include "mail/auth/names.h"
#include "store/store_type.h"

#define TRIAL_DAYS 30
#define TRIAL_DAY (86400 * CLOCK_SECOND)

/* The end that a post comes to. */
typedef enum TrialFate {
    TRIAL_ACCEPTED,
    TRIAL_HELD,
    TRIAL_REJECTED,
    TRIAL_DISCARDED,
    TRIAL_FORWARDED, /* to the owners, by filter_action */
    TRIAL_PRESERVED, /* set aside for the people who run the site */
    TRIAL_FATES,
} TrialFate;
/* Return the word for a fate, such as "held". */
const char *trial_fate_text(TrialFate fate);

typedef struct TrialOutcome {
    TrialFate fate;
    char *reasons;  /* why it was not accepted, in sentences; "": it was */
    char **removed; /* the parts that the content filter took out, "image/png, cat.png" */
    char **ways;    /* "out", "archive pages", "digest", "nntp", "letter post_acknowledged" */
    char *sum;      /* SHA-256 of the mail that members get, in hex; "": they get none */
} TrialOutcome;

/* Ways in which the two outcomes differ; several may be true. */
typedef enum TrialDifference {
    TRIAL_OTHER_FATE = 1,
    TRIAL_OTHER_REASON = 2, /* it is held or refused in both, for other reasons */
    TRIAL_LOSES_ATTACHMENT = 4,
    TRIAL_LOSES_PART = 8,  /* one that is no attachment: a text without a file's name, such as HTML beside plain text */
    TRIAL_KEEPS_PART = 16, /* the change keeps a part that is taken out now */
    TRIAL_OTHER_TEXT = 32, /* no part differs, and yet members get other bytes, be it in the header */
    TRIAL_OTHER_WAY = 64,  /* copies go to other places (TrialOutcome.ways) */
} TrialDifference;

/* A post for which something would change. All is borrowed. */
typedef struct TrialPost {
    const char *file; /* its file in the archive, without flags; NULL: it is in none */
    const char *hash; /* Message-ID-Hash, by which pages and REST name a post; "": it has no Message-ID */
    int64_t held;     /* number of the held post; 0: it is none */
    const struct Refused *refused; /* what the list refused, and how (lists/posts/refused.h); NULL: it did not */
    int64_t arrival;
    const char *message_id, *subject, *sender; /* valid UTF-8; "" where it has none */
    const TrialOutcome *before, *after;
    unsigned differences; /* of TrialDifference */
} TrialPost;

typedef struct TrialTally {
    uint64_t posts;                                                       /* that were replayed */
    uint64_t fates[TRIAL_FATES][TRIAL_FATES];                             /* by the fate before, then after */
    /* by TrialDifference */
    uint64_t other_reason, loses_attachment, loses_part, keeps_part, other_text, other_way;
    uint64_t archived, held, refused; /* posts by where they came from */
    uint64_t refused_accepted;        /* refused posts that would be accepted, and by today's settings are not */
    uint64_t removed;    /* files passed over: the post was removed from the archive */
    uint64_t unreadable; /* files passed over: they cannot be read, are empty or hold no mail */
    char *problem;       /* about the first of these; NULL: there is none */
    char *gap;           /* a sentence that says what the archive lacks, or why there is none; NULL: it is whole */
} TrialTally;
void trial_tally_clear(TrialTally *tally);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TrialTally, trial_tally_clear)

/* Make the change that is tried, by the store's own functions (list_set(), ban_add(), header_match_add()), in scratch,
 * a store with a copy of the list. It is called once, before the first post. False: trial_run() fails with its error.
 */
typedef bool TrialChange(Store *scratch, const char *list_id, void *data, GError **error);
/* Take a post for which something would change. Posts come in the order of arrival. False ends the trial;
 * trial_run() then returns true. */
typedef bool TrialEach(const TrialPost *post, void *data);
/* Show how many posts of all are done; it is called after each post. False ends the trial as above. */
typedef bool TrialProgress(uint64_t done, uint64_t all, void *data);

/* All is borrowed. */
typedef struct Trial {
    Store *store; /* of the site: only read, by short queries */
    const Config *config;
    const char *list_id;
    int64_t since;      /* posts that arrived earlier are not replayed */
    const Names *names; /* the DNS, for policies of DMARC: it must answer at once, never NAMES_PENDING; NULL: no DNS */
    TrialChange *change;
    TrialEach *each;
    TrialProgress *progress; /* may be NULL */
    void *data;
} Trial;

/* Run a trial, and fill *tally, which the caller clears in any case. Without an archive, tally->gap says so, and only
 * held and refused posts are replayed. FAIL_MISSING: there is no such list. FAIL_LATER: the archive is there and cannot
 * be read, or the store fails. */
bool trial_run(const Trial *trial, TrialTally *tally, GError **error);
