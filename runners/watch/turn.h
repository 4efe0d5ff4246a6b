/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide which way a test mail takes: which slice of out, which of in, and which kind of address, IPv4 or IPv6. Each
 * has its turn soon, two parts do not always go together, and in time all combinations come.
 *
 *   turn    0  1  2  3  4  5  6  7  ...   with two slices of out, four of in, two families
 *   in      0  1  2  3  0  1  2  3
 *   out     0  1  0  1  1  0  1  0
 *   family  0  1  0  1  1  0  1  0
 */
#include <stdint.h>

typedef struct Turn {
    unsigned outs, ins, families; /* of which each is a power of two */
    uint64_t count;               /* of mails so far */
} Turn;

typedef struct TurnWay {
    unsigned out, in, family;
} TurnWay;

/* Return the way of the mail number turn->count. */
static inline TurnWay turn_way(const Turn *turn)
{
    unsigned most = turn->outs > turn->ins ? turn->outs : turn->ins;
    unsigned least = turn->outs > turn->ins ? turn->ins : turn->outs;
    uint64_t round = turn->count / most;
    unsigned one = (unsigned)(turn->count % most), other = (unsigned)((one + round) % least);
    uint64_t family = turn->count + (most > 1 ? round : 0) + (least > 1 ? round / least : 0);
    return (TurnWay){turn->outs > turn->ins ? one : other, turn->outs > turn->ins ? other : one,
                     (unsigned)(family % turn->families)};
}
