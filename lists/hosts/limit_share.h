/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Tell the processes of a host how much they may use of limits toward other sites' servers, if several hosts share the
 * database (store/hosts/host.h). Each host may use one of so many equal parts of each limit. The runner named host
 * writes that number into the spool (lists/hosts/this_host.h), and lowers the part in the database when no process uses
 * more. Each process marks what it uses by a lock on a byte of the file LIMIT_SHARE_FILE of the spool, the Nth for one
 * in N parts; so the mark of a process ends with it.
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

/* Begin in a process that keeps such limits. spool is borrowed. believed: use the number in the spool although no
 * runner host was seen yet, as while the database is away, without which no runner host can begin. Where one host works
 * alone, it always has the whole limits. */
LimitShare *limit_share_new(Spool *spool, const Config *config, bool believed, GError **error);
void limit_share_free(LimitShare *share);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimitShare, limit_share_free)

/* Tell whether the part may change. If so, call limit_share_look() every now and then. */
bool limit_share_changes(const LimitShare *share);

/* Return the number of equal parts of each limit, of which the process may use one from now on; 0: it may send nothing.
 * When the part became smaller, call limit_share_kept() as soon as the process keeps to it. */
unsigned limit_share_look(LimitShare *share);

/* Mark that the process uses no more than the part that limit_share_look() returned last, so that other hosts may have
 * the rest. */
void limit_share_kept(LimitShare *share);

/* For the runner host, after it wrote the number of parts into the spool at its start: let the processes of this host
 * use that number. Return a descriptor, which the runner keeps open as long as it lives; -1: FAIL_LATER. */
int limit_share_begin(Spool *spool, GError **error);

/* For the runner host: set *in_use to whether a process of this host still uses, or may use, more than one of so many
 * parts; with parts 0, whether one uses anything. */
bool limit_share_in_use(Spool *spool, unsigned parts, bool *in_use, GError **error);
