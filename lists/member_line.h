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

/* Begin to read the file, which stays the caller's and open. */
MemberLines *member_lines_new(FILE *file);
void member_lines_free(MemberLines *lines);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MemberLines, member_lines_free)

/* Read the next person into *line, which is cleared first, so it must be zeroed or filled by an earlier call. At the
 * end of the file, line->last is set and true returned. False: with FAIL_NEVER this line is bad (line->number says
 * which), and the next call reads on; with FAIL_CONFIG the header is bad; with FAIL_LATER the file cannot be read. */
bool member_lines_next(MemberLines *lines, MemberLine *line, GError **error);

/* The text of the line that was read last, borrowed until the next call. It may be no UTF-8, and a line longer than
 * MEMBER_LINE_MAX bytes is cut. */
const char *member_lines_text(const MemberLines *lines);

/* The number of bytes read so far. */
uint64_t member_lines_octets(const MemberLines *lines);

/* "Name <address>" or "address"; name is NULL when there is none. FAIL_NEVER
 * says what is wrong. Whether the address can be one is for the store to say. */
bool member_line_mailbox(const char *text, char **address, char **name, GError **error);
