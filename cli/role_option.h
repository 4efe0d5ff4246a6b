/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The option --role of all member verbs. */
#include <glib.h>
#include <stdbool.h>

#include "store/member.h"

extern char *role_option_text;

#define ROLE_OPTION                                                                                       \
    {                                                                                                     \
        "role", 0, 0, G_OPTION_ARG_STRING, &role_option_text, "in which role (default: member)",          \
            "member|owner|moderator|nonmember"                                                            \
    }

/* The role asked for; false with a usage error when there is no such role. */
bool role_option(Role *role, GError **error);
