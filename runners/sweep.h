/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Clean up a runner's slice of its queue while the runner has nothing else to do. Call sweep_slice() when the runner
 * holds no entry of the slice, and no hop is to be settled. Work that cannot be done now is logged and waits for the
 * next time. The process ends where a failure leaves it unknown what is on the disk, and entries depend on that
 * (switchboard/INTERNALS.md, "Failure").
 */
#include <stdint.h>

#include "base/clock.h"
#include "switchboard/recover.h"

#define SWEEP_INTERVAL (3600 * CLOCK_SECOND)

/* Call recover_sweep(), with age_us, and a thorough recover_slice(). */
void sweep_slice(Queue *queue, Slice slice, int64_t age_us);

/* Call recover_intake(). */
void sweep_intake(Queue *queue, Slice slice);
