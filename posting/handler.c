/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/handler.h"

#include <string.h>

const Handler *const handlers[] = {
    &handler_acknowledge,
    &handler_avoid_duplicates,
    &handler_cleanse,
    &handler_cleanse_dkim,
    &handler_cook_headers,
    &handler_decorate,
    &handler_digest_recipients,
    &handler_dkim_sign,
    &handler_dmarc,
    &handler_external,
    &handler_member_recipients,
    &handler_mime_delete,
    &handler_owner_recipients,
    &handler_rfc_2369,
    &handler_subject_prefix,
    &handler_tagger,
    &handler_to_archive,
    &handler_to_digest,
    &handler_to_outgoing,
    &handler_to_usenet,
    NULL,
};

const Handler *handler_find(const char *name)
{
    for (const Handler *const *handler = handlers; *handler; handler++)
        if (strcmp((*handler)->name, name) == 0)
            return *handler;
    return NULL;
}
