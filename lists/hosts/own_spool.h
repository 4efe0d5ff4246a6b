/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Make the check of this_host_check() (lists/hosts/this_host.h) in processes that use no database otherwise. */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "switchboard/spool.h"

/* Fail if another machine works this spool, or if this is an outdated copy of it. Call it when the process starts,
 * before it works on entries. Where one host alone uses the database, nothing is done and true returned. Elsewhere the
 * database is asked. While it cannot be opened, the file of the runner host decides. The spool is taken for this host's
 * if that file has this host name and is from after the machine's start. *asked says whether the database was opened.
 * Errors are those of this_host_check() and of opening the database. */
bool own_spool_check(Spool *spool, const Config *config, bool *asked, GError **error);
