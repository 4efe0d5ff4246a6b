/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Make addresses in place, in tests: member_add(store, LIST, ROLE_MEMBER, mailbox_of("jo@example.org"), ...). */
#include <glib.h>

#include "base/mailbox.h"

/* Return the value of a text, which lives as long as the program; NULL for NULL. */
static inline const Mailbox *mailbox_of(const char *text)
{
    static GMutex lock;
    static GHashTable *all;
    if (!text)
        return NULL;
    g_mutex_lock(&lock);
    if (!all)
        all = g_hash_table_new(g_str_hash, g_str_equal);
    Mailbox *mailbox = g_hash_table_lookup(all, text);
    if (!mailbox) {
        mailbox = mailbox_new(text);
        g_hash_table_insert(all, mailbox->text, mailbox);
    }
    g_mutex_unlock(&lock);
    return mailbox;
}
