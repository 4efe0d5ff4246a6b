/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/driver/library.h"

#include <dlfcn.h>
#include <string.h>

#include "base/fail.h"

bool library_load(const Library *library, void *functions, GError **error)
{
    void *loaded = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
    if (!loaded)
        return fail(error, FAIL_CONFIG, "the library of %s cannot be loaded (%s): install the package %s", library->of,
                    dlerror(), library->package);
    for (size_t i = 0; i < library->count; i++) {
        void *function = dlsym(loaded, library->functions[i].name);
        if (!function) {
            dlclose(loaded);
            return fail(error, FAIL_CONFIG, "%s's library %s is too old: it has no %s()", library->of, library->file,
                        library->functions[i].name);
        }
        memcpy((char *)functions + library->functions[i].offset, &function, sizeof function);
    }
    return true;
}
