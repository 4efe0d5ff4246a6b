/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime_tree.h"

#include <gmime/gmime.h>

static void initialize(void)
{
    static gsize done = 0;
    if (!g_once_init_enter(&done))
        return;
    g_mime_init();
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
