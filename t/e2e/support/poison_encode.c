/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* For LD_PRELOAD: a program that reads the parts of a mail with an X-Poison field dies of it, as of a fault in the
 * library that reads them. */
#include <dlfcn.h>
#include <gmime/gmime.h>
#include <stdlib.h>

typedef GMimeMessage *Construct(GMimeParser *parser, GMimeParserOptions *options);

GMimeMessage *g_mime_parser_construct_message(GMimeParser *parser, GMimeParserOptions *options)
{
    Construct *real = (Construct *)dlsym(RTLD_NEXT, "g_mime_parser_construct_message");
    GMimeMessage *message = real(parser, options);
    if (message && g_mime_object_get_header(GMIME_OBJECT(message), "X-Poison"))
        abort();
    return message;
}
