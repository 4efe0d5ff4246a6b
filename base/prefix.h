/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* What nearly each file includes. The Makefile includes it before each, and compiles it once (base/prefix.h.gch). */
#include <glib.h>
