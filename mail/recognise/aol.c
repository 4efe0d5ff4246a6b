/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* AOL, which names its own users without domain. */
#include <string.h>

#include "mail/recognise/report.h"

static bool read_aol(Report *report)
{
    const char *phrase = "your mail to the following recipients could not be delivered because they are not accepting";
    const char *found = strstr(report->flat->str, phrase);
    if (!found || !strstr(report->from, "@aol.com"))
        return false;
    size_t offset = (size_t)(found - report->flat->str) + strlen(phrase);
    for (guint at = report_line_at(report, offset) + 1; at < report->lines->len; at++) {
        const char *line = report_line(report, at), *name = line + strspn(line, " \t");
        size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
        if (length < 2 || name[length] != '\0' || name == line)
            continue;
        g_autofree char *address = g_strconcat(name, "@aol.com", NULL);
        report_add(report, &(Finding){.address = address, .address_length = strlen(address), .action = "failed",
                                      .text = "not accepting mail from this sender"});
    }
    return report_found(report);
}

const Dialect dialect_aol = {.name = "aol", .read = read_aol};
