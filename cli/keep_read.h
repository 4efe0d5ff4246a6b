/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A command that root starts becomes [site] user to write the store (cli/site.h); that user may not read the files of
 * another list system. Call keep_read_begin() before: the kernel then lets the process keep the rights of root. Call
 * keep_read_end() after: it drops all of these but the right to read every file (CAP_DAC_READ_SEARCH; where root itself
 * lacks that, as in some containers, CAP_DAC_OVERRIDE). For any other user both do nothing. Neither reports an error:
 * where a right is lost, the file that cannot be read is named later.
 */
void keep_read_begin(void);
void keep_read_end(void);
