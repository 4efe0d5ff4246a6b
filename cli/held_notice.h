/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* What the sender of a rejected post is told. */
#include <glib.h>

#include "store/store.h"
#include "switchboard/draft.h"

/* A notice for the queue `virgin`; NULL when nobody may be told: the post has no
 * sender, or was sent by a program (RFC 3834, 2). reason may be NULL, host is
 * ours. Its hash depends on nothing but its arguments. */
Draft *held_notice(const Held *held, const List *list, const char *reason, const char *host);
