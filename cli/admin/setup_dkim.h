/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Make a key of DKIM for a domain, for "listrunner setup --dkim": its file, its section in the configuration, and the
 * line of the zone that has its public half. */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "mail/auth/dkim.h"

/* Return the section [dkim.NAME] of the configuration that signs mail of the domain, borrowed; NULL: there is none. */
const char *setup_dkim_section(const Config *config, const char *domain);

/* Make a key for the domain, unless a section signs for it already. The key is put into the folder dkim beside the
 * configuration file at path, for [site] user alone, and a section of its own behind all that the file has. *line is
 * the line of the zone; g_free(). *changed tells whether the configuration was. FAIL_LATER: a file cannot be written.
 * FAIL_CONFIG: the key that is there cannot be read. */
bool setup_dkim_make(const char *path, const char *domain, char **line, bool *changed, GError **error);

/* Return the line of a zone for a key, whose text is in strings of at most 255 bytes (RFC 1035); g_free(). */
char *setup_dkim_line(const DkimKey *key);
