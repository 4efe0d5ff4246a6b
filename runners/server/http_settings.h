/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Declare the settings that each server of HTTP has in its section, since runners/server/http.c reads them there. */
#include "base/config_table.h"

#define HTTP_SETTINGS(connections, header)                                                                       \
    {"max_connections", INTEGER(connections, 1, 65536, "connections"),                                           \
     .about = "Connections at one time in each instance; further clients wait until there is room."},            \
    {"requests_per_connection", INTEGER("1000", 1, 1000000000, "requests"),                                      \
     .about = "After so many requests a connection is closed."},                                                 \
    {"request_timeout", DURATION("30s", SECOND, HOUR),                                                           \
     .about = "How long a client may be silent, and how long its first request may take to arrive."},            \
    {"max_header_size", SIZE(header, 1 * KIB, 1 * MIB),                                                          \
     .about = "The largest head of a request."}
