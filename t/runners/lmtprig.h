/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The LMTP runner as the master starts it: a process of its own with
 * inherited sockets, talked to through TCP, IPv6 and a UNIX socket. Its store
 * has the list test@example.com. Every failure ends the test.
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
    rlim_t descriptors; /* 0: as we have them */
    unsigned instances; /* what the runner is told; 0: nothing */
    bool ipv6;          /* this host has it */
    pid_t pid;
} LmtpRig;

/* For g_test_add(). */
void rig_set_up(LmtpRig *rig, gconstpointer data);
void rig_tear_down(LmtpRig *rig, gconstpointer data);

/* Further keys of [lmtp] and [spool], before rig_start(). */
void rig_configure(LmtpRig *rig, const char *lmtp, const char *spool);
/* Starts the runner and waits until it is ready. */
void rig_start(LmtpRig *rig);
/* Sends SIGTERM and waits for the end; rig_wait_end() waits alone. */
void rig_stop(LmtpRig *rig);
void rig_wait_end(LmtpRig *rig);
/* Return the text that it wrote to its status pipe by now, at least one line; "" at the end. g_free() it. */
char *rig_status(LmtpRig *rig);

/* A client's connection, and one that has said LHLO. The test closes them. */
int rig_dial(LmtpRig *rig, int which);
int rig_greet(LmtpRig *rig, int which);
void client_say(int fd, const char *text);
/* Reads until a whole line begins with code; returns all that was read (g_free() it). */
char *client_hear(int fd, const char *code);
void client_expect(int fd, const char *code);
/* Reads until the server closes, and closes. */
void client_expect_end(int fd);
