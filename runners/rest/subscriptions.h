/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Subscribing and unsubscribing, which several resources offer. */
#include "runners/rest/rest.h"
#include "store/member.h"

/* POST members: somebody becomes a member, an owner, a moderator or a nonmember, or asks to become a member. */
void subscribe(Call *call);
/* DELETE of a member in whatever role: a member leaves, or asks to; others are removed. */
void unsubscribe(Call *call, const Member *member);
/* The name by which clients know a request; g_free(). And back: false when it is none. It is no secret and confirms
 * nothing by mail. */
char *request_token(int64_t number);
bool request_number(const char *token, int64_t *number);
