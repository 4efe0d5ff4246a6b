/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/driver/libpq.h"

#include <stddef.h>

#include "store/driver/library.h"

Libpq libpq;

static const LibraryFunction functions[] = {
#define ROW(name) {#name, offsetof(Libpq, name)},
    LIBPQ_FUNCTIONS(ROW)
#undef ROW
};

bool libpq_load(GError **error)
{
    static bool loaded;
    static const Library library = {"libpq.so.5", "PostgreSQL", "libpq5", functions, G_N_ELEMENTS(functions)};
    return loaded || (loaded = library_load(&library, &libpq, error));
}
