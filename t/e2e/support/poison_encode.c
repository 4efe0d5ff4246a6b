/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* For LD_PRELOAD: a program that writes a text with X-Poison in it in base64 dies of it, as of a fault in the
 * library. */
#include <dlfcn.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

typedef char *Encode(const guchar *bytes, gsize length);

char *g_base64_encode(const guchar *bytes, gsize length)
{
    Encode *real = (Encode *)dlsym(RTLD_NEXT, "g_base64_encode");
    if (memmem(bytes, length, "X-Poison", strlen("X-Poison")))
        abort();
    return real(bytes, length);
}
