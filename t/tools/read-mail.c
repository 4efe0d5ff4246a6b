/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Shows mails as mail/text/readable.h reads them: read-mail FILE... */
#include <stdio.h>

#include "t/mail/text/readable_print.h"

int main(int argc, char **argv)
{
    for (int at = 1; at < argc; at++) {
        char *octets;
        gsize length;
        g_autoptr(GError) error = NULL;
        if (!g_file_get_contents(argv[at], &octets, &length, &error)) {
            fprintf(stderr, "%s\n", error->message);
            return 1;
        }
        g_autoptr(GBytes) bytes = g_bytes_new_take(octets, length);
        g_autoptr(Readable) mail = readable_new(bytes, READABLE_TEXT);
        g_autoptr(GString) out = g_string_new(NULL);
        print_head(out, &mail->head);
        print_blocks(out, mail);
        printf("==== %s\n%s", argv[at], out->str);
    }
    return 0;
}
