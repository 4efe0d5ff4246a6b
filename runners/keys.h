/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The metadata keys, by the name that runners know them by, also those outside of this tree. */
#include "lists/keys.h"
