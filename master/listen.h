/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Bind the listening sockets of runners in the master, so that low ports need no root in a runner and a restart of a
 * runner refuses nobody. Each is known by its text in the configuration: HOST:PORT, [v6]:PORT or unix:PATH. A reload
 * that names the same text keeps its sockets. A host name has a socket for each of its addresses, and * one for each
 * family. Texts that mean the same address share its socket.
 */
#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct Listen Listen;

/* The files of UNIX sockets that a master binds as root are given to this group. */
Listen *listen_new(gid_t group);
void listen_free(Listen *sockets); /* closes all, removes the files of UNIX sockets */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Listen, listen_free)

/* Bind all sockets of the text, if it is not bound yet. Addresses of a family that the machine lacks are left out if
 * there are others. The file of a UNIX socket on which nobody answers is removed first; mode is that of the new one.
 * FAIL_CONFIG with the address and the reason. */
bool listen_add(Listen *sockets, const char *address, mode_t mode, GError **error);

/* Bind one UNIX socket, remove a stale file before as listen_add() does, and return the descriptor, which is the
 * caller's. Nobody can connect before the mode is set. -1 with FAIL_CONFIG: it cannot be bound. */
int listen_unix(const char *path, mode_t mode, GError **error);

/* Bind the UNIX socket anew, with this mode, whose file is gone; *renewed says whether. Another address, and one whose
 * file is there, stays as it is. FAIL_CONFIG: it cannot be bound now, and the old one is kept. */
bool listen_renew(Listen *sockets, const char *address, mode_t mode, bool *renewed, GError **error);

/* Append to fds (of int) the descriptors of this text that are not in it yet; they stay ours. False: the text was never
 * added. */
bool listen_fds(const Listen *sockets, const char *address, GArray *fds);

/* Close the sockets that belong to none of the texts in the set `wanted`. */
void listen_keep(Listen *sockets, GHashTable *wanted);
