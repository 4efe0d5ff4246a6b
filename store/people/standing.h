/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Read all that decides whether an address may be asked to join a list: a ban, a membership, a user, a verification. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

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
bool standing_read(Store *store, const char *list_id, const char *address, AddressStanding *standing, GError **error);
