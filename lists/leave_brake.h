/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A brake for leaving that programs may do for people: a scanner that follows each link of a mail, a complaint loop
 * gone wrong, mail in the names of many. When more than a twentieth of a list's members at one mail domain, and at
 * least LEAVE_BRAKE_LEAST, left so within LEAVE_BRAKE_WINDOW, further ones of that domain wait for a moderator, until
 * for that long none came any more. The owners are told, once in LEAVE_BRAKE_TOLD (store/leave_brake.h). Who answered a
 * letter of ours, or goes by REST, the shell or with a moderator's consent, is not counted and not kept waiting.
 */
#include "lists/subscription.h"
#include "lists/work.h"
#include "store/list.h"

#define LEAVE_BRAKE_LEAST 10
#define LEAVE_BRAKE_SHARE 20 /* one of so many */
#define LEAVE_BRAKE_WINDOW (600 * CLOCK_SECOND)

/* May a program have asked for this? Then the departure counts. */
bool leave_brake_concerns(const Pending *request);

/* Asks whether the request, which would be done now, has to wait: *waits. It is counted then. */
bool leave_brake_ask(Work *work, const List *list, const Pending *request, bool *waits, GError **error);

/* Tells the owners that such requests wait, unless they were told lately. */
bool leave_brake_tell_owners(Work *work, const List *list, const Pending *request, GError **error);
