/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Count the work of a program in steps, which are the same in each run, however busy the machine is. Two things are a
 * step. One is a block of code without a branch, in sources that are compiled with -fsanitize-coverage=trace-pc. The
 * other is a byte that a function such as memchr() looks at or copies for them; the make fragment names these functions
 * to the linker (--wrap).
 */
#include <stdint.h>

/* Return the number of steps since the program began. */
uint64_t steps_taken(void);
