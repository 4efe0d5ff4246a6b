/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A table of domains by age, as qshape(1) of Postfix shows it. With a tick
 * of 5 minutes the upper bounds of the columns are 5, 10, 20, 40 ... minutes (linear:
 * 5, 10, 15 ...); the last column takes the rest.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define SHAPE_BUCKETS_MAX 30

typedef struct Shape Shape;

Shape *shape_new(unsigned buckets, int tick, bool linear);
void shape_free(Shape *shape);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Shape, shape_free)

void shape_add(Shape *shape, const char *domain, int64_t age);

/* To standard output: the sum first, then the largest domains; top < 0: all. */
void shape_print(const Shape *shape, int top, bool json);
