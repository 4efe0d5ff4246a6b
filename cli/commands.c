/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/command.h"

#include <stdarg.h>

#include "base/fail.h"

/* In the order of the overview. */
const Command *const commands[] = {
    &cmd_setup,     &cmd_start,    &cmd_stop,      &cmd_restart, &cmd_reload,      &cmd_rescale, &cmd_status,
    &cmd_metrics,   &cmd_dest,     &cmd_domain,    &cmd_list,    &cmd_member,      &cmd_user,    &cmd_address,
    &cmd_person,    &cmd_held,     &cmd_pending,   &cmd_task,    &cmd_unsubscribe, &cmd_ban,     &cmd_header_match,
    &cmd_scheduled, &cmd_template, &cmd_fragments, &cmd_archive, &cmd_digest,      &cmd_news,    &cmd_inject,
    &cmd_mta,       &cmd_host,     &cmd_trace,     &cmd_queue,   &cmd_shunt,       &cmd_spool,   &cmd_bounce,
    &cmd_token,     &cmd_import,   &cmd_export,    &cmd_shadow,  &cmd_store,       &cmd_backup,  &cmd_restore,
    &cmd_config,    &cmd_doctor,   &cmd_probe,     NULL,
};

gboolean json_option;
const GOptionEntry json_rows_options[] = {JSON_ROWS_OPTION, G_OPTION_ENTRY_NULL};
const GOptionEntry json_object_options[] = {JSON_OBJECT_OPTION, G_OPTION_ENTRY_NULL};

int command_usage(GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_propagate_error(error, g_error_new_valist(G_OPTION_ERROR, G_OPTION_ERROR_FAILED, format, arguments));
    va_end(arguments);
    return TOOL_USAGE;
}

int command_exit_code(const GError *error)
{
    if (error->domain == G_OPTION_ERROR)
        return TOOL_USAGE;
    if (error->domain != FAIL)
        return TOOL_LATER;
    switch (error->code) {
    case FAIL_EXISTS:
    case FAIL_RACE:
        return TOOL_NOT_SO;
    case FAIL_NEVER:
        return TOOL_USAGE;
    case FAIL_MISSING:
        return TOOL_MISSING;
    case FAIL_CONFIG:
        return TOOL_CONFIG;
    default:
        return TOOL_LATER;
    }
}
