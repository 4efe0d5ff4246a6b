/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Tell the sender of a mail to the people who run the site (TO_SITE) that out could not deliver it, as an MTA does. */
#include "runners/posts/list_runner.h"

/* Add a report of RFC 3464 to the outcome, to the envelope's sender; without one, or where the entry has no failures,
 * only the log tells. */
void returned_tell(Entry *entry, const WorkSite *site, Outcome *outcome);
