/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare what the two files of the SMTP client share:
 *
 *   smtp_client.c       the connection and its timer, TLS, AUTH, from the greeting until the client is ready
 *   smtp_transaction.c  from MAIL to the reply to the message
 *
 * smtp_client.c reads the replies. In the phases SMTP_MAIL to SMTP_DOT it hands them to smtp_transaction_reply().
 */
#include <event2/bufferevent.h>
#include <openssl/ssl.h>

#include "net/smtp_client.h"

/* The extensions that the server may announce. */
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

/* The state of a recipient of a transaction. */
enum {
    FATE_OPEN,
    FATE_SYNTAX, /* refused here, because it would break the protocol */
    FATE_UTF8,   /* refused here, because the server knows no SMTPUTF8 */
    FATE_ACCEPTED, /* RCPT was answered with 2xx */
    FATE_REPORTED, /* the owner has its result */
};

/* A refusal that is made here, without the server, and reported from the loop. */
typedef struct SmtpRefusal {
    const char *status;
    const char *text;
} SmtpRefusal;

/* A transaction and its progress. */
typedef struct SmtpTurn {
    unsigned number;     /* in this connection, from 1 */
    bool active;         /* recipients are not all reported */
    SmtpTransaction transaction;
    SmtpBody *body;      /* the transaction's, or its 7-bit version */
    SmtpBodyCursor cursor;
    const SmtpRefusal *refusal;
    GByteArray *fates;
    size_t next_rcpt;    /* the recipient whose RCPT is answered next */
    size_t awaited;      /* replies to RCPT that are still to come after MAIL was refused */
    size_t accepted;     /* recipients that were accepted and are not reported yet */
    size_t taken_rcpt;   /* recipients that were accepted at RCPT */
    size_t next_dot;     /* LMTP: the recipient for whom the end of data is answered next */
    bool mail_accepted;
    bool bdat_ahead;     /* the whole message was sent together with the commands */
    bool data_unsaid;    /* DATA has to be sent in place of BDAT */
    bool bdat_failed;    /* RSET is needed */
    bool behind;         /* it was written behind another transaction */
    bool taken;          /* the last reply to its message was 2xx */
    bool out_of_step;    /* LMTP: it was refused before the dot, so the replies after the dot cannot be told apart */
    bool utf8;           /* SMTPUTF8 is asked for */
    uint64_t end;        /* where its message ends in the bytes of this connection; valid once the cursor has ended */
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
    socklen_t address_length; /* 0: the caller gave the socket */
    SmtpPhase phase;
    int64_t progress;   /* monotonic time of the last byte sent or reply received */
    uint64_t written;   /* bytes given to the kernel in this connection */
    uint64_t gone;      /* bytes that the peer had acknowledged when last asked */
    int connect_error;  /* errno of a connect() that failed at once */
    bool helo_tried;    /* EHLO was refused */
    bool ending;        /* quit when the transaction is over */
    bool in_callback;   /* the loop is inside one of our callbacks */
    bool doomed;        /* free the client when the callback is over */
    unsigned transactions;

    /* The session. */
    unsigned extensions;
    unsigned mechanisms; /* of AUTH that were offered */
    uint64_t size_limit; /* 0: none */
    bool pipelining;
    bool upgrade;        /* STARTTLS was accepted: the handshake comes next */
    bool in_clear;       /* TLS has failed and is not tried again */
    char *tls;           /* a description for the log; NULL: clear text */
    SSL *ssl;            /* of the connection */
    SmtpAuth *auth;      /* while AUTH goes on */

    SmtpTurn turn;       /* the transaction in progress */
    GQueue behind;       /* of SmtpTurn: transactions written behind it, each after a RSET */
    GString *scratch;
    SmtpReply reply;
};

/* smtp_client.c */

void smtp_client_phase(SmtpClient *client, SmtpPhase phase); /* enter the phase, and start its time limit */
/* Make the connection ready for the next transaction, or quit. A transaction that was written behind goes on. */
void smtp_client_rest(SmtpClient *client);
/* Send RSET, whose reply leads to smtp_client_rest(). A transaction that was written behind has sent it already. */
void smtp_client_reset(SmtpClient *client);
/* End the connection because of the current reply: report the open recipients, then that the connection is closed. */
void smtp_client_end_by_reply(SmtpClient *client);
/* End the connection in the same way because the replies make no sense. */
void smtp_client_end_confused(SmtpClient *client);

/* The meaning of the current reply in this phase. The strings live as long as the verdict. */
typedef struct SmtpVerdictText {
    SmtpResult result;
    char status[SMTP_STATUS_SIZE];
    char *text;
    char *reply;
} SmtpVerdictText;

void smtp_client_judge(SmtpClient *client, SmtpVerdictText *judged);
void smtp_client_judge_clear(SmtpVerdictText *judged);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SmtpVerdictText, smtp_client_judge_clear)

/* smtp_transaction.c */

/* Handle a line that is no reply, by failing the recipient whose RCPT is answered next. Return false, and do nothing,
 * when the line may belong to anything else. */
bool smtp_transaction_odd_line(SmtpClient *client);
void smtp_transaction_reply(SmtpClient *client);   /* act on the current reply */
void smtp_transaction_drained(SmtpClient *client); /* the output is empty: write on the message, or await its reply */
void smtp_transaction_refuse(SmtpClient *client);  /* report turn.refusal */
/* Return true when the kernel has the whole message. */
bool smtp_transaction_sent(const SmtpClient *client);
/* Make the first transaction that was written behind the one in progress. */
void smtp_transaction_next(SmtpClient *client);
void smtp_transaction_clear(SmtpTurn *turn); /* free what it holds, and report nothing */
/* Report this result for every recipient that is not reported yet, then done. Nothing happens when it is over. */
void smtp_transaction_end(SmtpClient *client, const SmtpResult *result);
