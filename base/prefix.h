/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The headers that nearly every file needs. The Makefile compiles them once (base/prefix.h.gch), and includes this file
 * before each source file. A source file still includes all that it uses. */
#include <glib.h>
