/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors
 *
 * What an archiver wants of its runner, in place of the runner: each setting is archiver_place, and no index is kept.
 */
#pragma once

extern char *archiver_place; /* the test's, which frees it */
