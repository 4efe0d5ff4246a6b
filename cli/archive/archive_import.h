/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Add old mails of HyperKitty to an archive, for other verbs than `listrunner archive import`. */
#include "cli/site.h"
#include "store/lists/list.h"
#include "store/moving/foreign.h"

/* Add the mails of a list in HyperKitty's database to the list's archive here, and print how many came. files is
 * HyperKitty's HYPERKITTY_ATTACHMENT_FOLDER; NULL: none. The process becomes [site] user. Return the exit code for the
 * verb: TOOL_OK, TOOL_NOT_SO if mails were left out, or another one, with *error set. */
int archive_import_hyperkitty(Site *site, const List *list, Foreign *database, const char *files, GError **error);
