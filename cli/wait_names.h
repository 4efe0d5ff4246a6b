/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Names (mail/names.h) that are asked for on the spot: each question waits for its answer, and is asked once. When no
 * server answers several times on end, none is asked any more, and all else is NAMES_TROUBLE. */
#include <glib.h>

#include "base/config.h"
#include "mail/names.h"

typedef struct WaitNames WaitNames;

/* Ask whom [dns] names. FAIL_CONFIG: it names no servers. */
WaitNames *wait_names_new(const Config *config, GError **error);
void wait_names_free(WaitNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WaitNames, wait_names_free)

/* Borrowed. */
const Names *wait_names_of(const WaitNames *names);
