/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Choose the posts that the verbs of `listrunner held` mean, and share the verbs that decide about them. */
#include "cli/command.h"
#include "store/posts/held.h"

extern const Command held_accept, held_allow, held_reject, held_discard, held_ban, held_forward;

/* The options by which posts are chosen: --list, --sender, --older, --newer. */
extern char *held_filter_list, *held_filter_sender, *held_filter_older, *held_filter_newer;
#define HELD_FILTER_OPTIONS \
    {"list", 0, 0, G_OPTION_ARG_STRING, &held_filter_list, "those of a list", "LIST"}, \
    {"sender", 0, 0, G_OPTION_ARG_STRING, &held_filter_sender, "those of a sender", "ADDRESS"}, \
    {"older", 0, 0, G_OPTION_ARG_STRING, &held_filter_older, "those held longer than this (3d, 12h)", "AGE"}, \
    {"newer", 0, 0, G_OPTION_ARG_STRING, &held_filter_newer, "those held no longer than this", "AGE"}

/* Fill *filter by the options. *list (list_free()) is the list of --list, from which filter borrows; NULL: none was
 * named. Return an exit code; *error is set unless it is TOOL_OK. */
int held_filter_read(Site *site, HeldFilter *filter, List **list, GError **error);

/* Set *numbers (of int64_t, g_array_unref() in any case) to the posts that argv names, or to those that the options
 * choose. The command line must have either numbers or options. Return an exit code; *error is set unless it is
 * TOOL_OK. */
int held_filter_numbers(char **argv, Site *site, GArray **numbers, GError **error);
