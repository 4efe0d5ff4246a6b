/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/switchboard/crashsite.h"

#include <glib.h>
#include <stdint.h>

#define DEEPEST 100

typedef struct Frame {
    const void *function, *from;
} Frame;

static _Thread_local Frame frames[DEEPEST];
static _Thread_local unsigned depth;

/* The compiler puts calls of these two into every function that it instruments. */
void __cyg_profile_func_enter(void *function, void *from);
void __cyg_profile_func_exit(void *function, void *from);

void __cyg_profile_func_enter(void *function, void *from)
{
    if (depth == DEEPEST)
        g_error("calls go too deep");
    frames[depth++] = (Frame){function, from};
}

void __cyg_profile_func_exit(void *function, void *from)
{
    (void)from;
    if (depth == 0 || frames[--depth].function != function)
        g_error("a call ends that did not begin");
}

const char *crashsite_here(void)
{
    extern const char __executable_start[];
    g_autoptr(GString) text = g_string_new(NULL);
    g_assert_cmpuint(depth, >, 0);
    g_string_printf(text, "0x%zx", (size_t)((uintptr_t)frames[0].function - (uintptr_t)__executable_start));
    for (unsigned i = 1; i < depth; i++) /* a call returns to what follows it */
        g_string_append_printf(text, " 0x%zx", (size_t)((uintptr_t)frames[i].from - (uintptr_t)__executable_start - 1));
    return g_intern_string(text->str);
}
