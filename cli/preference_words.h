/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* NAME=VALUE of what users and addresses prefer. */
#include <glib.h>
#include <stdbool.h>

#include "store/member.h"

/* Split "name=value"; FAIL_NEVER without '='. *name is g_free()d, *value lies in text. */
bool preference_split(const char *text, char **name, const char **value, GError **error);

/* Set what the name says; "default" and an empty value take it back. *known: is it a preference at all? False with a
 * usage error when the value is none of those allowed. */
bool preference_set(Preferences *preferences, const char *name, const char *value, bool *known, GError **error);

#define PREFERENCE_NAMES \
    "acknowledge_posts, hide_address, receive_list_copy, receive_own_postings, delivery_mode, delivery_status, " \
    "preferred_language"
