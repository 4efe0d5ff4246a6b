/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Read the replies of a news server whole and byte by byte: both must see the same, and it must be fit for the log. */
#include <string.h>

#include "net/nntp_reader.h"
#include "t/fuzz/fuzz.h"

#define MOST 300

static void check(const NntpReader *reader)
{
    require(reader->code >= 100 && reader->code <= 599);
    require(g_utf8_validate(reader->text->str, -1, NULL) && strlen(reader->text->str) == reader->text->len);
    for (const char *at = reader->text->str; *at; at++)
        require((unsigned char)*at >= ' ');
    require(reader->block->len <= MOST);
}

/* Reads replies with a block and without in turn. */
static void read_all(const char *data, size_t size, size_t piece, GString *seen)
{
    g_auto(NntpReader) reader;
    nntp_reader_init(&reader);
    bool block = false;
    nntp_reader_expect(&reader, block, MOST);
    for (size_t at = 0; at < size;) {
        size_t used = 0, given = MIN(piece, size - at);
        NntpState state = nntp_reader_feed(&reader, data + at, given, &used);
        require(used <= given && (state != NNTP_MORE || used == given));
        at += used;
        if (state == NNTP_BROKEN) {
            g_string_append(seen, "broken");
            return;
        }
        if (state == NNTP_DONE) {
            check(&reader);
            g_string_append_printf(seen, "%u %s %d\n", reader.code, reader.text->str, reader.cut);
            g_string_append_len(seen, (const char *)reader.block->data, reader.block->len);
            block = !block;
            nntp_reader_expect(&reader, block, MOST);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    require_same_in_pieces(read_all, data, size);
    return 0;
}
