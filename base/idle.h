/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once

/* Let this process have only the time of the processor, and of the disk, that no other process wants. Where the system
 * does not allow it, all goes on as before. */
void idle_become(void);
