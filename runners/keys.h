/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Give runners, also those outside of this tree, the keys of an entry's metadata under a name of their own folder: this
 * header only includes lists/keys.h, which defines them. */
#include "lists/keys.h"
