/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/control.h"

#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fail.h"

bool control_may_command(int fd, GError **error)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return fail_errno(error, FAIL_LATER, "ask who is at the other end of the socket");
    if (peer.uid == 0 || peer.uid == geteuid())
        return true;
    const struct passwd *own = getpwuid(geteuid());
    return fail(error, FAIL_NEVER, "only root and the user %s may do that; others may ask for the status and for "
                "figures", own ? own->pw_name : "that runs Listrunner");
}
