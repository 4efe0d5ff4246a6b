/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Take mail by LMTP in a program that the master (master/supervisor.h) did not start, such as a tool in a terminal. The
 * door listens on an address, takes each message whole, for whatever recipients, and hands it to its owner, who answers
 * at once. Everything runs in one thread, in lmtp_door_run().
 *
 * Nothing is refused for good except what lmtp_server.h refuses by itself: a message above the limit, or a command that
 * breaks the protocol. So the host that hands in copies has no cause to send a bounce to the author of a mail.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/lmtp_server.h"

typedef struct LmtpDoor LmtpDoor;

typedef struct LmtpDoorOwner {
    /* Take a whole message, borrowed until the return. Return NULL when it is taken, else the reply for all recipients,
     * "451 4.3.0 ...", which is static. */
    const char *(*message)(const LmtpTransaction *transaction, void *data);
    /* Do other work. It is called once a second, and again at once while it returns true. */
    bool (*tick)(void *data);
    void *data;
} LmtpDoorOwner;

/* Listen on "127.0.0.1:8034", "[::1]:8034" or "localhost:8034". All arguments are copied, but owner->data is borrowed.
 * FAIL_NEVER: it is no address; FAIL_LATER: the address cannot be used, and the message says why. */
LmtpDoor *lmtp_door_open(const char *address, const char *hostname, const LmtpLimits *limits,
                         const LmtpDoorOwner *owner, GError **error);
void lmtp_door_free(LmtpDoor *door);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LmtpDoor, lmtp_door_free)

/* Serve until SIGTERM or SIGINT, then return at once. lmtp_door_free() closes the sessions that are still open. */
void lmtp_door_run(LmtpDoor *door);
