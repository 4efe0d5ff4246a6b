/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Text from outside (members' names, subjects, lines of a file that is imported) on its way to a terminal. It must not
 * command the terminal, nor turn the order of what stands beside it.
 */
#include <glib.h>
#include <stddef.h>

/* Valid UTF-8 with '?' for control characters (C0, C1, DEL), line ends and the characters that turn the direction of
 * text; g_free(). */
char *plain_text(const char *text);

/* The same for a message of many lines: line feeds and tabs stay, carriage returns go. */
char *plain_message(const char *octets, size_t length);

/* A line on standard error, with all of it made plain. */
void plain_complain(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* The same for text of several lines that we wrote ourselves, such as faults of a configuration: line feeds stay. */
void plain_complain_lines(const char *format, ...) G_GNUC_PRINTF(1, 2);
