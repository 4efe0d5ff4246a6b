/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Note over which kind of address the mails come in by LMTP that a host sends itself (store/hosts/canary.h), as the
 * runner in sees them. They are told apart where the MTA uses both kinds, unless [watch] both_families = no.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "store/store_type.h"

/* Note a mail for the list that peer (KEY_PEER) handed in; do nothing when it is none of these, or came over neither
 * kind. The error is that of the store. */
bool canary_door_note(Store *store, const Config *config, const char *list_id, const char *peer, int64_t now,
                      GError **error);
