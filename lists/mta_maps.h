/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Files with the addresses of all lists, for an MTA that looks them up itself: recipients (each address with each
 * sub-address, and postmaster@ and abuse@ of each domain), domains, aliases (the latter two), and for Postfix
 * transport. Each is replaced as a whole, so that nobody reads half of it.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "lists/work.h"

typedef enum MtaFormat { MTA_POSTFIX, MTA_EXIM } MtaFormat;

/* Write the files into the directory, which is made when it is missing, and run [mta] maps_command. FAIL_LATER: a file
 * could not be written, or the program failed; some of the files may be new then. */
bool mta_maps_write(Store *store, const Config *config, MtaFormat format, const char *directory, GError **error);

/* Gather an entry that has the timer write the files, at once after the commit of the unit. Nothing happens unless the
 * timer keeps such files (WorkSite.keeps_maps). */
void mta_maps_ask(Work *work);

/* The name of the timer's job that writes the files. */
#define MTA_MAPS_JOB "mta-maps"
