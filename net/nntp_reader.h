/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the replies of a news server (RFC 3977, section 3): one line with a code of three digits, and after some codes a
 * block of lines that ends with "." alone. The reader is fed with bytes as they come, in pieces of any size.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#define NNTP_LINE_MAX 4096 /* bytes of the line with the code; RFC 3977 allows 512 */

typedef enum NntpState {
    NNTP_MORE,   /* the reply is not whole yet */
    NNTP_DONE,   /* it is; the fields of the reader tell it */
    NNTP_BROKEN, /* this is no news server */
} NntpState;

typedef struct NntpReader {
    unsigned code;     /* 100 .. 599 */
    GString *text;     /* behind the code: UTF-8 without control characters */
    GByteArray *block; /* the lines, each with CRLF, without the dots that the protocol adds */
    bool cut;          /* the block was longer than most: its end is missing */

    /* The rest is read and written by the functions below alone. */
    bool wants_block, in_block;
    size_t most;
    GString *line;
} NntpReader;

/* Begin with an empty reader; nntp_reader_clear() frees what it holds. */
void nntp_reader_init(NntpReader *reader);
void nntp_reader_clear(NntpReader *reader);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(NntpReader, nntp_reader_clear)

/* Get ready for the reply to one command, and forget the reply before. With wants_block, a code 2xx is followed by a
 * block, of which the first `most` bytes are kept. */
void nntp_reader_expect(NntpReader *reader, bool wants_block, size_t most);

/* Take octets up to the end of the reply; *used tells how many. */
NntpState nntp_reader_feed(NntpReader *reader, const char *octets, size_t length, size_t *used);
