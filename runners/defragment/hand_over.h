/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Handing parts to the host that has their set (D12), by LMTP. Parts are marked while the batch's transaction is
 * open, and sent when it is over, so that a slow host keeps nobody from the store. A host that does not answer is left
 * alone for a while.
 */
#include <glib.h>
#include <stdbool.h>

#include "runners/defragment/defragment.h"

/* Read [defragment] hosts; FAIL_CONFIG names a word that is no NAME=ADDRESS. */
Hosts *hosts_new(Defragment *own, GError **error);
void hosts_free(Hosts *hosts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Hosts, hosts_free)

/* The part is to be sent to host when the batch's handle()s are over. False: it cannot be now, for there is no address,
 * the host did not answer lately, or the part was handed on too often. */
bool hand_over_later(Hosts *hosts, const Part *part, const char *host);

/* Send what was marked; a part that could not be sent waits a minute (P3). */
void hand_over_all(Hosts *hosts);
/* The batch came to nothing. */
void hand_over_none(Hosts *hosts);
