/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/people/role_option.h"

#include "cli/command.h"

char *role_option_text;

bool role_option(Role *role, GError **error)
{
    *role = ROLE_MEMBER;
    if (!role_option_text || role_parse(role_option_text, role))
        return true;
    command_usage(error, "--role: '%s' is none of member, owner, moderator, nonmember", role_option_text);
    return false;
}
