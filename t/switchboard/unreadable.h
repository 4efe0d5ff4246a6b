/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A disk that does not give its bytes: while it is true, each pread() of the program fails with EIO.
 */
#include <stdbool.h>

extern bool unreadable_files;
