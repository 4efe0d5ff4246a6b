/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write files with the addresses of all lists, for a mail server (MTA) that looks them up itself. The files are:
 *
 *   recipients   each address of a list, those of its sub-addresses ("talk-owner@"), and the role addresses
 *   domains      each mail domain of lists, and its alias domain
 *   aliases      the role addresses alone ([site] role_addresses), which go to the site's owner
 *   transport    for each domain the transport by which Postfix hands mail in; for Postfix alone
 *
 * Each file is replaced as a whole, so that nobody reads half of one.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "lists/work.h"

typedef enum MtaFormat { MTA_POSTFIX, MTA_EXIM } MtaFormat;

/* Write the files into the directory, which is made when it is missing. Then run the program of [mta] maps_command, if
 * it is set, with the paths of the files behind its own words. FAIL_LATER: a file could not be written, or the program
 * failed; some of the files may be new then. FAIL_CONFIG: maps_command cannot be read. */
bool mta_maps_write(Store *store, const Config *config, MtaFormat format, const char *directory, GError **error);

/* Gather an entry that has the timer write the files, at once after the commit of the unit. Nothing happens unless the
 * timer keeps such files (WorkSite.keeps_maps). */
void mta_maps_ask(Work *work);

/* The name of the timer's job that writes the files. */
#define MTA_MAPS_JOB "mta-maps"
