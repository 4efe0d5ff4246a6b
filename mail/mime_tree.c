/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime_tree.h"

#include <gmime/gmime.h>

/* GMime reads the address fields of each message, also of one within another, as it meets them, and calls itself for
 * each group in a group: 90 KB of "Cc: g:g:g:" end the process. Nobody asks the tree for addresses, nor for the
 * Subject, the Date or the ids that are read in the same place. So let a message keep its fields as any other object
 * does: as text. */
static void leave_addresses_alone(void)
{
    GMimeObjectClass *message = g_type_class_ref(GMIME_TYPE_MESSAGE); /* never let go: it would come back as it was */
    const GMimeObjectClass *object = g_type_class_peek_parent(message);
    message->header_added = object->header_added;
    message->header_changed = object->header_changed;
    message->header_removed = object->header_removed;
    message->headers_cleared = object->headers_cleared;
}

static void initialize(void)
{
    static gsize done = 0;
    if (!g_once_init_enter(&done))
        return;
    g_mime_init();
    leave_addresses_alone();
    g_once_init_leave(&done, 1);
}

GMimeMessage *mime_tree(GBytes *octets)
{
    initialize();
    size_t length;
    const char *data = g_bytes_get_data(octets, &length);
    GMimeStream *stream = g_mime_stream_mem_new_with_buffer(data ? data : "", length);
    GMimeParser *parser = g_mime_parser_new_with_stream(stream);
    GMimeMessage *message = g_mime_parser_construct_message(parser, NULL);
    g_object_unref(parser);
    g_object_unref(stream);
    return message;
}
