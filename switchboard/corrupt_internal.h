/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Setting a damaged file aside, whole (transition T11).
 */
#include <glib.h>
#include <stdbool.h>

#include "switchboard/name.h"
#include "switchboard/spool.h"
#include "switchboard/suffix_internal.h"

/* Bring the claimed file of name into corrupt/ as NAME.msg, byte for byte,
 * with the steps of a hop. What is no regular file, or does not fit on the disk, is
 * preserved in its own queue instead. */
bool corrupt_set_aside(Queue *queue, const Hand *hand, const EntryName *name, GError **error);

/* R6: brings a tagged file whose parent is in no state into shunt/ as NAME.psv, whole. The caller syncs queue: else the
 * file might come back when a person has sent the other. */
bool corrupt_set_stray_aside(Queue *queue, const EntryName *name, const char *file, GError **error);
