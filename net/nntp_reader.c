/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/nntp_reader.h"

#include <string.h>

void nntp_reader_init(NntpReader *reader)
{
    *reader = (NntpReader){.text = g_string_new(NULL), .block = g_byte_array_new(), .line = g_string_new(NULL)};
}

void nntp_reader_clear(NntpReader *reader)
{
    g_string_free(reader->text, TRUE);
    g_byte_array_unref(reader->block);
    g_string_free(reader->line, TRUE);
}

void nntp_reader_expect(NntpReader *reader, bool wants_block, size_t most)
{
    reader->code = 0;
    reader->cut = reader->in_block = false;
    reader->wants_block = wants_block;
    reader->most = most;
    g_string_truncate(reader->text, 0);
    g_string_truncate(reader->line, 0);
    g_byte_array_set_size(reader->block, 0);
}

/* The line with the code. */
static NntpState read_status(NntpReader *reader)
{
    const char *line = reader->line->str;
    for (int at = 0; at < 3; at++)
        if (!g_ascii_isdigit(line[at]))
            return NNTP_BROKEN;
    if (line[0] < '1' || line[0] > '5' || (line[3] && line[3] != ' '))
        return NNTP_BROKEN;
    reader->code = (unsigned)((line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0'));
    g_autofree char *valid = g_utf8_make_valid(line + (line[3] ? 4 : 3), -1);
    for (const char *at = valid; *at; at = g_utf8_next_char(at)) {
        gunichar letter = g_utf8_get_char(at);
        g_string_append_unichar(reader->text, g_unichar_iscntrl(letter) ? ' ' : letter);
    }
    reader->in_block = reader->wants_block && line[0] == '2';
    return reader->in_block ? NNTP_MORE : NNTP_DONE;
}

static void keep(NntpReader *reader, const char *octets, size_t length)
{
    size_t room = reader->most - MIN(reader->most, reader->block->len);
    reader->cut = reader->cut || length > room;
    g_byte_array_append(reader->block, (const guint8 *)octets, (guint)MIN(length, room));
}

NntpState nntp_reader_feed(NntpReader *reader, const char *octets, size_t length, size_t *used)
{
    NntpState state = NNTP_MORE;
    GString *line = reader->line;
    *used = 0;
    while (state == NNTP_MORE && *used < length) {
        const char *at = octets + *used, *feed = memchr(at, '\n', length - *used);
        size_t piece = feed ? (size_t)(feed - at) : length - *used;
        size_t most = reader->in_block ? MAX(reader->most, NNTP_LINE_MAX) : NNTP_LINE_MAX;
        size_t room = most - MIN(most, line->len);
        if (piece > room && !reader->in_block)
            return NNTP_BROKEN;
        reader->cut = reader->cut || piece > room;
        g_string_append_len(line, at, (gssize)MIN(piece, room));
        *used += piece + (feed != NULL);
        if (!feed)
            return NNTP_MORE;
        if (line->len > 0 && line->str[line->len - 1] == '\r')
            g_string_truncate(line, line->len - 1);
        if (!reader->in_block) {
            state = read_status(reader);
        } else if (line->len == 1 && line->str[0] == '.') {
            state = NNTP_DONE;
        } else { /* a line of the block */
            size_t dot = line->len > 1 && line->str[0] == '.' && line->str[1] == '.';
            keep(reader, line->str + dot, line->len - dot);
            keep(reader, "\r\n", 2);
        }
        g_string_truncate(line, 0);
    }
    return state;
}
