/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Bring old mails into archives, for other verbs than `listrunner archive import`. */
#include "cli/site.h"
#include "store/foreign.h"
#include "store/list.h"

/* Add the mails that HyperKitty's database has of a list to its archive, and print how many came. files: its
 * HYPERKITTY_ATTACHMENT_FOLDER, or NULL. The exit code is that of the verb. */
int archive_import_hyperkitty(Site *site, const List *list, Foreign *database, const char *files, GError **error);
