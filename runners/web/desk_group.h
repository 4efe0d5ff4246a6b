/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Divide the settings of a list (store/lists/list_setting.h) into groups, as the desk shows them. Each setting is in
 * one group. */
#include <glib.h>
#include <stdbool.h>

typedef struct DeskGroup {
    const char *path;  /* "joining"; NULL: the end of the table */
    const char *title; /* to be translated */
    const char *names; /* of settings, in the order in which they are shown, separated by blanks */
} DeskGroup;

extern const DeskGroup desk_groups[];

/* Return the group of this path; NULL: there is none. */
const DeskGroup *desk_group_find(const char *path);
/* Return the names of the group's settings; g_strfreev(). */
char **desk_group_names(const DeskGroup *group);
