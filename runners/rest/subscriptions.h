/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Answer calls that subscribe and unsubscribe, for the several resources that offer it. */
#include "runners/rest/rest.h"
#include "store/people/member.h"

/* Answer POST members: make somebody a member, an owner, a moderator or a nonmember, or let them ask to become a
 * member. */
void subscribe(Call *call);
/* Answer DELETE of a member in whatever role: a member leaves, or asks to leave; owners, moderators and nonmembers are
 * removed. */
void unsubscribe(Call *call, const Member *member);
/* Return the name by which clients know a request; g_free(). It is no secret, and no token that confirms by mail. */
char *request_token(int64_t number);
/* Read a name that request_token() made. False: it is none. */
bool request_number(const char *token, int64_t *number);
