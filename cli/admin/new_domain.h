/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Tell whoever made a domain of lists what is still to be done for it. */
#include "cli/site.h"

/* Print that the domain is new, which other domain of the site it may be a slip of (near; NULL: none), and what the
 * mail server of this machine still lacks for it. Nothing is changed, and nothing fails. */
void new_domain_tell(Site *site, const char *domain, const char *near);
