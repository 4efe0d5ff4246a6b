/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read mails from one file in the format MMDF, as Python's mailbox module writes it. Each mail stands between two lines
 * of four bytes 01, and may begin with a line that tells its sender.
 *
 *   \1\1\1\1
 *   anne@example.org
 *   Subject: frost
 *
 *   >From now on it is cold.
 *   \1\1\1\1
 */
#include <glib.h>
#include <stdbool.h>

/* Take one mail, without the line of its sender and without the '>' before "From ". Return false, with error, to stop.
 */
typedef bool MmdfEach(GBytes *mail, void *data, GError **error);
/* Call each() for every mail of the file, in order. If each() returns false, so does mmdf_each(), with its error. */
bool mmdf_each(GBytes *file, MmdfEach *each, void *data, GError **error);
