/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/handler.h"

/* Signatures that our changes break look like forgeries to some servers. */
static bool process(Post *post, GError **error)
{
    static const char *const names[] = {"DomainKey-Signature", "DKIM-Signature", "Authentication-Results"};
    for (size_t at = 0; post->site && post->site->remove_dkim && at < G_N_ELEMENTS(names); at++)
        message_remove(post->message, names[at]);
    return true;
}

const Handler handler_cleanse_dkim = {.name = "cleanse-dkim", .process = process};
