/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Send mail over one SMTP or LMTP connection, driven by a libevent loop. The owner makes the client, is told when it is
 * ready, gives it one transaction at a time, and is told the result for each recipient.
 *
 *   smtp_client_new() -> ready -> smtp_client_send() -> result (for each
 *   recipient, exactly once) -> done -> ready -> ... -> closed
 *
 * After `ready` the connection waits until the owner sends, quits or frees it. All callbacks come from the loop, never
 * from inside smtp_client_new(), _send() or _quit(). From `ready` the owner may call smtp_client_send(), and from any
 * callback smtp_client_quit(). The client frees itself after `closed` has returned. smtp_client_free() ends it earlier
 * and calls nothing; it must not be called from a callback.
 *
 * A message or recipient that the server has announced it cannot take (SIZE, 8BITMIME, SMTPUTF8) is refused here
 * without asking the server. The domain of an address whose local part is ASCII is sent in A-labels, which need no
 * SMTPUTF8.
 *
 * Where the server announces PIPELINING, MAIL, all RCPT and DATA are sent together, and replies are read as they come.
 * With CHUNKING a small message is sent with them, and so are further transactions if the owner wants that
 * (smtp_client_send_behind()). A server that fails to handle this may answer 500, 502 or 503 to the later commands; the
 * result says then that the mail was not judged.
 */
#include <event2/event.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "net/smtp_auth.h"
#include "net/smtp_body.h"
#include "net/smtp_reply.h"
#include "net/smtp_tls.h"

typedef struct SmtpClient SmtpClient;

/* The phase of a conversation. */
typedef enum SmtpPhase {
    SMTP_CONNECT,
    SMTP_GREETING,
    SMTP_HELO, /* EHLO, LHLO or HELO */
    SMTP_TLS,  /* STARTTLS and the handshake */
    SMTP_AUTH,
    SMTP_IDLE,
    SMTP_MAIL,
    SMTP_RCPT,
    SMTP_DATA, /* the command and its reply */
    SMTP_BODY, /* the bytes of the message */
    SMTP_DOT,  /* the reply, or LMTP's replies, to the end of data */
    SMTP_RSET,
    SMTP_QUIT,
    SMTP_PHASES,
} SmtpPhase;

typedef enum SmtpProtocol {
    SMTP_PROTOCOL_SMTP,
    SMTP_PROTOCOL_LMTP, /* RFC 2033 */
} SmtpProtocol;

typedef enum SmtpTlsLevel {
    SMTP_TLS_NONE,    /* never */
    SMTP_TLS_MAY,     /* where the server offers it; whoever it is; in clear text if it fails */
    SMTP_TLS_REQUIRE, /* no mail without it; whoever the server is */
    SMTP_TLS_VERIFY,  /* no mail unless the server has a valid certificate in its name */
} SmtpTlsLevel;

/* The settings that all connections to one server share; they must outlive these. A field of 0 or NULL is not used. */
typedef struct SmtpSettings {
    const char *server;    /* how the log names it: "relay.example.com" */
    const char *helo_name; /* our own name */
    /* The longest wait for any progress, by phase, in microseconds; 0: no limit. That of SMTP_IDLE closes a connection
     * that nobody uses. */
    int64_t timeouts[SMTP_PHASES];
    SmtpProtocol protocol;
    bool chunking;         /* BDAT instead of DATA where the server offers it */
    bool no_pipelining;    /* not even where the server offers it */
    bool helo;             /* HELO at once, without EHLO before */
    SmtpTlsLevel tls;
    bool tls_at_once;      /* TLS before the greeting (port 465), not by STARTTLS */
    const SmtpTls *tls_context; /* wanted unless tls is SMTP_TLS_NONE */
    const char *tls_name;  /* for SNI and of the certificate; NULL: the server's */
    const char *auth_user; /* NULL: no AUTH. No mail without success */
    const char *auth_password;
    unsigned auth_mechanisms; /* of SmtpAuthMechanism; 0: all. The strongest that both know, no other after it */
    bool auth_in_clear;    /* also without TLS */
} SmtpSettings;

typedef enum SmtpVerdict {
    SMTP_SENT,  /* the server took it over */
    SMTP_LATER, /* 4xx, or anything that is wrong with the connection */
    SMTP_NEVER, /* 5xx for this recipient or message */
} SmtpVerdict;

/* An extension that a server announced but cannot do. The owner should do without it from now on (SmtpSettings). */
typedef enum SmtpFallback {
    SMTP_FALLBACK_NONE,
    SMTP_FALLBACK_CHUNKING,   /* it refused BDAT */
    SMTP_FALLBACK_PIPELINING, /* it said no more after the first of several commands */
    SMTP_FALLBACK_EHLO,       /* it closed the connection over EHLO */
} SmtpFallback;
typedef struct SmtpResult {
    SmtpVerdict verdict;
    SmtpPhase phase;    /* where it was decided */
    unsigned code;      /* of the reply; 0 when there was none */
    const char *status; /* "4.4.2"; its class agrees with verdict */
    const char *text;   /* for the log and the bounce, one line */
    const char *reply;  /* the server's own words, "550 5.1.1 ...", or text when there are none */
    bool connection;    /* the connection is to blame, not the recipient or the message */
    bool in_doubt;      /* lost after the server's host had the whole message: it may have been delivered */
    bool unstarted;     /* a kept connection turned out to be closed: nothing was tried, may be sent at once again */
    size_t accepted;    /* recipients of the transaction that the server had accepted before, at RCPT */
    SmtpFallback fallback; /* the mail was not judged, and may be sent at once without what this names */
    bool behind;        /* it failed only because it was sent behind another; it says nothing of the server's health */
} SmtpResult;

typedef struct SmtpHandler {
    void (*ready)(SmtpClient *client, void *data);
    /* Called once for each recipient, by its index in the transaction. The result lives until the callback returns. */
    void (*result)(SmtpClient *client, size_t index, const SmtpResult *result, void *data);
    /* Every recipient of the transaction has been reported; what it borrowed is free. */
    void (*done)(SmtpClient *client, void *data);
    /* The connection has ended. why->verdict is SMTP_SENT for an orderly end (QUIT, idle time over); else why says what
     * went wrong. */
    void (*closed)(SmtpClient *client, const SmtpResult *why, void *data);
} SmtpHandler;

/* Connect to address. The handler, settings and data are borrowed. */
SmtpClient *smtp_client_new(struct event_base *base, const struct sockaddr *address, socklen_t length,
                            const SmtpSettings *settings, const SmtpHandler *handler, void *data);

/* Make a client as smtp_client_new() does, on a connected stream socket, which becomes the client's. */
SmtpClient *smtp_client_adopt(struct event_base *base, int fd, const SmtpSettings *settings,
                              const SmtpHandler *handler, void *data);
void smtp_client_free(SmtpClient *client);

const char *smtp_client_peer(const SmtpClient *client); /* "relay.example.com[192.0.2.1]:25" */
unsigned smtp_client_transactions(const SmtpClient *client); /* begun so far */
/* Return true when the client takes no transaction now: it is in one, is not ready yet, or is leaving after being idle.
 * */
bool smtp_client_busy(const SmtpClient *client);
/* Return true when the client has sent QUIT. */
bool smtp_client_leaving(const SmtpClient *client);
/* Return "TLSv1.3 with cipher TLS_AES_256_GCM_SHA384 (256 bits), verified", borrowed; NULL: it is in clear text. */
const char *smtp_client_tls(const SmtpClient *client);

/* Delivery status notifications (RFC 3461): what they contain, and when they are wanted. The parameters are sent to a
 * server that knows DSN, and dropped for others. */
typedef enum SmtpRet { SMTP_RET_UNSET, SMTP_RET_FULL, SMTP_RET_HDRS } SmtpRet;

typedef enum SmtpNotify {
    SMTP_NOTIFY_NEVER = 1 << 0, /* alone */
    SMTP_NOTIFY_SUCCESS = 1 << 1,
    SMTP_NOTIFY_FAILURE = 1 << 2,
    SMTP_NOTIFY_DELAY = 1 << 3,
} SmtpNotify;

typedef struct SmtpTransaction {
    const char *sender; /* without angle brackets; "" for the null sender */
    size_t count;       /* recipients, at least 1 */
    /* Borrowed until done(); may be asked for the same index more than once. */
    const char *(*recipient)(void *data, size_t index, size_t *length);
    void *data;
    SmtpBody *body; /* a reference is taken */
    bool smtputf8;  /* the message itself needs it; for addresses the client sees for itself */
    /* Called when body has bytes above 127 and the server takes none (no 8BITMIME). Return the same message in 7 bits
     * as far as that is possible, a reference for the client; or NULL to have the message refused. When this function
     * is NULL, such a message is refused. */
    SmtpBody *(*body_7bit)(void *data);
    /* The delimiters by which a server that knows XVERP (Postfix) makes a sender for each recipient; NULL: it must
     * not. */
    const char *xverp;
    bool careful; /* the message goes out when every RCPT was answered, however small it is */
    SmtpRet ret;
    const char *envid; /* as it was given, not xtext; NULL: none */
    unsigned notify;   /* of SmtpNotify, for all recipients; 0: unset */
    /* The original address of a recipient (not NUL-terminated), or NULL; may itself be NULL: none has one. */
    const char *(*orcpt)(void *data, size_t index, size_t *length);
} SmtpTransaction;

/* Begin a transaction on a ready connection. The struct is copied; its strings are borrowed until done(). */
void smtp_client_send(SmtpClient *client, const SmtpTransaction *transaction);

/* Send one more transaction at once, behind the one that has just been given to smtp_client_send() or to this function,
 * without waiting for an answer. Its results are told after those of the one before. Returns false and does nothing
 * when the server lacks PIPELINING or CHUNKING. It does the same when one of the messages is large or must be changed
 * first, or when an LMTP transaction has more than one recipient. */
bool smtp_client_send_behind(SmtpClient *client, const SmtpTransaction *transaction);
/* Return true when smtp_client_send_behind() would take a transaction like the last one. */
bool smtp_client_takes_behind(const SmtpClient *client);

/* Send QUIT, at once or when the transaction in progress has ended. `closed` follows without waiting for the answer to
 * QUIT, because nothing depends on it and the connection would count meanwhile. */
void smtp_client_quit(SmtpClient *client);
