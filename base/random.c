/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/random.h"

#include <errno.h>
#include <glib.h>
#include <sys/random.h>

char *random_word(void)
{
    unsigned char bytes[RANDOM_WORD_LENGTH / 2];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) /* so few bytes are never cut short */
        g_error("the system gives no random bytes: %s", g_strerror(errno));
    char *word = g_malloc(RANDOM_WORD_LENGTH + 1);
    for (size_t at = 0; at < sizeof bytes; at++)
        g_snprintf(word + 2 * at, 3, "%02x", bytes[at]);
    return word;
}
