/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keeps each runner to the files that it may reach (base/confine.h). The tables of settings say it for every path that
 * a site can set (opens and writes in base/config_table.h); this adds what all programs need of a system: its libraries
 * and settings, certificates, the names of hosts. doc/security.md has it for people.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"

/* Restrict this process to what the runner needs, unless the site, or a program that the runner starts, or the kernel
 * keeps it from that (config_unconfined(), confine_possible()). Call it before there are threads. Directories that the
 * runner writes are made when they are missing. */
bool process_confine(const Config *config, const char *runner, GError **error);
