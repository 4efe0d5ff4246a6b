/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Tell what is known to be wrong with the file system below a directory that must survive a power cut: btrfs without
 * the mount option notreelog (t/switchboard/PROOF.md, "Power cuts and storms"), or a file system that hosts share.
 * Linux only; where the system does not tell how the directory is mounted, nothing is known.
 *
 * Results are g_free()'d; NULL: nothing is known to be wrong.
 */
#include <stdbool.h>
#include <stdint.h>

/* Return the fault of the file system below path, as a sentence for people. */
char *mount_fault(const char *path);
/* Return the fault of the file system below path only when it is one that hosts share, as a sentence for people. */
char *mount_network_fault(const char *path);

/* Return the fault of the mount with this identity (the first field of its line) by a text in the form of
 * /proc/self/mountinfo. With network_only, do as mount_network_fault() does, else as mount_fault(). path is only for
 * the sentence. For tests, too. */
char *mount_fault_in(const char *mountinfo, uint64_t mount, const char *path, bool network_only);
