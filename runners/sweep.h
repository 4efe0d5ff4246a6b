/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Housekeeping of a runner that has nothing else to do: it holds no entry of the slice, and no clean-up is owed.
 * What cannot be done now is logged and waits for the next time; where a failure leaves it unknown what is
 * on the disk, and something hangs on it, the process ends (INTERNALS.md, "Failure").
 */
#include <stdint.h>

#include "base/clock.h"
#include "switchboard/recover.h"

#define SWEEP_INTERVAL (3600 * CLOCK_SECOND)

/* recover_sweep() and a thorough recover_slice(). */
void sweep_slice(Queue *queue, Slice slice, int64_t age_us);

/* recover_intake(). */
void sweep_intake(Queue *queue, Slice slice);
