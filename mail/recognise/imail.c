/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* IMail (SMTP32): one line, the address at its end. */
#include <string.h>

#include "mail/recognise/report.h"

static bool read_imail(Report *report)
{
    static const char *const starts[] = {"delivery failed ",     "undeliverable to ", "undeliverable  to ",
                                         "unknown user:",        "unknown host:",     "invalid final delivery userid:",
                                         "user mailbox exceeds", "user account is",   "account ",
                                         "unknown local user:"};
    if (!strstr(report->mailer, "<smtp32") && !strstr(report->subject, "undeliverable mail"))
        return false;
    for (guint at = 0; at < report->lines->len; at++)
        for (size_t i = 0; i < G_N_ELEMENTS(starts); i++) {
            const char *line = report_line(report, at);
            size_t length;
            const char *address = NULL;
            if (g_ascii_strncasecmp(line, starts[i], strlen(starts[i])) == 0)
                address = address_scan(line, &length);
            if (address && address[length + (address[length] == '>')] == '\0')
                report_add(report, &(Finding){.address = address, .address_length = length, .action = "failed",
                                              .text = line});
        }
    return report_found(report);
}

const Dialect dialect_imail = {.name = "imail", .read = read_imail};
