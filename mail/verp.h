/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Signed VERP: who a bounce is about is in the address it came to, and a tag
 * proves that we wrote it.
 *
 *   test-bounces+anne=example.org+cxk7u2m4qzpa@lists.example.com
 *   test-bounces+=hw2k5q3tcxk7u2m4qzpa@lists.example.com
 *
 * The first form has the recipient as it is. The second, for recipients that
 * would not fit into the 64 bytes of a local part (RFC 5321, 4.5.3.1.1) or have
 * characters that some systems refuse or read as a route, has a hash of it,
 * and who reads it looks among the members for the one it belongs to.
 *
 * The tag is base32, so that it survives a system that changes case: 2
 * characters for the week, 10 for the first 50 bits of HMAC-SHA256 over
 * List-Id, week and recipient in lower case. Keys for copies, probes and
 * unsubscribing are derived from one secret, so that a tag of one purpose proves
 * nothing for another. Give as time that of the post's arrival, not now: a
 * sender that stays the same while a copy is tried again passes greylisting.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define VERP_LOCAL_MAX 64
#define VERP_LIST_MAX 42 /* bytes of VerpList.local, for which every recipient has an address */

typedef enum VerpPurpose {
    VERP_COPY,        /* MAIL FROM of a copy; read for 5 weeks */
    VERP_PROBE,       /* MAIL FROM of a probe; read for 5 weeks */
    VERP_UNSUBSCRIBE, /* list-leave addresses and RFC 8058 URLs; read for 3 years */
} VerpPurpose;
#define VERP_PURPOSES 3

/* Ready for use by one thread. */
typedef struct VerpKeys VerpKeys;

/* secrets: of GBytes, the newest first (store/secret.h): it makes, all of them read. NULL: there is none. */
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

/* Append the address. False, and nothing is appended: local is so long (over
 * VERP_LIST_MAX) that not even the second form fits. */
bool verp_make(VerpKeys *keys, VerpPurpose purpose, const VerpList *list, const char *recipient, int64_t time,
               GString *address);

/* For URLs, which are read as they were written: any recipient, [A-Za-z0-9_.-]; g_free(). It names its list. */
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

/* detail is what follows the first delimiter (mail/list_address.h), may be NULL. */
VerpResult verp_parse(VerpKeys *keys, VerpPurpose purpose, const VerpList *list, const char *detail, int64_t now,
                      VerpRead *read);
/* The List-Id that a token names, whether or not we made it; NULL: none. g_free() */
char *verp_token_list(const char *token);
VerpResult verp_token_parse(VerpKeys *keys, VerpPurpose purpose, const char *list_id, const char *token, int64_t now,
                            VerpRead *read);

/* After VERP_HASHED: VERP_VALID, VERP_STALE or VERP_FORGED; read->recipient is set as above. */
VerpResult verp_confirm(VerpKeys *keys, VerpPurpose purpose, const char *list_id, const char *recipient, int64_t now,
                        VerpRead *read);

/* 40 bits, the same for any case of the recipient; no secret. */
uint64_t verp_hash(const char *recipient);

/* Does verp_make() use the second form for it? */
bool verp_is_hashed(const VerpList *list, const char *recipient);
