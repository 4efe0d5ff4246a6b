/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Counts the work of a program in steps, which are the same in each run, however busy the machine is. A step is a block
 * of code without a branch, in the sources that are compiled with -fsanitize-coverage=trace-pc, and a byte that one
 * of the functions looks at or copies for them that the make fragment names to the linker (--wrap).
 */
#include <stdint.h>

/* The steps since the program began. */
uint64_t steps_taken(void);
