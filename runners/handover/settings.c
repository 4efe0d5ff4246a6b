/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runners handover and door have no settings but those of [host], and those that every runner has. */
#include "base/config_table.h"

/* clang-format off */
static const ConfigMember members[] = {
    {"runner.handover",
     .about = "Hands work to other hosts, and accepts what they handed to this one. It is started where [host] "
      "certificate_file is set, as the runner door is.",
     .defaults = (const ConfigDefault[]){{"start", "{host.certificate_file?}"}, {NULL, NULL}},
     .readers = "defragment in pipeline"},
    {"runner.door",
     .about = "The door of this host for the other hosts: LMTP over TLS, for those alone that have a certificate of "
      "the site's authority. Other hosts must reach it.",
     .defaults = (const ConfigDefault[]){
         {"start", "{host.certificate_file?}"}, {"queue", NULL}, {"listen", "*:8027"}, {NULL, NULL}},
     .readers = "host"},
    {.section = NULL},
};
/* clang-format on */

const ConfigSettings handover_settings = {.members = members};
