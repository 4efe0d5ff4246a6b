/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/libpq.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "base/fail.h"

#define LIBRARY "libpq.so.5"

Libpq libpq;

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define ROW(name) {#name, offsetof(Libpq, name)},
    LIBPQ_FUNCTIONS(ROW)
#undef ROW
};

bool libpq_load(GError **error)
{
    static bool loaded;
    if (loaded)
        return true;
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return fail(error, FAIL_CONFIG, "the library of PostgreSQL cannot be loaded (%s): install the package libpq5",
                    dlerror());
    for (size_t i = 0; i < G_N_ELEMENTS(functions); i++) {
        void *function = dlsym(library, functions[i].name);
        if (!function)
            return fail(error, FAIL_CONFIG, "PostgreSQL's library " LIBRARY " is too old: it has no %s()",
                        functions[i].name);
        memcpy((char *)&libpq + functions[i].offset, &function, sizeof function);
    }
    return loaded = true;
}
