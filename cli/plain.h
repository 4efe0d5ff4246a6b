/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make text from outside (members' names, subjects, lines of a file that is imported) safe to show on a terminal: it
 * must not command the terminal, nor turn the order of what stands beside it.
 */
#include <glib.h>
#include <stddef.h>

/* Return the text as valid UTF-8, with '?' for control characters (C0, C1, DEL), line ends and the characters that turn
 * the direction of text; g_free(). */
char *plain_text(const char *text);

/* Do as plain_text() with a message of many lines: line feeds and tabs stay, CRLF becomes a line feed, and any other
 * carriage return becomes '?'. g_free() */
char *plain_message(const char *octets, size_t length);

/* Write a line to standard error, after plain_text() over the whole formatted text. */
void plain_complain(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* Do as plain_complain() with a text of several lines that we wrote ourselves, such as faults of a configuration: line
 * feeds stay. */
void plain_complain_lines(const char *format, ...) G_GNUC_PRINTF(1, 2);
