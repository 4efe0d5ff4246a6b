/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once

/* Give the calling thread, and the threads and processes that it starts later, the lowest priority: they get only the
 * time of processor and disk that nobody else wants. When the system does not allow that, nothing changes. */
void idle_become(void);
