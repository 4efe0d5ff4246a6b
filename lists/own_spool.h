/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* this_host_check() (lists/this_host.h) for processes that use no database otherwise, and know nothing of it. */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "switchboard/spool.h"

/* Refuse to work a spool that another machine works, or another copy of it. Looks into the database where several hosts
 * may share it, and does nothing elsewhere. While it cannot be asked, a spool that the runner host worked since the
 * machine was started is taken for this host's. *asked: the database was. FAIL_LATER, FAIL_CONFIG. */
bool own_spool_check(Spool *spool, const Config *config, bool *asked, GError **error);
