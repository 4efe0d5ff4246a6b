/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Share the option --role of all verbs of `listrunner member`. */
#include <glib.h>
#include <stdbool.h>

#include "store/people/member.h"

extern char *role_option_text;

#define ROLE_OPTION                                                                                       \
    {                                                                                                     \
        "role", 0, 0, G_OPTION_ARG_STRING, &role_option_text, "in which role (default: member)",          \
            "member|owner|moderator|nonmember"                                                            \
    }

/* Set *role to the value of the option, ROLE_MEMBER without it. False with a usage error: there is no such role. */
bool role_option(Role *role, GError **error);
