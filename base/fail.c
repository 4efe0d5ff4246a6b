/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/fail.h"

#include <errno.h>
#include <stdarg.h>

GQuark fail_quark(void)
{
    return g_quark_from_static_string("listrunner");
}

bool fail(GError **error, FailCode code, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        g_propagate_error(error, g_error_new_valist(FAIL, (int)code, format, arguments));
        va_end(arguments);
    }
    return false;
}

bool fail_errno(GError **error, FailCode code, const char *format, ...)
{
    int saved = errno;
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        GError *made = g_error_new_valist(FAIL, (int)code, format, arguments);
        va_end(arguments);
        char *text = g_strdup_printf("%s: %s", made->message, g_strerror(saved));
        g_free(made->message);
        made->message = text;
        g_propagate_error(error, made);
    }
    errno = saved;
    return false;
}

bool fail_with(GError **error, GError **fault)
{
    g_propagate_error(error, g_steal_pointer(fault));
    return false;
}

bool fail_unless(GError **error, FailCode code, GError **fault)
{
    return g_error_matches(*fault, FAIL, code) || fail_with(error, fault);
}
