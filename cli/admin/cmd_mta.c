/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner mta: what the MTA in front needs to know of the lists. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "lists/making/mta_maps.h"

static char *format_option, *directory_option;

static int run_maps(Site *site, int argc, char **argv, GError **error)
{
    const Config *config = site_config(site, error);
    if (!config)
        return TOOL_CONFIG;
    const char *format = format_option ? format_option : config_string(config, "mta", "maps_format");
    const char *directory = directory_option ? directory_option : config_string(config, "mta", "maps_directory");
    if (strcmp(format, "postfix") != 0 && strcmp(format, "exim") != 0)
        return command_usage(error, "--format: '%s' is none of postfix, exim", format);
    if (!directory)
        return command_usage(error, "no directory is given, neither by --directory nor by [mta] maps_directory in %s",
                             site_config_path(site));
    Store *store = site_store(site, false, error);
    if (!store || !mta_maps_write(store, config, strcmp(format, "exim") == 0 ? MTA_EXIM : MTA_POSTFIX, directory,
                                  error))
        return TOOL_LATER;
    printf("the files are in %s\n", directory);
    return TOOL_OK;
}

static const GOptionEntry maps_options[] = {
    {"format", 0, 0, G_OPTION_ARG_STRING, &format_option, "for which MTA; default: [mta] maps_format", "postfix|exim"},
    {"directory", 0, 0, G_OPTION_ARG_FILENAME, &directory_option, "where to; default: [mta] maps_directory",
     "DIRECTORY"},
    G_OPTION_ENTRY_NULL,
};

static const Command maps = {
    .name = "maps", .arguments = "", .summary = "Write files with the addresses of all lists", .options = maps_options,
    .run = run_maps,
    .details = "The files are recipients, domains, aliases and, for Postfix, transport; listrunner-mta(8) shows how "
               "the MTA uses them, and how it asks without files.",
};

static const Command *const verbs[] = {&maps, NULL};

const Command cmd_mta = {
    .name = "mta", .arguments = "", .summary = "Tell the mail server in front which addresses there are",
    .verbs = verbs,
};
