/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare what the headers of the store have in common, so that each can be included alone. The contract is in store.h.
 */
typedef struct Store Store;

#define STORE_ID_SIZE 33

/* Work that may take long calls this again and again, outside its transactions. */
typedef void StoreProgress(void *data);
