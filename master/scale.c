/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/scale.h"

void scale_init(Scale *scale, unsigned least, unsigned most)
{
    *scale = (Scale){.least = least, .most = MAX(least, most), .patience = SCALE_PATIENCE};
}

/* Forget what was measured with another number of processes. */
static void begin_anew(Scale *scale)
{
    scale->old = scale->young = 0;
    scale->speed = 0;
}

static unsigned halve(Scale *scale, unsigned instances)
{
    begin_anew(scale);
    return instances / 2;
}

static unsigned prove(Scale *scale, const ScaleLook *look, const char **why)
{
    if (scale->proof == SCALE_PROOF) {
        scale->proof_since = look->now;
        scale->proof_done = look->done;
    }
    if (--scale->proof > 0)
        return look->instances;
    /* The doubling is over its proof: is the work quicker? */
    double seconds = (double)(look->now - scale->proof_since) / G_USEC_PER_SEC;
    double speed = seconds > 0 ? (double)(look->done - scale->proof_done) / seconds : 0;
    if (look->age < SCALE_OLD || speed >= scale->before * SCALE_GAIN) {
        scale->patience = SCALE_PATIENCE;
        return look->instances;
    }
    scale->wait = scale->patience;
    scale->patience = MIN(scale->patience * 2, SCALE_PATIENCE_MAX);
    *why = "twice as many were not quicker";
    return halve(scale, look->instances);
}

unsigned scale_decide(Scale *scale, const ScaleLook *look, const char **why)
{
    const ScaleLook last = scale->last;
    scale->last = *look;
    if (scale->wait > 0)
        scale->wait--;
    if (!look->steady || look->instances != last.instances || look->done < last.done ||
        look->processor < last.processor || look->now <= last.now)
        return look->instances; /* nothing to compare it with */
    if (scale->proof > 0)
        return prove(scale, look, why);
    const double seconds = (double)(look->now - last.now) / G_USEC_PER_SEC;
    const double load = (double)(look->processor - last.processor) / (double)(look->now - last.now);
    const double speed = (double)(look->done - last.done) / seconds;
    bool is_old = look->age >= SCALE_OLD && (double)look->age > (double)last.age * SCALE_FALLING;
    scale->speed = is_old && scale->old > 0 ? (scale->speed * scale->old + speed) / (scale->old + 1) : speed;
    scale->old = is_old ? scale->old + 1 : 0;
    scale->young = look->age >= SCALE_OLD ? 0 : scale->young + 1;
    if (scale->old >= SCALE_GROW && look->instances < scale->most && scale->wait == 0 &&
        load < look->processors * 0.9) {
        scale->before = scale->speed;
        scale->proof = SCALE_PROOF;
        begin_anew(scale);
        *why = "entries wait";
        return look->instances * 2;
    }
    if (scale->young >= SCALE_SHRINK && look->instances > scale->least && load < SCALE_IDLE * look->instances / 2) {
        *why = "nothing waits, and half of them can do the work";
        return halve(scale, look->instances);
    }
    return look->instances;
}
