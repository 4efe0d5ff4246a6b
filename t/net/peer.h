/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * For the tests of the SMTP client: a peer that follows a script, in a thread
 * of its own, and an owner that writes down what it is told. Each line of the script is one of
 *   < TEXT    this line must come
 *   = TEXT    these bytes must come (no line end)
 *   > TEXT    say this line
 *   + TEXT    say these bytes
 *   tls       be the server of a TLS handshake, which must succeed
 *   tls fails be one that must not
 *   accept    close, and take the next connection
 *   wait      for the client to close, saying no more
 *   drain     the same, whatever it says
 *   close
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
    unsigned transactions; /* to do */
    unsigned behind;       /* more in the flight of each */
    /* The report, as text: "0 sent 2.0.0 250 2.0.0 ok\n" a recipient. */
    GString *report;
    Peer peer;
    SmtpClient *client;
    char *tls; /* of the last connection that was ready */
} Owner;

extern const SmtpHandler owner_handler;

/* One transaction from list@example.com to a@example.com and b@example.com. */
Owner *owner_new(const char *message);
void owner_free(Owner *owner);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Owner, owner_free)

/* Runs until the client has closed and the peer has come to the end of its script: over a socket
 * pair, or over TCP ("accept" for each connection). */
void owner_run(Owner *owner, const char *const *script);
void owner_run_tcp(Owner *owner, const char *const *script);

/* A certificate for name, signed by itself, its days from now. The peer shows it; the file (in PEM, to be
 * unlinked and freed) is what trusts it. */
char *owner_certify(Owner *owner, const char *name, int first_day, int last_day);

/* With "x\r\n.y\r\n". */
void expect(const char *const *script, const char *report);

#define SCRIPT(...) ((const char *const[]){__VA_ARGS__, NULL})
#define HELLO "> 220 hi", "< EHLO me.example"
#define PIPE HELLO, "> 250-peer", "> 250-SIZE 1000", "> 250-8bitmime", "> 250 PIPELINING"
#define GROUP \
    "< MAIL FROM:<list@example.com> SIZE=7", "< RCPT TO:<a@example.com>", "< RCPT TO:<b@example.com>", "< DATA"
#define BODY "< x", "< ..y", "< ."
#define BYE "< QUIT", "wait"
