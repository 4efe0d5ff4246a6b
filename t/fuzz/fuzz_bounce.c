/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * A mail of any bytes: what is returned are addresses, each once, with a status, a
 * reason and a text that are what they should be; a mail of no kind of
 * report has none.
 */
#include <string.h>

#include "base/mailbox.h"
#include "mail/bounce/bounce.h"
#include "t/fuzz/fuzz.h"

static void require_status(const char *status)
{
    require(*status == '\0' || (strchr("45", *status) && strspn(status, "0123456789.") == strlen(status)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(Bounce) bounce = bounce_parse((const char *)data, size);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    bool named = bounce->kind == BOUNCE_FAILURE || bounce->kind == BOUNCE_FEEDBACK;
    require(bounce->recipients->len == 0 || (named && bounce->dialect));
    require(bounce->kind != BOUNCE_FAILURE || bounce->recipients->len > 0);
    for (guint at = 0; at < bounce->recipients->len; at++) {
        const BounceRecipient *recipient = bounce->recipients->pdata[at];
        require(mailbox_valid(recipient->address));
        require(g_hash_table_add(seen, g_ascii_strdown(recipient->address, -1)));
        require_status(recipient->status);
        require(g_strv_contains(bounce_reasons, recipient->reason));
        require(g_utf8_validate(recipient->text, -1, NULL) && !strpbrk(recipient->text, "\r\n"));
        require((recipient->class == BOUNCE_COMPLAINT) == (bounce->kind == BOUNCE_FEEDBACK));
    }
    return 0;
}
