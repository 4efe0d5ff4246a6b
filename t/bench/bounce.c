/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* bounce ROUNDS FILE...: the processor time that bounce_parse() takes, as "MICROSECONDS us a mail". */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mail/bounce/bounce.h"

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 0, recipients = 0;
    g_autoptr(GPtrArray) mails = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    for (int at = 2; at < argc; at++) {
        char *text;
        gsize length;
        if (g_file_get_contents(argv[at], &text, &length, NULL))
            g_ptr_array_add(mails, g_bytes_new_take(text, length));
    }
    if (rounds == 0 || mails->len == 0) {
        fprintf(stderr, "usage: bounce ROUNDS FILE...\n");
        return 64;
    }
    clock_t start = clock();
    for (unsigned round = 0; round < rounds; round++)
        for (guint at = 0; at < mails->len; at++) {
            gsize length;
            const char *text = g_bytes_get_data(mails->pdata[at], &length);
            g_autoptr(Bounce) bounce = bounce_parse(text, length);
            recipients += bounce->recipients->len;
        }
    double took = (double)(clock() - start) / CLOCKS_PER_SEC * 1e6;
    printf("%.2f us a mail (%u mails, %u recipients a round)\n", took / rounds / mails->len, mails->len,
           recipients / rounds);
    return 0;
}
