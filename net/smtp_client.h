/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The client's side of one SMTP connection, driven by a libevent loop. The
 * owner connects it, is told when it is ready, gives it one transaction at a
 * time, and is told what became of each recipient.
 *
 *   smtp_client_new() -> ready -> smtp_client_send() -> result (for each
 *   recipient, exactly once) -> done -> ready -> ... -> closed
 *
 * After `ready` the connection waits until the owner sends, quits or frees it. Nothing is
 * reported from inside smtp_client_new(), _send() or _quit(); everything
 * comes later, from the loop.
 *
 * The client frees itself after `closed` has returned; smtp_client_free() is
 * for letting go earlier, silently, and not from inside a callback. In a
 * callback the owner may call smtp_client_send() (from ready) and smtp_client_quit().
 *
 * A message or recipient that the server has announced it cannot take (SIZE, 8BITMIME, SMTPUTF8) is
 * refused here, without troubling it.
 *
 * PIPELINING is used where the server announces it: MAIL, all RCPT and DATA go out in
 * one piece while replies are read as they come.
 */
#include <event2/event.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "net/smtp_body.h"
#include "net/smtp_reply.h"

typedef struct SmtpClient SmtpClient;

/* Where a conversation stands; names for people come from smtp_phase_name(). */
typedef enum SmtpPhase {
    SMTP_CONNECT,
    SMTP_GREETING,
    SMTP_HELO, /* EHLO or HELO */
    SMTP_IDLE,
    SMTP_MAIL,
    SMTP_RCPT,
    SMTP_DATA, /* the command and its reply */
    SMTP_BODY, /* the octets of the message */
    SMTP_DOT,  /* the reply to the end of data */
    SMTP_RSET,
    SMTP_QUIT,
    SMTP_PHASES,
} SmtpPhase;

const char *smtp_phase_name(SmtpPhase phase);

/* Shared by all connections to one server, must outlive them. */
typedef struct SmtpSettings {
    const char *server;    /* how the log names it: "relay.example.com" */
    const char *helo_name; /* our own name */
    /* The longest wait for any progress, by phase, in microseconds; 0: no
     * limit. That of SMTP_IDLE closes a connection nobody uses. */
    int64_t timeouts[SMTP_PHASES];
} SmtpSettings;

typedef enum SmtpVerdict {
    SMTP_SENT,  /* the server took it over */
    SMTP_LATER, /* 4xx, or anything that is wrong with the connection */
    SMTP_NEVER, /* 5xx for this recipient or message */
} SmtpVerdict;

typedef struct SmtpResult {
    SmtpVerdict verdict;
    SmtpPhase phase;    /* where it was decided */
    unsigned code;      /* of the reply; 0 when there was none */
    const char *status; /* "4.4.2"; its class agrees with verdict */
    const char *text;   /* for the log and the bounce, one line */
    const char *reply;  /* the server's own words, "550 5.1.1 ...", or text when there are none */
    bool connection;    /* the connection is to blame, not the recipient or the message */
    bool in_doubt;      /* lost after the end of data: it may have been delivered */
    bool unstarted;     /* a kept connection turned out to be closed: nothing was tried, may be sent at once again */
} SmtpResult;

typedef struct SmtpHandler {
    void (*ready)(SmtpClient *client, void *data);
    /* Recipient number index of the transaction has its fate. The result lives until the
     * callback returns. */
    void (*result)(SmtpClient *client, size_t index, const SmtpResult *result, void *data);
    /* Every recipient of the transaction has been reported; what it borrowed is free. */
    void (*done)(SmtpClient *client, void *data);
    /* The end. why->verdict is SMTP_SENT for an orderly one (quit, idle time over), else what
     * went wrong. */
    void (*closed)(SmtpClient *client, const SmtpResult *why, void *data);
} SmtpHandler;

/* Connects to address. The handler, settings and data are borrowed. */
SmtpClient *smtp_client_new(struct event_base *base, const struct sockaddr *address, socklen_t length,
                            const SmtpSettings *settings, const SmtpHandler *handler, void *data);

/* The same on a connected stream socket, which becomes the client's. */
SmtpClient *smtp_client_adopt(struct event_base *base, int fd, const SmtpSettings *settings,
                              const SmtpHandler *handler, void *data);
void smtp_client_free(SmtpClient *client);

void *smtp_client_data(const SmtpClient *client);
const char *smtp_client_peer(const SmtpClient *client); /* "relay.example.com[192.0.2.1]:25" */
unsigned smtp_client_transactions(const SmtpClient *client); /* begun so far */
bool smtp_client_busy(const SmtpClient *client); /* in a transaction, or not ready yet */

typedef struct SmtpTransaction {
    const char *sender; /* without angle brackets; "" for the null sender */
    size_t count;       /* recipients, at least 1 */
    /* Borrowed until done(); may be asked for the same index more than once. */
    const char *(*recipient)(void *data, size_t index, size_t *length);
    void *data;
    SmtpBody *body; /* a reference is taken */
    bool smtputf8;  /* the message itself needs it; for addresses the client sees for itself */
} SmtpTransaction;

/* Begins a transaction on a ready connection; the struct is copied. */
void smtp_client_send(SmtpClient *client, const SmtpTransaction *transaction);

/* QUIT when the transaction in progress, if any, is over; then closed. */
void smtp_client_quit(SmtpClient *client);
