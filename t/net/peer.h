/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Test the SMTP client (net/smtp_client.h) against a peer that follows a script, in a thread of its own. An Owner has
 * the client and the peer, and writes down what the client reports. Each line of the script is one of
 *   < TEXT    this line must come
 *   = TEXT    these bytes must come (no line end)
 *   > TEXT    say this line
 *   + TEXT    say these bytes
 *   tls       be the server of a TLS handshake, which must succeed
 *   tls fails be the server of a TLS handshake, which must fail
 *   accept    close, and take the next connection
 *   wait      wait for the client to close; it must send nothing more
 *   drain     wait for the client to close, whatever it sends
 *   close     close the connection
 */
#include <glib.h>
#include <openssl/ssl.h>

#include "base/clock.h"
#include "net/smtp_client.h"

typedef struct Peer {
    int listener; /* -1: none */
    int fd;
    int window; /* bytes of its receive buffer over TCP; 0: the system's */
    SSL_CTX *context;
    SSL *ssl;
    const char *const *script;
    GThread *thread;
} Peer;

typedef struct Owner {
    struct event_base *base;
    SmtpSettings settings;
    const char *const *recipients; /* of each transaction */
    SmtpTransaction transaction;   /* what goes beyond sender, recipients and body */
    const char *sender;
    SmtpBody *body;
    unsigned transactions; /* the number that is still to be given to the client */
    unsigned behind;       /* transactions more that are sent together with each one */
    /* The report, as text: "0 sent 2.0.0 250 2.0.0 ok\n" a recipient. */
    GString *report;
    Peer peer;
    SmtpClient *client;
    char *tls; /* of the last connection that was ready */
} Owner;

extern const SmtpHandler owner_handler;

/* Return an owner of one transaction with this message, from list@example.com to a@example.com and b@example.com. */
Owner *owner_new(const char *message);
void owner_free(Owner *owner);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Owner, owner_free)

/* Run the client over a socket pair until it has closed and the peer has come to the end of its script. Then read
 * owner->report. A peer that sees something else than its script says fails the test. */
void owner_run(Owner *owner, const char *const *script);
/* Run the client as owner_run() does, over TCP. The script has "accept" for each connection. */
void owner_run_tcp(Owner *owner, const char *const *script);

/* Give the peer a certificate for `name` that it signs itself, valid from first_day to last_day, in days from now.
 * Return the path of a PEM file with it, by which the client may trust the peer; unlink and g_free() it. */
char *owner_certify(Owner *owner, const char *name, int first_day, int last_day);

/* Run a new owner of the message "x\r\n.y\r\n" with this script, and assert that its report is this text. */
void expect(const char *const *script, const char *report);

#define SCRIPT(...) ((const char *const[]){__VA_ARGS__, NULL})
#define HELLO "> 220 hi", "< EHLO me.example"
#define PIPE HELLO, "> 250-peer", "> 250-SIZE 1000", "> 250-8bitmime", "> 250 PIPELINING"
#define GROUP \
    "< MAIL FROM:<list@example.com> SIZE=7", "< RCPT TO:<a@example.com>", "< RCPT TO:<b@example.com>", "< DATA"
#define BODY "< x", "< ..y", "< ."
#define BYE "< QUIT", "wait"
