/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Answer questions about names in the DNS (mail/auth/names.h) in programs that may wait. A question is asked when it
 * comes, and waits for its answer; the same question is asked once. When three questions on end get no answer, no
 * server is asked any more, and every other answer is NAMES_TROUBLE. */
#include <glib.h>

#include "base/config.h"
#include "mail/auth/names.h"

typedef struct WaitNames WaitNames;

/* Begin with the servers that [dns] names; nothing is asked yet. FAIL_CONFIG: it names no servers. */
WaitNames *wait_names_new(const Config *config, GError **error);
void wait_names_free(WaitNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WaitNames, wait_names_free)

/* Return the functions that ask, for users of mail/auth/names.h; borrowed. */
const Names *wait_names_of(const WaitNames *names);
