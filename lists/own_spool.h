/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* this_host_check() (lists/this_host.h) for processes that use no database otherwise, and know nothing of it. */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "switchboard/spool.h"

/* Fail if another machine works this spool, or if this is an outdated copy of it. The database is asked where several
 * hosts may share it; elsewhere nothing is done and true returned. While the database cannot be opened, a spool in
 * which the runner host of this host name wrote since the machine was started is taken for this host's. *asked says
 * whether the database was opened. Errors are those of this_host_check() and of opening the database. */
bool own_spool_check(Spool *spool, const Config *config, bool *asked, GError **error);
