/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Declare the limits of transactions and connections that a destination was found to have (destination.h). */
#include <stdint.h>

/* A number is believed until its time by clock_steady(); after that more is tried. 0: unknown. */
typedef struct SizeLimits {
    unsigned recipients;   /* of a transaction */
    int64_t recipients_until;
    unsigned unlikely;     /* a small number that was taken once, and is believed when it is seen again */
    int64_t unlikely_until;
    unsigned transactions; /* of a connection */
    int64_t transactions_until;
} SizeLimits;
/* How long a number is believed, us; one of few recipients is believed for less (destination.c). */
#define SIZE_MEMORY (INT64_C(24) * 3600 * 1000000)
