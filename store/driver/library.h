/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Load the client library of a database when a process opens its first database there. For this folder only.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct LibraryFunction {
    const char *name;
    size_t offset; /* of its pointer in the struct that is filled */
} LibraryFunction;

typedef struct Library {
    const char *file;    /* "libpq.so.5" */
    const char *of;      /* "PostgreSQL" */
    const char *package; /* of Debian */
    const LibraryFunction *functions;
    size_t count;
} Library;

/* Load the library, which stays loaded, and fill the struct `functions` with pointers to its functions. FAIL_CONFIG: it
 * is not installed, or lacks one of the functions since it is too old. */
bool library_load(const Library *library, void *functions, GError **error);
