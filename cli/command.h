/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Describe a verb of listrunner(1). Each verb is one const Command and one line in cli/commands.c (or in the table of
 * its group). Help, the checks of the command line and shell completion come from the struct.
 *
 * A group ("list") has verbs and nothing to run; a plain verb has run() or run_kind(). run() gets the arguments that
 * are left when options were taken away: argv[0] is the first, NULL ends them, and their number is checked. It returns
 * an exit code of cli/exit.h. When it sets *error, the tool prints that, and takes the code from it instead:
 * FAIL_EXISTS and FAIL_RACE 1, FAIL_NEVER 64, FAIL_MISSING 66, FAIL_LATER 75, FAIL_CONFIG 78, command_usage() 64.
 *
 * Options point at variables of the verb's file. A text is G_OPTION_ARG_STRING, which the tool takes for UTF-8 in every
 * locale; it refuses what is not UTF-8. An option's argument description that reads "a|b|c" is also what completion
 * offers; so are the words LIST, QUEUE, DOMAIN and FILE in `arguments`.
 */
#include <glib.h>
#include <stdbool.h>

#include "cli/exit.h"
#include "cli/site.h"

typedef struct Command Command;
struct Command {
    const char *name;
    const char *arguments; /* "LIST [FILE]"; "" for none */
    const char *summary;   /* one line for the overview */
    const char *details;   /* what follows the options in the verb's help, or NULL */
    int least, most;       /* number of arguments; most -1: any number */
    const GOptionEntry *options;                                      /* or NULL */
    int (*run)(Site *site, int argc, char **argv, GError **error);    /* NULL in a group */
    /* In place of run: one function for verbs that differ only in *kind. argv is what run() gets. */
    int (*run_kind)(Site *site, const void *kind, char **argv, GError **error);
    const void *kind;
    const Command *const *verbs;                                      /* a group's; ended by NULL */
};

/* The whole table, ended by NULL. */
extern const Command *const commands[];

extern const Command cmd_archive, cmd_backup, cmd_digest, cmd_export, cmd_fragments, cmd_host, cmd_import, cmd_mta,
    cmd_news, cmd_restore, cmd_trace;

extern const Command cmd_address, cmd_pending, cmd_person, cmd_task, cmd_template, cmd_unsubscribe, cmd_user;

extern const Command cmd_ban, cmd_header_match, cmd_scheduled, cmd_token;

extern const Command cmd_bounce, cmd_config, cmd_domain, cmd_held, cmd_inject, cmd_list, cmd_member, cmd_queue;

extern const Command cmd_dest, cmd_doctor, cmd_metrics, cmd_probe, cmd_setup, cmd_shadow, cmd_store;
extern const Command cmd_reload, cmd_rescale, cmd_restart, cmd_shunt, cmd_spool, cmd_start, cmd_status, cmd_stop;

/* Verbs that stand in another file than their group. */
extern const Command archive_import, archive_old;
extern const Command list_family_verb;
extern const Command list_show, list_get_verb, list_set_verb, list_reset_verb, list_try_verb, list_log_verb;
extern const Command list_source_verb;
extern const Command queue_ls, queue_cat;
extern const Command queue_hold, queue_release, queue_requeue, queue_delete, queue_expire, queue_edit_due;

/* The option --json, for verbs that print rows and for those that print one object. json_option says whether it was
 * given. The arrays are for verbs that have no other option. */
extern gboolean json_option;
#define JSON_ROWS_OPTION {"json", 0, 0, G_OPTION_ARG_NONE, &json_option, "one JSON object a line", NULL}
#define JSON_OBJECT_OPTION {"json", 0, 0, G_OPTION_ARG_NONE, &json_option, "one JSON object", NULL}
extern const GOptionEntry json_rows_options[], json_object_options[];

/* Set *error to a usage error and return TOOL_USAGE, so that refusing is one line. The tool adds to the message where
 * help is to be found. */
int command_usage(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Return the exit code of the program for an error. */
int command_exit_code(const GError *error);
