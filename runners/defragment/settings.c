/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner defragment: section [defragment]. */
#include "base/config_table.h"

/* clang-format off */
static const ConfigKey keys[] = {
    {"notices", INTEGER("4", 1, 730, "days"),
     .about = "Parts wait for the others for half of this time. A list may say another."},
    {"max_parts", INTEGER("1000", 1, 100000, "parts"),
     .about = "The most parts of one message; a part with a higher number or total is refused."},
    {"max_size", SIZE("32M", 1 * KIB, 2047 * MIB),
     .about = "The largest message that is put together; the parts of a larger one are held.",
     .readers = "door handover"},
    {"sets_per_sender", INTEGER("10", 1, 1000000, "messages"),
     .about = "Messages of one sender that may wait for parts; for one more the sender's oldest gives up its room.",
     .more = "Its parts are held or passed on, as if the time for the others were over (fragment_expiry)."},
    {"sets_per_list", INTEGER("100", 1, 1000000, "messages"),
     .about = "The same for one list; the oldest message of the sender that has the most gives up its room."},
    {"sets_per_host", INTEGER("10000", 1, 10000000, "messages"),
     .about = "The same for this host; the oldest message of the sender that has the most gives up its room."},
    {"max_waiting", SIZE("1G", 1 * MIB, 1024 * GIB),
     .about = "Octets of parts that may wait on this host; beyond it first parts are answered 452."},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"defragment", .about = "What the runner defragment keeps, and how long.", .keys = keys, .readers = "lmtp"},
    {.section = NULL},
};

static const ConfigMember members[] = {
    {.section = "runner.defragment"},
    {.section = NULL},
};
/* clang-format on */

const ConfigSettings defragment_settings = {.tables = tables, .members = members};
