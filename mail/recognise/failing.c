/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* How a mail system says, in some language, that delivery failed or that it tries again: by the words of etc/bounce. */
#include <string.h>

#include "mail/recognise/report.h"

#define SOUGHT_LIMIT (64 * 1024) /* bytes of the notification in which such words are looked for */

const char *report_lower(Report *report)
{
    if (!report->lower) {
        g_autofree char *lower = words_lower(report->flat->str, (gssize)MIN(report->flat->len, SOUGHT_LIMIT));
        report->lower = g_string_chunk_insert(report->chunk, lower);
    }
    return report->lower;
}

/* Paragraphs are asked only for what the whole text holds. */
bool report_fails(Report *report, const char *lower)
{
    if (!report->sought)
        words_seek(report_lower(report), words_failed, report->failing, FAILING_MAX);
    report->sought = true;
    for (size_t at = 0; at < FAILING_MAX && report->failing[at]; at++)
        if (!lower || words_hold(lower, report->failing[at]))
            return true;
    return false;
}

bool report_waits(Report *report)
{
    return words_any(report_lower(report), words_waits) && !words_any(report_lower(report), words_ended);
}
