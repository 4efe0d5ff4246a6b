/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Make the configuration file for "listrunner setup", and compare it with a file that is there. */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"

/* A setting that is to be in force. */
typedef struct SetupSetting {
    char *section, *key, *value;
} SetupSetting;

/* Return an empty array for settings (of SetupSetting), in the order in which they are added; g_ptr_array_unref(). */
GPtrArray *setup_settings_new(void);
/* Add a setting, or give it another value if it was added before. */
void setup_settings_put(GPtrArray *settings, const char *section, const char *key, const char *value);
/* Add a setting from text, "runner.mta.listen=127.0.0.1:8126". FAIL_NEVER: the text has not this form. */
bool setup_settings_read(GPtrArray *settings, const char *text, GError **error);

typedef struct SetupConfig {
    char *text;     /* for setup_config_write(); NULL: the file that is there has all settings in force and stays */
    Config *config; /* the configuration that will be in force */
} SetupConfig;

void setup_config_clear(SetupConfig *plan);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SetupConfig, setup_config_clear)

/* Find out whether the file at path is to be written, and fill *plan, which is zero before; nothing is written yet. A
 * file without settings, such as the one that was installed, is to be replaced; any other stays. The configuration that
 * will be in force is checked against this host. FAIL_CONFIG: it has faults, a line each. FAIL_EXISTS: the file that is
 * there has other values; they were printed beside the wanted ones. Clear *plan in any case. */
bool setup_config_plan(const char *path, const GPtrArray *settings, SetupConfig *plan, GError **error);

/* Return the host name of the file at path, which stays since it has settings; g_free(). NULL: it has none, or cannot
 * be read, which setup_config_plan() reports. */
char *setup_config_hostname(const char *path);

/* Put the text behind what the file at path has. It keeps its owner and mode. FAIL_CONFIG: the whole would have faults,
 * a line each, and nothing was written. */
bool setup_config_append(const char *path, const char *text, GError **error);

/* Write the text as the file at path, whole or not at all, and make its directory if that is missing. */
bool setup_config_write(const char *path, const char *text, GError **error);
