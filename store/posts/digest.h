/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep the posts that lists collect for their digests (runners/digest/README.md). Each post waits here, byte for byte,
 * until an issue takes it. An issue is made by one entry of the queue `digest` of one host, whose hash (40 hex digits)
 * is the issue's name. A hop is the step in which a runner makes other entries, here the digests, of an entry. Once the
 * entry's hop is committed the issue is settled, and its posts are removed from here.
 *
 * FAIL_MISSING from a function that takes a list_id or a DigestIssue: there is no such list.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

typedef struct Digest {
    char *list_id;
    int64_t volume, next_number; /* of the next issue */
    int64_t sent_at;             /* when the last issue was made, 0: never */
    int64_t waiting, octets;     /* posts for the next issue */
    int64_t first_at;            /* when the first of them came; after digest_issue_withdraw(), when that issue was
                                  * made; 0: none waits */
} Digest;
void digest_clear(Digest *digest);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Digest, digest_clear)

/* Fill *digest, which the caller clears. A list that never collected is at volume 1, number 1. */
bool digest_read(Store *store, const char *list_id, Digest *digest, GError **error);

/* Call each for the lists with posts that wait. It must not write to the store. Where it returns false, digest_each()
 * calls it no more and returns true. */
typedef bool DigestEach(const Digest *digest, void *data);
bool digest_each(Store *store, DigestEach *each, void *data, GError **error);

/* Say which volume and number the next issue has. */
bool digest_set_next(Store *store, const char *list_id, int64_t volume, int64_t number, GError **error);

/* Set *wanted: may the list have a member who wants digests? It is true where the preferences of any member, its
 * address or its user ask for digests, even if a nearer preference says otherwise. digest_wanted_soon() announces the
 * question (store.h). */
void digest_wanted_soon(Store *store, const char *list_id);
bool digest_wanted(Store *store, const char *list_id, bool *wanted, GError **error);

/* Add a post to those that wait for the list's next issue; time is when it came. */
bool digest_collect(Store *store, const char *list_id, GBytes *message, int64_t time, GError **error);

typedef struct DigestIssue {
    char *entry, *host, *list_id;
    int64_t volume, number, made_at;
} DigestIssue;
void digest_issue_free(DigestIssue *issue);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DigestIssue, digest_issue_free)

/* Make a new issue with all fields of *issue. It gets all posts of the list that wait, and the addresses that are owed
 * a last digest. The list's next issue then has the same volume and the next number. */
bool digest_issue_open(Store *store, const DigestIssue *issue, GError **error);
/* Set *issue to the entry's issue (digest_issue_free()), or to NULL where there is none, which is no error. */
bool digest_issue_find(Store *store, const char *entry, DigestIssue **issue, GError **error);
/* Return the issues of a host that are not settled: of DigestIssue, freed with the array. */
GPtrArray *digest_issue_all(Store *store, const char *host, GError **error);
/* Remove the issue and its posts for good. Call it once the hop of its entry is committed, so that the digests are on
 * their way, or where nobody wants a digest. */
bool digest_issue_settle(Store *store, const char *entry, GError **error);
/* Remove the issue, and let its posts wait again before all later ones, where its entry cannot make it any more. Its
 * number is not used again. */
bool digest_issue_withdraw(Store *store, const char *entry, GError **error);

/* Walk the posts of an issue in the order in which they came. Keep issue until the cursor is freed, and free the cursor
 * before the store. An open cursor may hold a snapshot of the database. */
typedef struct DigestCursor DigestCursor;
DigestCursor *digest_cursor_open(Store *store, const DigestIssue *issue, GError **error);
/* Return the next post, g_bytes_unref(); NULL at the end, or with *error set. */
GBytes *digest_cursor_next(DigestCursor *cursor, GError **error);
void digest_cursor_free(DigestCursor *cursor);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DigestCursor, digest_cursor_free)

/* The people who get the same digest: members of one format and language. */
typedef struct DigestGroup {
    bool plain;     /* RFC 1153, else MIME */
    char *language; /* "": the list's */
    int64_t members; /* how many members want digests of this format and language, and have their delivery enabled */
    char **last;     /* addresses that left the digest mode and get this digest as their last one; NULL: none */
} DigestGroup;
/* Return the groups of an issue in which anybody is: of DigestGroup, freed with the array. */
GPtrArray *digest_groups(Store *store, const DigestIssue *issue, GError **error);
