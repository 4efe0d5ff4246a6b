/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep the bans. A banned person may neither join nor post. A ban names an address, or a pattern that begins with ^
 * (base/pattern.h). A ban is for one list, or with list_id NULL for all lists of the site.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mailbox.h"
#include "store/store_type.h"

typedef struct Ban {
    char *list_id; /* NULL: all lists */
    char *email;   /* address, or "^pattern" */
    int64_t made_at; /* us since 1970 */
} Ban;

/* Add a ban. FAIL_NEVER: email is neither an address nor a pattern that can be used, or the list bans as many patterns
 * as it may. FAIL_EXISTS: there is this ban already. FAIL_MISSING: no such list. */
bool ban_add(Store *store, const char *list_id, const char *email, GError **error);
/* Remove the ban whose text is email, not a pattern that would match email. FAIL_MISSING: there is no such ban. */
bool ban_remove(Store *store, const char *list_id, const char *email, GError **error);

/* Set *found: is the text itself a ban of the list, or with list_id NULL one of the site? An address that is matched
 * by a pattern only is none. FAIL_MISSING: no such list. */
bool ban_find(Store *store, const char *list_id, const char *email, bool *found, GError **error);

/* Set *by to the text of the ban that the address meets (g_free()): first of the list's bans, then of the site's, or
 * with list_id NULL of the site's alone. *by is NULL where no ban meets it. memory is that of base/pattern.h, or NULL.
 * ban_check_soon() announces the question (store.h). */
void ban_check_soon(Store *store, const char *list_id, const Mailbox *address);
bool ban_check(Store *store, const char *list_id, const Mailbox *address, GHashTable *memory, char **by,
               GError **error);

/* Call each for the bans of the list, or with list_id NULL for those of the site, in the order of their text. The Ban
 * lives until each returns. each must not write to the store; where it returns false, ban_each() stops and returns
 * true. */
typedef bool BanEach(const Ban *ban, void *data);
bool ban_each(Store *store, const char *list_id, BanEach *each, void *data, GError **error);
/* Count the bans of the list, or with list_id NULL those of the site. */
bool ban_count(Store *store, const char *list_id, int64_t *count, GError **error);

/* All that decides whether an address may be asked to join a list: a ban, a membership, a user, a verification. */
typedef struct AddressStanding {
    char *banned;        /* the ban that the address meets, as it was written; NULL: none */
    bool is_member;      /* of the list */
    bool has_user;       /* it belongs to a user */
    int64_t verified_at; /* when it was shown to be the person's own; 0: never */
} AddressStanding;

void standing_clear(AddressStanding *standing);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AddressStanding, standing_clear)

/* Fill *standing, which the caller clears also after false. Of an address that is not known all fields but banned are
 * 0. FAIL_MISSING: there is no such list. */
bool standing_read(Store *store, const char *list_id, const Mailbox *address, AddressStanding *standing,
                   GError **error);
