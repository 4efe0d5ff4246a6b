/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
#include <glib.h>
#include <glib/gstdio.h>

#include "base/config.h"

/* Return the configuration of a file with this text; config_free(). */
static inline Config *config_from_text(const char *text)
{
    GError *error = NULL;
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("config-XXXXXX", &path, &error);
    g_assert_cmpint(fd, >=, 0);
    g_close(fd, NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    Config *config = config_load(path, true, &error);
    g_assert_no_error(error);
    g_unlink(path);
    return config;
}
