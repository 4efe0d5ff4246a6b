/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Restrict this process to the files that it names, by Landlock (Linux 5.19 and later). Gather what is allowed, then
 * apply it: everything else on any file system is refused with EACCES from then on, here and in all programs that this
 * process starts, and cannot be had back. Signals to processes outside are refused, too, where the kernel can do that
 * (Linux 6.12). Connecting to sockets, and asking whether a file exists, is not restricted.
 *
 * Only the calling thread and those that it makes later are restricted, so apply it before there are others.
 *
 * A rule belongs to the file or directory that bears the name now. One that is replaced later is another file, which
 * nothing allows. Therefore confine_watch() remembers names, and confine_changed() says when one means another file.
 *
 * A process that is not to be in anybody's way can also give up its priority (idle_become()).
 */
#include <glib.h>
#include <stdbool.h>

typedef struct Confine Confine;

/* The right to a directory is also one to all below it. */
typedef enum ConfineRight {
    CONFINE_LIST,    /* directories may be read */
    CONFINE_READ,    /* files and directories may be read */
    CONFINE_RUN,     /* files and directories may be read, and programs run */
    CONFINE_SOCKETS, /* directories may be read, UNIX sockets made, and names removed */
    CONFINE_WRITE,   /* files may be read, made, changed, renamed and removed, but no programs run */
} ConfineRight;

/* Return false where the kernel cannot do it; *why (static) says for what reason. */
bool confine_possible(const char **why);

Confine *confine_new(void);
void confine_free(Confine *confine);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Confine, confine_free)

/* Allow this right for the file or directory at path, through symbolic links. A path where nothing is, or that this
 * process may not reach anyway, is passed over. Several rights of one file add up. */
void confine_allow(Confine *confine, ConfineRight right, const char *path);

/* Have confine_changed() look at this name, whether there is a file or not. Of a symbolic link, the file behind it
 * counts. */
void confine_watch(Confine *confine, const char *path);
/* Watch a name as confine_watch() does, but of a symbolic link the link itself counts: for a link that may lead
 * elsewhere, to files that are allowed as well. */
void confine_watch_link(Confine *confine, const char *path);

/* Put the restriction into force for the rest of the life of this process. FAIL_LATER: the kernel refused it, or one of
 * its rules. */
bool confine_apply(Confine *confine, GError **error);

/* Return a watched name that has come to mean another file since confine_apply(), borrowed; NULL: none has. A name with
 * no file behind it at this moment does not count. */
const char *confine_changed(void);

/* Give the calling thread, and the threads and processes that it starts later, the lowest priority: they get only the
 * time of processor and disk that nobody else wants. When the system does not allow that, nothing changes. */
void idle_become(void);
