/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* What the sender of a rejected post is told. */
#include <glib.h>
#include <stdbool.h>

#include "store/store.h"
#include "switchboard/draft.h"

/* Sets *draft to a notice for the queue `virgin`, made from the template "rejected"; to NULL when nobody may be
 * told: the post has no sender, or was sent by a program (RFC 3834, 2). reason
 * may be NULL; templates is the site's folder. It is of now, but its Message-ID follows from the held row. */
bool held_notice(const Held *held, const List *list, const char *reason, const char *templates, Draft **draft,
                 GError **error);
