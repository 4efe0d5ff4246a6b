/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Set a damaged file aside, whole (INTERNALS.md, transition T11).
 */
#include <glib.h>
#include <stdbool.h>

#include "switchboard/name.h"
#include "switchboard/spool.h"
#include "switchboard/suffix_internal.h"

/* Bring the claimed file of this name into corrupt/ as NAME.msg, byte for byte, with the steps of a hop. Where no copy
 * can be made (it is no regular file, there is no space), preserve it (.psv) in its own queue instead. */
bool corrupt_set_aside(Queue *queue, const Hand *hand, const EntryName *name, GError **error);

/* Bring a tagged file whose parent is gone (R6) into shunt/ as NAME.psv, whole. The caller must sync the directory of
 * queue afterwards. Otherwise a power cut might bring the file back after a person has sent the one in shunt/. */
bool corrupt_set_stray_aside(Queue *queue, const EntryName *name, const char *file, GError **error);
