/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The configuration that "listrunner setup" wants: its text, and what it means for a file that is there. */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"

/* A setting that is to be in force. */
typedef struct SetupSetting {
    char *section, *key, *value;
} SetupSetting;

/* Settings in the order in which they were added; g_ptr_array_unref(). */
GPtrArray *setup_settings_new(void);
/* Add one, or give it another value. */
void setup_settings_put(GPtrArray *settings, const char *section, const char *key, const char *value);
/* The same from text, "runner.mta.listen=127.0.0.1:8126". FAIL_NEVER: it has not this form. */
bool setup_settings_read(GPtrArray *settings, const char *text, GError **error);

typedef struct SetupConfig {
    char *text;     /* to be written; NULL: the file that is there has all settings in force and stays */
    Config *config; /* as it will be */
} SetupConfig;

void setup_config_clear(SetupConfig *plan);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SetupConfig, setup_config_clear)

/* Find out what is to be done with the file at path. A file without settings, such as the one that was installed, is
 * to be replaced; any other stays. Checks, with what this host has, the configuration that will be in force.
 * FAIL_CONFIG: faults, a line each. FAIL_EXISTS: the file that is there has other values; they were printed beside
 * the wanted ones. */
bool setup_config_plan(const char *path, const GPtrArray *settings, SetupConfig *plan, GError **error);

/* The host name that the file at path has in force and keeps; NULL: it has no settings, or cannot be read, which
 * setup_config_plan() tells. g_free() */
char *setup_config_hostname(const char *path);

/* Write the file, whole or not at all, and make its directory if that is missing. */
bool setup_config_write(const char *path, const char *text, GError **error);
