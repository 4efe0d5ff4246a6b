/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Count the entries that wait behind the LMTP door, and say whether replies are to be held back (the in-flow brake).
 *
 * The queues of a post's way are counted: in, pipeline and out. Requests and bounces go other ways, and neither fill
 * these queues nor are held. A look counts the names of entries that are ready (none that is due later), and stops at
 * twice the limit. A thread makes it, because one read of a large directory can take long. Looks are made at most once
 * a second and for no more than a twentieth of the time; none while no mail comes in and intake runs free.
 *
 * A look that fails is logged and changes nothing. All functions are called by the loop's thread.
 */
#include <event2/event.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Brake Brake;

/* Make a brake. directory is that of the spool, limit a number of entries (in_flow.h), delay the microseconds that each
 * reply is held, for the log. delay 0: nothing is ever held, and no look is made. */
Brake *brake_new(struct event_base *base, const char *directory, uint64_t limit, int64_t delay);
/* Wait for the look that is under way. */
void brake_free(Brake *brake);

/* Note that a message is about to be answered that went to this queue. Return true when its reply is to be held. */
bool brake_holds(Brake *brake, const char *queue);
