/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Reports of success in words alone, told by their subject; the addresses in them did not fail. */
#include <string.h>

#include "mail/recognise/report.h"

static bool read_success(Report *report)
{
    static const char *const begins[] = {"successful mail delivery", "delivery status notification (success)",
                                         "delivered: ", "relayed: ", "return receipt"};
    for (size_t at = 0; report->automatic && at < G_N_ELEMENTS(begins) && !report->succeeded; at++)
        report->succeeded = g_str_has_prefix(report->subject, begins[at]) && !report_fails(report, NULL);
    return report->succeeded;
}

const Dialect dialect_success = {.name = "success", .read = read_success};
