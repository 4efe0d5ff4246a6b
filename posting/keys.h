/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The keys of the sections [dkim.NAME]. */
#include <glib.h>

#include "base/config.h"

/* Reads all key files: of DkimKey, freed with the array. One that cannot be read is told in the log and left out, for
 * mail without a signature is better than none. */
GPtrArray *keys_read(const Config *config);
