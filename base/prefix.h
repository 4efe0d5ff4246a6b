/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The headers that nearly every file needs. The Makefile compiles them once (base/prefix.h.gch), and includes this file
 * before each source file; a few with compiler flags of their own may get config.h alone. gcc takes a compiled header
 * only where it is the first, so no other file is included that way. A source file does not include config.h, but still
 * includes all else that it uses. */
#include <config.h> /* what configure found; base/config.h is another file */

#include <glib.h>

/* In newer versions of GLib this is a macro as well, which measures the whole text before it compares its beginning: a
 * loop along a text then takes the square of its length. The function compares no more than the prefix. */
#undef g_str_has_prefix
