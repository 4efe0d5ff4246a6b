/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Read the words NAME=VALUE of a command line, by which verbs set the preferences of users and addresses. */
#include <glib.h>
#include <stdbool.h>

#include "store/people/member.h"

/* Split "name=value" into *name (g_free()) and *value (borrowed from text). FAIL_NEVER: there is no '='. */
bool preference_split(const char *text, char **name, const char **value, GError **error);

/* Set one preference; the value "default" or "" unsets it. *known is false, and nothing is set, if there is no
 * preference of this name. False with FAIL_NEVER: the value is not allowed; the message says which are. */
bool preference_set(Preferences *preferences, const char *name, const char *value, bool *known, GError **error);

#define PREFERENCE_NAMES \
    "acknowledge_posts, hide_address, receive_list_copy, receive_own_postings, delivery_mode, delivery_status, " \
    "preferred_language"
