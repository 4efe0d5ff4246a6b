/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Simulate a disk that cannot be read: while unreadable_files is true, each pread() of the program fails with EIO.
 */
#include <stdbool.h>

extern bool unreadable_files;
