/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare what the files of the SMTP client share:
 *
 *   smtp_client.c       the connection and its timer
 *   smtp_session.c      from the greeting until the client is ready, and between transactions
 *   smtp_handshake.c    TLS
 *   smtp_transaction.c  from MAIL to the reply to the message
 *   smtp_envelope.c     the commands of a transaction
 *   smtp_judge.c        the meaning of a reply
 *   smtp_tls.c          what OpenSSL needs to know
 *
 * smtp_client.c reads the replies. In the phases before SMTP_IDLE and in SMTP_RSET it hands them to
 * smtp_session_reply(), in SMTP_MAIL to SMTP_DOT to smtp_transaction_reply().
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

extern const SmtpRefusal smtp_refuse_recipients; /* each recipient is refused for a reason of its own */

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
void smtp_client_write(SmtpClient *client, const char *text, size_t length); /* append to the output */
/* Append the command to the output, and enter the phase in which its reply is awaited. */
void smtp_client_say(SmtpClient *client, SmtpPhase phase, const char *command);
/* Call the timer as soon as the loop runs again. */
void smtp_client_soon(SmtpClient *client);
/* Replace the bufferevent by one on the same socket, which becomes the client's. */
void smtp_client_replace(SmtpClient *client, struct bufferevent *connection);
/* Drop the connection and make a new one to the same address. */
void smtp_client_reconnect(SmtpClient *client);
/* End the connection because of the current reply: report the open recipients, then that the connection is closed. */
void smtp_client_end_by_reply(SmtpClient *client);
/* End the connection in the same way because the replies make no sense. */
void smtp_client_end_confused(SmtpClient *client);
/* End the connection in the same way for a reason of our own, whose text is consumed. */
void smtp_client_end_by_us(SmtpClient *client, const char *status, char *text);

/* smtp_judge.c: the meaning of the current reply in this phase. The strings live as long as the verdict. */
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
void smtp_session_start(SmtpClient *client); /* begin on a new connection, in clear text or with TLS at once */
void smtp_session_reply(SmtpClient *client); /* act on the current reply */
void smtp_session_greet(SmtpClient *client); /* send EHLO, LHLO or HELO */
/* Make the connection ready for the next transaction, or quit. A transaction that was written behind goes on. */
void smtp_session_rest(SmtpClient *client);
/* Send RSET, whose reply leads to smtp_session_rest(). A transaction that was written behind has sent it already. */
void smtp_session_reset(SmtpClient *client);
/* Go on after TLS failed: in clear text over a new connection where that is allowed, else end. why is consumed. */
void smtp_session_tls_failed(SmtpClient *client, char *why);

/* smtp_handshake.c */
void smtp_handshake_start(SmtpClient *client);
void smtp_handshake_done(SmtpClient *client);           /* note what was agreed, and go on with the session */
char *smtp_handshake_problem(const SmtpClient *client); /* return why it failed, for people; g_free() */

/* smtp_tls.c */
SSL *smtp_tls_session(const SmtpTls *tls); /* return a new session, which SSL_free() or its bufferevent frees */
/* Set the host name or numeric address that the certificate must be for. With verify, any other certificate ends the
 * handshake. */
void smtp_tls_name(SSL *ssl, const char *name, bool verify);
char *smtp_tls_problem(unsigned long code); /* an error of OpenSSL as text; g_free() */

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

/* smtp_envelope.c */
/* Return the refusal to make without asking the server, or NULL; set fates, body and utf8 of the turn. */
const SmtpRefusal *smtp_envelope_check(const SmtpClient *client, SmtpTurn *turn);
/* Append the command MAIL of the turn to client->scratch. */
void smtp_envelope_mail(SmtpClient *client, const SmtpTurn *turn);
/* Append the command RCPT for the recipient at index to client->scratch. */
void smtp_envelope_rcpt(SmtpClient *client, const SmtpTurn *turn, size_t index);
