/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/timer.h"

#include <string.h>

#include "lists/keys.h"
#include "switchboard/meta.h"

void timer_ask(Work *work, const char *job)
{
    json_t *meta = json_object();
    meta_set_string(meta, KEY_JOB, job);
    g_autofree char *text = g_strdup_printf("Subject: %s\r\n\r\n", job);
    GPtrArray *pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(pieces, g_bytes_new(text, strlen(text)));
    work_entry(work, "task", meta, pieces, NULL);
}
