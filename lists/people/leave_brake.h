/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Stop many members from being made to leave by a program: a scanner that follows each link of a mail, a complaint loop
 * gone wrong, mail in the names of many. The brake holds for a mail domain when within LEAVE_BRAKE_WINDOW more than a
 * twentieth of a list's members there, and at least LEAVE_BRAKE_LEAST, left. Further requests of that domain then wait
 * for a moderator. That ends when none came for as long as LEAVE_BRAKE_WINDOW. The owners are told, once in
 * LEAVE_BRAKE_TOLD (store/people/leave_brake.h). A member who answered a letter, or leaves by REST, by the shell or
 * with a moderator's consent, is not counted and does not wait.
 */
#include "lists/people/subscription.h"
#include "lists/work.h"
#include "store/lists/list.h"

#define LEAVE_BRAKE_LEAST 10
#define LEAVE_BRAKE_SHARE 20 /* one of so many */
#define LEAVE_BRAKE_WINDOW (600 * CLOCK_SECOND)

/* May a program have made this request to leave? Only then it is counted, and may have to wait. */
bool leave_brake_concerns(const Pending *request);

/* Set *waits to whether the request has to wait for a moderator. Call it just before the request would be carried out:
 * one that has to wait prolongs the brake. */
bool leave_brake_ask(Work *work, const List *list, const Pending *request, bool *waits, GError **error);

/* Tell the owners that requests from the mail domain of this request wait, unless they were told lately. */
bool leave_brake_tell_owners(Work *work, const List *list, const Pending *request, GError **error);
