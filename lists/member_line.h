/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Reading people from a file, a line each. Three forms, told apart by
 * the first line that is not empty:
 *
 *   address,display_name,...   CSV (RFC 4180) when the first line names a
 *                              column `address` (or `email`); the delimiter is the comma, semicolon or
 *                              tab of that line
 *   anne@example.com           else an address a line,
 *   Anne <anne@example.com>    with a name or without
 *
 * UTF-8, with or without byte order mark; lines end in LF or CRLF. Empty
 * lines and, outside CSV, lines that begin with '#' are passed over. A
 * quoted field ends on its line, so an unbalanced quote spoils one line, not
 * the file.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "store/member.h"

#define MEMBER_LINE_MAX 8192

typedef struct MemberLines MemberLines;

typedef struct MemberLine {
    uint64_t number; /* in the file, from 1 */
    char *address, *display_name; /* display_name may be NULL */
    Preferences own;
    bool last;
} MemberLine;

void member_line_clear(MemberLine *line);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MemberLine, member_line_clear)

/* file stays the caller's. */
MemberLines *member_lines_new(FILE *file);
void member_lines_free(MemberLines *lines);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MemberLines, member_lines_free)

/* The next person, in a line that was clear. At the end line->last is set and true returned. False:
 * FAIL_NEVER the line is bad (line->number tells which; go on), FAIL_CONFIG the
 * header is, FAIL_LATER the file cannot be read. */
bool member_lines_next(MemberLines *lines, MemberLine *line, GError **error);

/* The line that was read last, as far as it was kept: at most MEMBER_LINE_MAX octets, which may be no UTF-8. */
const char *member_lines_text(const MemberLines *lines);

/* Octets read so far. */
uint64_t member_lines_octets(const MemberLines *lines);

/* "Name <address>" or "address"; name is NULL when there is none. FAIL_NEVER
 * says what is wrong. Whether the address can be one is for the store to say. */
bool member_line_mailbox(const char *text, char **address, char **name, GError **error);
