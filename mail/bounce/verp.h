/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make and read signed VERP addresses (variable envelope return paths). Each copy of a post has an envelope sender of
 * its own that names the recipient. A bounce comes back to that address and so tells whom it is about, and a tag in the
 * address proves that this site wrote it.
 *
 *   test-bounces+anne=example.org+cxk7u2m4qzpa@lists.example.com
 *   test-bounces+=hw2k5q3tcxk7u2m4qzpa@lists.example.com
 *
 * The first form has the recipient as it is. The second has a hash of the recipient. It is for recipients that would
 * not fit into the 64 bytes of a local part (RFC 5321, 4.5.3.1.1), or have characters that some systems refuse or read
 * as a route. The reader looks among the members for the one with that hash.
 *
 * The tag is base32, so that it survives a system that changes case: 2 characters for the week, 10 for the first 50
 * bits of HMAC-SHA256 over List-Id, week and recipient in lower case. Keys for copies, probes and unsubscribing are
 * derived from one secret, so that a tag of one purpose proves nothing for another. For `time` give the arrival time of
 * the post, not the present: then the sender stays the same while a copy is tried again, and passes greylisting. Times
 * are microseconds since 1970.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define VERP_LOCAL_MAX 64
#define VERP_LIST_MAX 42 /* bytes; with a VerpList.local no longer than this, every recipient has an address */

typedef enum VerpPurpose {
    VERP_COPY,        /* MAIL FROM of a copy; read for 5 weeks */
    VERP_PROBE,       /* MAIL FROM of a probe; read for 5 weeks */
    VERP_UNSUBSCRIBE, /* list-leave addresses and RFC 8058 URLs; read for 3 years */
} VerpPurpose;
#define VERP_PURPOSES 3

/* Ready for use by one thread. */
typedef struct VerpKeys VerpKeys;

/* Make the keys from the site's secrets, an array of GBytes with the newest first (store/secret.h). Tags are made with
 * the newest key and read with any. NULL: the array is empty. */
VerpKeys *verp_keys_new(const GPtrArray *secrets);
void verp_keys_free(VerpKeys *keys);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(VerpKeys, verp_keys_free)

/* The list whose addresses are made; all is borrowed. */
typedef struct VerpList {
    const char *list_id;
    const char *local; /* "test-bounces", or "test-leave" for unsubscribing; list_local() shortens it to fit */
    const char *host;
    char delimiter;    /* [lmtp] verp_delimiter */
} VerpList;

/* Append the VERP address for a recipient. Return false and append nothing when it fits into VERP_LOCAL_MAX bytes in
 * neither form. That happens only if list->local has more than VERP_LIST_MAX bytes. */
bool verp_make(VerpKeys *keys, VerpPurpose purpose, const VerpList *list, const char *recipient, int64_t time,
               GString *address);

/* Return a token for a URL, which proves the same as an address does: a text of [A-Za-z0-9_.-] that holds list and
 * recipient, whatever characters they have; g_free(). */
char *verp_token(VerpKeys *keys, VerpPurpose purpose, const char *list_id, const char *recipient, int64_t time);

typedef enum VerpResult {
    VERP_ABSENT, /* no detail, or none with a tag: an address that somebody else made */
    VERP_VALID,  /* we wrote it, about read->recipient */
    VERP_HASHED, /* find the member with verp_hash() equal to read->hash and ask verp_confirm() */
    VERP_STALE,  /* we wrote it, too long ago */
    VERP_FORGED, /* it has the form, but not our tag for this list, purpose and recipient */
} VerpResult;

typedef struct VerpRead {
    char *recipient; /* g_free(), by verp_read_clear(); with VERP_VALID and VERP_STALE, else NULL */
    uint64_t hash;
    char tag[13]; /* in lower case */
} VerpRead;

void verp_read_clear(VerpRead *read);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(VerpRead, verp_read_clear)

/* Read an address to which mail came. detail is the part of it behind list->local and the delimiter
 * (mail/list_address.h); it may be NULL. Set *read, which verp_read_clear() frees afterwards, whatever is returned. */
VerpResult verp_parse(VerpKeys *keys, VerpPurpose purpose, const VerpList *list, const char *detail, int64_t now,
                      VerpRead *read);
/* Return the List-Id that a token names, unproved; NULL when it has not the form of a token. g_free() */
char *verp_token_list(const char *token);
/* Read a token as verp_parse() reads an address; it never returns VERP_HASHED. VERP_FORGED also when the token names
 * another list than list_id. */
VerpResult verp_token_parse(VerpKeys *keys, VerpPurpose purpose, const char *list_id, const char *token, int64_t now,
                            VerpRead *read);

/* After VERP_HASHED, check the tag for the member that was found. Return VERP_VALID or VERP_STALE, and set
 * read->recipient, when the tag was made for this recipient; else VERP_FORGED. */
VerpResult verp_confirm(VerpKeys *keys, VerpPurpose purpose, const char *list_id, const char *recipient, int64_t now,
                        VerpRead *read);

/* Return the hash of 40 bits that stands for a recipient in the second form. It is the same for any case of the
 * letters, and everybody can compute it. */
uint64_t verp_hash(const char *recipient);

/* Does verp_make() use the second form for this recipient? */
bool verp_is_hashed(const VerpList *list, const char *recipient);
