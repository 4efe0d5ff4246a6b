/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Check that the address of a new list does not collide with the sub-addresses of another list. */
#include <glib.h>
#include <stdbool.h>

#include "store/store.h"

/* Check that a new list can have this posting address. FAIL_NEVER: mail to the address is for a sub-address of another
 * list (talk-owner@ beside talk@), or the new list would have a sub-address that is a list already; the message says
 * which. A list's sub-addresses are the suffixes of mail/list_address.h, alone and with something behind delimiter
 * ([lmtp] verp_delimiter). A text that is no address returns true, for list_create() refuses it. Call it in the
 * transaction that makes the list. */
bool list_name_is_free(Store *store, const char *posting_address, char delimiter, GError **error);
