/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Declare what the two files of issue.h share: issue.c makes the frame, issue_plain.c a post as plain text. For this
 * folder only. */
#include <glib.h>
#include <stddef.h>
#include <stdio.h>

#define ISSUE_LINE 900 /* bytes of a line of text, at most; RFC 5322, 2.1.1 allows 998 */
#define ISSUE_RULE_30 "------------------------------"

/* Write a line and CRLF; one that is too long is broken at a blank, or else between characters. */
void issue_put_line(FILE *stream, const char *line, size_t length);

/* Write a post as RFC 1153 has it: its fields, an empty line, its text. left_out is Issue's. */
void issue_put_post(FILE *stream, const char *left_out, GBytes *post);
