/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * What the parts of the client share: smtp_client.c (the connection and its
 * clock), smtp_session.c (from the greeting until it is ready, and between
 * transactions), smtp_handshake.c (TLS), smtp_transaction.c (MAIL to dot),
 * smtp_envelope.c (what its commands say). A command's reply is handed to
 * whoever the phase belongs to.
 */
#include <event2/bufferevent.h>
#include <openssl/ssl.h>

#include "net/smtp_client.h"

/* What the server announced. */
typedef enum SmtpExtension {
    SMTP_EXT_PIPELINING = 1 << 0,
    SMTP_EXT_SIZE = 1 << 1,
    SMTP_EXT_8BITMIME = 1 << 2,
    SMTP_EXT_SMTPUTF8 = 1 << 3,
    SMTP_EXT_CHUNKING = 1 << 4,
    SMTP_EXT_DSN = 1 << 5,
    SMTP_EXT_STARTTLS = 1 << 6,
    SMTP_EXT_XVERP = 1 << 7,
} SmtpExtension;

/* What is known of a recipient of the transaction in progress. */
enum {
    FATE_OPEN,
    FATE_SYNTAX, /* refused here: would break the protocol */
    FATE_UTF8,   /* refused here: the server knows no SMTPUTF8 */
    FATE_ACCEPTED, /* RCPT was answered with 2xx */
    FATE_REPORTED,
};

/* A refusal of our own, reported from the loop. */
typedef struct SmtpRefusal {
    const char *status;
    const char *text;
} SmtpRefusal;

extern const SmtpRefusal smtp_refuse_recipients; /* each for its own reason */

/* A transaction, and how far it has come. */
typedef struct SmtpTurn {
    unsigned number;     /* in this connection, from 1 */
    bool active;         /* recipients are not all reported */
    SmtpTransaction transaction;
    SmtpBody *body;      /* the transaction's, or its 7-bit version */
    SmtpBodyCursor cursor;
    const SmtpRefusal *refusal;
    GByteArray *fates;
    size_t next_rcpt;    /* whose reply is awaited */
    size_t awaited;      /* RCPT replies still to come after MAIL was refused */
    size_t accepted;     /* and not yet told of */
    size_t taken_rcpt;   /* accepted at RCPT */
    size_t next_dot;     /* LMTP: whose reply to the end of data is awaited */
    bool mail_accepted;
    bool bdat_ahead;     /* the whole message was sent with the commands */
    bool data_unsaid;    /* DATA comes after all, instead of BDAT */
    bool bdat_failed;    /* RSET is needed */
    bool behind;         /* it was written behind another */
    bool taken;          /* the last reply to its message was 2xx */
    bool out_of_step;    /* LMTP: refused before the dot, so that nobody can tell which replies come after it */
    bool utf8;           /* SMTPUTF8 is asked for */
    uint64_t end;        /* of what was written in this connection, the end of its message; once the cursor is there */
} SmtpTurn;

struct SmtpClient {
    struct event_base *base;
    struct bufferevent *connection;
    struct event *timer;
    const SmtpSettings *settings;
    const SmtpHandler *handler;
    void *data;
    char *peer;
    struct sockaddr_storage address;
    socklen_t address_length; /* 0: the socket was given */
    SmtpPhase phase;
    int64_t progress;   /* monotonic time of the last octet out or reply in */
    uint64_t written;   /* octets given to the kernel in this connection */
    uint64_t gone;      /* those the peer's side had when last looked at */
    int connect_error;  /* errno of a connect that failed at once */
    bool helo_tried;    /* EHLO was refused */
    bool ending;        /* quit when the transaction is over */
    bool in_callback;   /* the loop is inside one of our callbacks */
    bool doomed;        /* free when the callback is over */
    unsigned transactions;

    /* What the session has. */
    unsigned extensions;
    unsigned mechanisms; /* of AUTH that were offered */
    uint64_t size_limit; /* 0: none */
    bool pipelining;
    bool upgrade;        /* STARTTLS was accepted: the handshake comes next */
    bool in_clear;       /* TLS has failed and is not tried again */
    char *tls;           /* what the log says of it; NULL: clear text */
    SSL *ssl;            /* the connection's */
    SmtpAuth *auth;      /* while it is going on */
    bool authenticated;

    SmtpTurn turn;       /* the transaction in progress */
    GQueue behind;       /* of SmtpTurn: written already, with RSET before each */
    GString *scratch;
    SmtpReply reply;
};

/* smtp_client.c */
void smtp_client_phase(SmtpClient *client, SmtpPhase phase);
void smtp_client_write(SmtpClient *client, const char *text, size_t length);
void smtp_client_say(SmtpClient *client, SmtpPhase phase, const char *command);
/* Wakes the timer as soon as the loop is reached. */
void smtp_client_soon(SmtpClient *client);
/* Puts a new bufferevent in the place of the old, which keeps its socket. */
void smtp_client_replace(SmtpClient *client, struct bufferevent *connection);
/* Drops the connection and makes a new one to the same address. */
void smtp_client_reconnect(SmtpClient *client);
/* End the connection, which is of no more use: report what is open, then that it is closed. The reason is the reply in
 * hand; that the replies make no sense; or one of ours (text is taken over). */
void smtp_client_end_by_reply(SmtpClient *client);
void smtp_client_end_confused(SmtpClient *client);
void smtp_client_end_by_us(SmtpClient *client, const char *status, char *text);

/* smtp_judge.c: what the reply in hand means in this phase. The strings live as long as the verdict. */
typedef struct SmtpVerdictText {
    SmtpResult result;
    char status[SMTP_STATUS_SIZE];
    char *text;
    char *reply;
} SmtpVerdictText;

void smtp_client_judge(SmtpClient *client, SmtpVerdictText *judged);
void smtp_client_judge_clear(SmtpVerdictText *judged);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SmtpVerdictText, smtp_client_judge_clear)

/* smtp_session.c */
void smtp_session_start(SmtpClient *client); /* the connection stands, in clear text or TLS */
void smtp_session_reply(SmtpClient *client);
void smtp_session_greet(SmtpClient *client); /* EHLO or LHLO */
/* The connection is free for the next transaction (or quits); one that was written behind goes on. */
void smtp_session_rest(SmtpClient *client);
void smtp_session_reset(SmtpClient *client); /* RSET first */
/* TLS did not come about, for the reason why (taken over): goes on in clear text over a new connection, or ends. */
void smtp_session_tls_failed(SmtpClient *client, char *why);

/* smtp_handshake.c */
void smtp_handshake_start(SmtpClient *client);
void smtp_handshake_done(SmtpClient *client);
char *smtp_handshake_problem(const SmtpClient *client); /* g_free() */

/* smtp_tls.c */
SSL *smtp_tls_session(const SmtpTls *tls);
/* Whose certificate it has to be: that of a host, or of a numeric address. With verify any other ends the handshake. */
void smtp_tls_name(SSL *ssl, const char *name, bool verify);
char *smtp_tls_problem(unsigned long code); /* what OpenSSL means; g_free() */

/* smtp_transaction.c */
/* A line that is no reply has come; false: it cannot be put down to one recipient. */
bool smtp_transaction_odd_line(SmtpClient *client);
void smtp_transaction_reply(SmtpClient *client);
void smtp_transaction_drained(SmtpClient *client);
void smtp_transaction_refuse(SmtpClient *client);  /* acts on client->refusal */
/* The whole message is with the kernel. */
bool smtp_transaction_sent(const SmtpClient *client);
/* To the first of those behind, which has been written. */
void smtp_transaction_next(SmtpClient *client);
void smtp_transaction_clear(SmtpTurn *turn);
/* Reports every recipient not yet reported, and done. */
void smtp_transaction_end(SmtpClient *client, const SmtpResult *result);

/* smtp_envelope.c */
/* The refusal to make without troubling the server, or NULL; sets fates, body and utf8. */
const SmtpRefusal *smtp_envelope_check(SmtpClient *client);
void smtp_envelope_mail(SmtpClient *client); /* appends to scratch */
void smtp_envelope_rcpt(SmtpClient *client, size_t index);
