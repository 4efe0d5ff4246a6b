/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Print a mail as people read it (mail/text/readable.h), a line for each field and each block. Tests compare that
 * text. */
#include <glib.h>

#include "mail/text/readable.h"

static inline void print_people(GString *out, const char *name, const ReadablePeople *people)
{
    for (guint at = 0; at < people->list->len; at++) {
        const ReadablePerson *person = people->list->pdata[at];
        g_string_append_printf(out, "%s: %s|%s\n", name, person->name, person->address);
    }
    if (people->more)
        g_string_append_printf(out, "%s: more\n", name);
}

static inline void print_head(GString *out, const ReadableHead *head)
{
    print_people(out, "From", &head->from);
    print_people(out, "To", &head->to);
    print_people(out, "Cc", &head->cc);
    print_people(out, "Reply-To", &head->reply_to);
    if (head->dated)
        g_string_append_printf(out, "Date: %" G_GINT64_FORMAT " %+d\n", head->date, head->zone);
    if (*head->subject)
        g_string_append_printf(out, "Subject: %s\n", head->subject);
    if (head->id)
        g_string_append_printf(out, "Id: %s\n", head->id);
    if (head->in_reply_to)
        g_string_append_printf(out, "Reply: %s\n", head->in_reply_to);
    for (guint at = 0; at < head->references->len; at++)
        g_string_append_printf(out, "Reference: %s\n", (char *)head->references->pdata[at]);
    if (head->list_post)
        g_string_append_printf(out, "Post: %s\n", head->list_post);
}

/* Each block with its kind before it, and links between braces. */
static inline void print_block(GString *out, const ReadableBlock *block)
{
    static const char *const kinds[] = {"text",  "attribution", "quote", "signature",
                                        "fixed", "note",        "file",  "message"};
    static const char *const notes[] = {"cut", "parts", "deep", "signed", "encrypted"};
    g_string_append(out, kinds[block->kind]);
    if (block->level > 0)
        g_string_append_printf(out, "%u", block->level);
    if (block->fold > 0)
        g_string_append_printf(out, " (%u)", block->fold);
    if (block->patch)
        g_string_append(out, " patch");
    if (block->kind == READABLE_NOTE)
        g_string_append_printf(out, " %s %zu", notes[block->note], block->left_out);
    if (block->file)
        g_string_append_printf(out, " %zu %s %s %s %zu", block->file->number, block->file->name, block->file->type,
                               block->file->serve_as, block->file->size);
    if (block->length > 0)
        g_string_append(out, ": ");
    size_t at = 0;
    for (guint number = 0; block->links && number < block->links->len; number++) {
        const TextLink *link = &g_array_index(block->links, TextLink, number);
        g_string_append_len(out, block->text + at, (gssize)(link->start - at));
        g_string_append_c(out, '{');
        g_string_append_len(out, block->text + link->start, (gssize)link->length);
        g_string_append_c(out, '}');
        at = link->start + link->length;
    }
    g_string_append(out, block->text + at);
    g_string_append_c(out, '\n');
}

static inline void print_blocks(GString *out, const Readable *mail)
{
    for (guint at = 0; at < mail->blocks->len; at++) {
        const ReadableBlock *block = mail->blocks->pdata[at];
        print_block(out, block);
        if (!block->message)
            continue;
        print_head(out, &block->message->head);
        print_blocks(out, block->message);
        g_string_append(out, "end\n");
    }
}
