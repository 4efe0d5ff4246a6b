/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Close descriptors when their scope ends, for which GLib 2.74 has no macro. Declare the variable "auto_fd fd = ...";
 * auto_fd_steal() hands the descriptor on and leaves -1 behind. -1 is not closed.
 */
#include <unistd.h>

static inline void auto_fd_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static inline int auto_fd_steal(int *fd)
{
    int stolen = *fd;
    *fd = -1;
    return stolen;
}

#define auto_fd __attribute__((cleanup(auto_fd_close))) int
