/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/base/threadless.h"

#include <dlfcn.h>
#include <glib.h>
#include <string.h>

typedef gboolean Push(GThreadPool *pool, gpointer data, GError **error);

typedef struct Task {
    GThreadPool *pool;
    gpointer data;
} Task;

bool threadless;
static Task kept[64];
static unsigned count;

static Push *real_push(void)
{
    void *symbol = dlsym(RTLD_NEXT, "g_thread_pool_push");
    Push *push;
    memcpy(&push, &symbol, sizeof push);
    return push;
}

gboolean g_thread_pool_push(GThreadPool *pool, gpointer data, GError **error)
{
    if (!threadless)
        return real_push()(pool, data, error);
    g_assert_cmpuint(count, <, G_N_ELEMENTS(kept));
    kept[count++] = (Task){pool, data};
    return FALSE;
}

unsigned threadless_kept(void)
{
    return count;
}

void threadless_release(void)
{
    for (unsigned i = 0; i < count; i++)
        g_assert_true(real_push()(kept[i].pool, kept[i].data, NULL));
    count = 0;
}
