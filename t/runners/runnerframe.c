/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/runners/runnerframe.h"

Runner runner_frame;

int runner_main(const RunnerSpec *spec, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    runner_frame.spec = spec;
    return 0;
}

const char *runner_name(const Runner *self)
{
    return self->spec->name;
}

const Config *runner_config(const Runner *self)
{
    return self->config;
}

Spool *runner_spool(Runner *self)
{
    return self->spool;
}

const char *runner_queue(const Runner *self)
{
    return self->spec->name;
}

Slice runner_slice(const Runner *self)
{
    return self->slice.count > 0 ? self->slice : (Slice){0, 1};
}

void runner_sync_along(Runner *self, int fd)
{
    (void)self;
    (void)fd;
}

void runner_set_data(Runner *self, void *data)
{
    self->data = data;
}

void *runner_data(const Runner *self)
{
    return self->data;
}

bool runner_stopping(const Runner *self)
{
    return self->stopping;
}

void runner_need(Runner *runner, void *need, bool (*away)(void *need), bool (*keep)(void *need, GError **error))
{
    (void)runner, (void)need, (void)away, (void)keep;
}

bool runner_alive(void *self)
{
    runner_progress(self);
    return !runner_stopping(self);
}

void runner_progress(Runner *self)
{
    (void)self;
}
