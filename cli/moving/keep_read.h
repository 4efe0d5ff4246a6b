/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep the right to read every file when root becomes another user. A command that root starts becomes [site] user to
 * write the store (cli/site.h), and that user may not read the files of another list system.
 *
 *   keep_read_begin(), site_become_user(site, &error), keep_read_end()
 *
 * keep_read_begin() has the kernel let the process keep the rights of root. keep_read_end() drops all of them but the
 * right to read every file: CAP_DAC_READ_SEARCH, or CAP_DAC_OVERRIDE where root itself lacks that, as in some
 * containers. For any other user both do nothing. Neither reports an error: where a right is lost, opening a file
 * fails later.
 */
void keep_read_begin(void);
void keep_read_end(void);
