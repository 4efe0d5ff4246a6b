/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once

/* Give this process the lowest priority: it gets only the time of processor and disk that no other process wants. When
 * the system does not allow that, nothing changes. */
void idle_become(void);
