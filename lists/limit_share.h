/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The part of the limits toward other sites' servers that the processes of this host may use, among several hosts that
 * share the database (store/host.h). The runner host writes the part into the spool (lists/this_host.h), and lowers it
 * in the database when no process uses more. Each process marks what it uses by a lock on a byte of the file
 * LIMIT_SHARE_FILE of the spool, the Nth for one in N parts; so the mark of a process ends with it.
 *
 * What is in the spool may be from before the host was started anew, and the part another host's by now. So a process
 * that starts uses nothing before it has seen that a runner host began, which holds a lock on the byte 0 of that file.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "switchboard/spool.h"

#define LIMIT_SHARE_FILE ".share"

typedef struct LimitShare LimitShare;

/* For a process that keeps such limits. spool is borrowed. believed: what is in the spool is used though no runner host
 * was seen yet, as while the database is away, without which none can begin. Where one host works alone, it has all of
 * them. */
LimitShare *limit_share_new(Spool *spool, const Config *config, bool believed, GError **error);
void limit_share_free(LimitShare *share);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimitShare, limit_share_free)

/* Whether the part may change, so that it is to be looked at every now and then. */
bool limit_share_changes(const LimitShare *share);

/* Return of how many equal parts of each limit the process may use one from now on; 0: nothing may be sent. */
unsigned limit_share_look(LimitShare *share);

/* Release the rest for others: what is under way is no more than limit_share_look() said last. */
void limit_share_kept(LimitShare *share);

/* For the runner host, when what it wrote into the spool is of the epoch that it begins: have the processes of this
 * host use it. Return a descriptor, which is to be open as long as the runner lives; -1: FAIL_LATER. */
int limit_share_begin(Spool *spool, GError **error);

/* For the runner host: whether a process of this host still uses, or may use, more than one in so many parts; with
 * parts 0, anything. */
bool limit_share_in_use(Spool *spool, unsigned parts, bool *in_use, GError **error);
