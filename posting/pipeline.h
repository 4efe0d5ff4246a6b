/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A pipeline is a table of handlers, run in order. The order matters: what
 * the archive must not see is removed before to-archive, and each handler
 * that needs the post's number stands behind after-delivery.
 */
#include <glib.h>
#include <stdbool.h>

#include "posting/handler.h"

typedef struct Pipeline {
    const char *name;
    const Handler *const *handlers; /* ended by NULL */
} Pipeline;

extern const Pipeline pipeline_posting, pipeline_owner, pipeline_virgin;

bool pipeline_run(const Pipeline *pipeline, Post *post, GError **error);
