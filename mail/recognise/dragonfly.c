/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* DragonFly Mail Agent. */
#include "mail/recognise/report.h"

static const Section sections[] = {
    {SECTION_NEXT, "there was an error delivering your mail to", "failed"},
    {SECTION_END, NULL, NULL},
};

static bool read_dragonfly(Report *report)
{
    return report->automatic && section_read(report, sections);
}

const Dialect dialect_dragonfly = {.name = "dragonfly", .read = read_dragonfly};
