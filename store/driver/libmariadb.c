/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/driver/libmariadb.h"

#include <stddef.h>

#include "store/driver/library.h"

Libmariadb libmariadb;

static const LibraryFunction functions[] = {
#define ROW(name) {#name, offsetof(Libmariadb, name)},
    LIBMARIADB_FUNCTIONS(ROW)
#undef ROW
};

bool libmariadb_load(GError **error)
{
    static bool loaded;
    static const Library library = {"libmariadb.so.3", "MariaDB and MySQL", "libmariadb3", functions,
                                    G_N_ELEMENTS(functions)};
    return loaded || (loaded = library_load(&library, &libmariadb, error));
}
