/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Test the runner lmtp as the master starts it: in a process of its own with inherited sockets. Tests talk to it over
 * TCP, IPv6 and a UNIX socket. Its store has the list test@example.com. Every failure ends the test.
 */
#include <glib.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "t/switchboard/fixture.h"

#define ENVELOPE "MAIL FROM:<anne@example.org>\r\nRCPT TO:<test@example.com>\r\nDATA\r\n"
#define MESSAGE "Message-ID: <1@example.org>\r\nSubject: x\r\n\r\n..dot\r\n.\r\n"

enum { SOCKET_IPV4, SOCKET_IPV6, SOCKET_UNIX, SOCKETS };

typedef struct LmtpRig {
    Fixture fixture;
    char *config, *database, *unix_path;
    int sockets[SOCKETS];
    int status;         /* our end of the status pipe */
    rlim_t descriptors; /* limit of open files for the runner; 0: that of the test */
    unsigned instances; /* the number of instances that the runner is told; 0: none */
    bool ipv6;          /* this host has IPv6 */
    pid_t pid;
} LmtpRig;

/* Make spool, store and sockets, and remove them: for g_test_add(). The runner is not started yet. */
void rig_set_up(LmtpRig *rig, gconstpointer data);
void rig_tear_down(LmtpRig *rig, gconstpointer data);

/* Write the configuration with further lines for [lmtp] and [spool]. Call it before rig_start(). */
void rig_configure(LmtpRig *rig, const char *lmtp, const char *spool);
/* Start the runner and wait until it is ready. */
void rig_start(LmtpRig *rig);
/* Send the runner SIGTERM, and wait for its end. */
void rig_stop(LmtpRig *rig);
/* Wait for the runner's end. */
void rig_wait_end(LmtpRig *rig);
/* Return the text that the runner has written to its status pipe by now, at least one line; "" at its end. g_free() */
char *rig_status(LmtpRig *rig);

/* Connect to a socket (SOCKET_IPV4 ...) as a client; the test closes the connection. */
int rig_dial(LmtpRig *rig, int which);
/* Connect as a client and say LHLO; the test closes the connection. */
int rig_greet(LmtpRig *rig, int which);
void client_say(int fd, const char *text);
/* Read until a whole line begins with this reply code. Return all that was read; g_free(). */
char *client_hear(int fd, const char *code);
/* Read as client_hear() does, and drop the text. */
void client_expect(int fd, const char *code);
/* Read until the server closes the connection, and close it. */
void client_expect_end(int fd);
