/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/authors.h"

#include "mail/address.h"
#include "mail/domain_name.h"

/* Is the domain ASCII, or can it be written so? */
static bool has_name(const Address *author)
{
    g_autofree char *domain = NULL;
    if (!address_split(author->mailbox, NULL, &domain))
        return false;
    g_autofree char *ascii = domain_name_ascii(domain);
    return g_str_is_ascii(ascii);
}

GPtrArray *authors_read(const Post *post, bool *readable)
{
    GPtrArray *authors = address_list_new();
    size_t index = 0;
    unsigned fields = 0;
    bool sure = true;
    for (const Field *field; (field = message_find(post->message, "From", &index)); index++, fields++)
        sure = address_parse(field->text + field->value_offset, field->length - field->value_offset, authors) && sure;
    sure = sure && fields == 1 && authors->len > 0 && authors->len <= AUTHORS_MAX;
    for (guint at = 0; sure && at < authors->len; at++)
        sure = has_name(authors->pdata[at]);
    if (readable)
        *readable = sure;
    return authors;
}
