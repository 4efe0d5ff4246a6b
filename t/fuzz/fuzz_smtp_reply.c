/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * A stream of SMTP replies, read whole and byte by byte: both must see the
 * same replies, and what they keep must be fit for a log line.
 */
#include <string.h>

#include "net/smtp_reply.h"
#include "t/fuzz/fuzz.h"

static void check(const SmtpReply *reply)
{
    require(reply->code >= 100 && reply->code <= 599);
    require(strlen(reply->text) == reply->text_length);
    require(g_utf8_validate(reply->text, -1, NULL));
    for (const char *at = reply->text; *at; at++)
        require((unsigned char)*at >= ' ' || *at == '\n');
    require(reply->status[0] == (char)('0' + smtp_reply_class(reply)));
    require(strlen(reply->status) >= 5 && strspn(reply->status, "0123456789.") == strlen(reply->status));
    g_autofree char *line = smtp_reply_print(reply);
    require(strchr(line, '\n') == NULL);
}

/* Reads all replies in pieces of the given size; appends them to seen. */
static void read_all(const char *data, size_t size, size_t piece, GString *seen)
{
    SmtpReply reply;
    smtp_reply_init(&reply);
    for (size_t at = 0; at < size;) {
        size_t used = 0;
        SmtpReplyState state = smtp_reply_feed(&reply, data + at, MIN(piece, size - at), &used);
        require(used > 0 && used <= MIN(piece, size - at));
        require(state != SMTP_REPLY_MORE || used == MIN(piece, size - at));
        at += used;
        if (state == SMTP_REPLY_BROKEN) {
            g_string_append(seen, "broken");
            return;
        }
        if (state == SMTP_REPLY_DONE) {
            check(&reply);
            g_string_append_printf(seen, "%u %s %s\n", reply.code, reply.status, reply.text);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    require_same_in_pieces(read_all, data, size);
    return 0;
}
