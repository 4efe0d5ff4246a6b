/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Root becomes [site] user to write the store (cli/site.h), who may not read the files of another list system. Before
 * that, keep_read_begin() asks the kernel to leave the rights; afterwards keep_read_end() gives up all but the right to
 * read every file (CAP_DAC_READ_SEARCH; where the system does not grant that, as in some containers, CAP_DAC_OVERRIDE).
 * For any other user both do nothing.
 */
void keep_read_begin(void);
void keep_read_end(void);
