/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read people from a file, one a line, as command lines and sources of members bring them. The file has one of three
 * forms, told apart by its first line that is not empty:
 *
 *   address,display_name,...   CSV (RFC 4180) when the first line names a
 *                              column `address` (or `email`); the delimiter is the comma, semicolon or
 *                              tab of that line
 *   anne@example.com           else an address a line,
 *   Anne <anne@example.com>    with a name or without
 *
 * The text is UTF-8, with or without byte order mark; lines end in LF or CRLF. Empty lines are passed over, and outside
 * CSV also lines that begin with '#'. A quoted field may go on for some lines; where its end does not come, or comes
 * where no field can end, the quote spoils its first line alone.
 *
 * Of files of Google Groups the columns "Group status", "Email status" and "Email preference" are read, too.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "store/people/member.h"

#define MEMBER_LINE_MAX 8192

typedef struct MemberLines MemberLines;

/* The part of a person in a group, by its column "Group status". */
typedef enum MemberRank {
    RANK_UNSAID, /* the file has no such column; a line that leaves it empty is of a member */
    RANK_MEMBER,
    RANK_MANAGER,
    RANK_OWNER,
    RANK_NONE, /* no member: invited, banned or such */
} MemberRank;

typedef struct MemberLine {
    uint64_t number; /* in the file, from 1 */
    char *address, *display_name; /* display_name may be NULL */
    Preferences own;              /* from the columns delivery_mode and delivery_status of CSV; else unset */
    MemberRank rank;
    bool last;                    /* the file has ended, and there is no person */
} MemberLine;

void member_line_clear(MemberLine *line);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MemberLine, member_line_clear)

/* Begin to read the file from where it stands. The file stays the caller's, and must be open until the end. */
MemberLines *member_lines_new(FILE *file);
void member_lines_free(MemberLines *lines);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MemberLines, member_lines_free)

/* Read the next person into *line, which is cleared first, so it must be zeroed or filled by an earlier call. At the
 * end of the file, line->last is set and true returned. False: with FAIL_NEVER this line is bad (line->number says
 * which), and the next call reads on; with FAIL_CONFIG the header is bad; with FAIL_LATER the file cannot be read. */
bool member_lines_next(MemberLines *lines, MemberLine *line, GError **error);

/* Return the text of the line that was read last, borrowed until the next call. It may be no UTF-8, and a line longer
 * than MEMBER_LINE_MAX bytes is cut. */
const char *member_lines_text(const MemberLines *lines);

/* Return the number of bytes read so far, for a display of progress. */
uint64_t member_lines_bytes(const MemberLines *lines);

/* Split "Name <address>", or take "address" as it is; g_free() both. *name is NULL when there is none. FAIL_NEVER: the
 * form is wrong; both are NULL or may be freed. Whether there can be such an address is not looked at. */
bool member_line_mailbox(const char *text, char **address, char **name, GError **error);
