/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* How posts are judged and changed, beyond what each list says itself. */
#include "base/config_table.h"

/* clang-format off */
static const ConfigKey rule_keys[] = {
    {"header_match_action", STRING("hold"),
     .about = "What happens to a post by a header match that has no action of its own: hold, reject, discard, accept, "
      "or the name of a chain."},
    {.name = NULL},
};

static const ConfigKey dns_keys[] = {
    {"servers", STRING(NULL),
     .about = "The name servers that are asked about the authors of posts (DMARC, DKIM): ADDRESS, ADDRESS:PORT or "
      "[IPv6]:PORT, several with commas; unset: those of the system.",
     .example = "127.0.0.1:53"},
    {"timeout", DURATION("6s", SECOND, MINUTE),
     .about = "How long a question to them may stay without an answer. Other mail does not wait meanwhile."},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"rules", .about = "How the runner in judges posts.", .keys = rule_keys, .readers = "in"},
    {"dns", .about = "Whom the runners ask what a post's author has published.", .keys = dns_keys,
     .readers = "in pipeline"},
    {.section = NULL},
};
/* clang-format on */

const ConfigSettings posting_settings = {.tables = tables};
