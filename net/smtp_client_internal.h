/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * What smtp_client.c (the connection) and smtp_transaction.c (MAIL to dot)
 * share. A command's reply is handed to whoever the phase belongs to; the
 * phases of a protocol extension (STARTTLS, AUTH, LHLO) belong between
 * SMTP_HELO and SMTP_IDLE, BDAT beside SMTP_BODY.
 */
#include <event2/bufferevent.h>

#include "net/smtp_client.h"

/* What the server announced. */
typedef enum SmtpExtension {
    SMTP_EXT_PIPELINING = 1 << 0,
    SMTP_EXT_SIZE = 1 << 1,
    SMTP_EXT_8BITMIME = 1 << 2,
    SMTP_EXT_SMTPUTF8 = 1 << 3,
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

struct SmtpClient {
    struct event_base *base;
    struct bufferevent *connection;
    struct event *timer;
    const SmtpSettings *settings;
    const SmtpHandler *handler;
    void *data;
    char *peer;
    char *tls;          /* what the log says of it; NULL: clear text */
    SmtpPhase phase;
    int64_t progress;   /* monotonic time of the last octet in or out */
    int connect_error;  /* errno of a connect that failed at once */
    bool helo_tried;    /* EHLO was refused */
    bool ending;        /* quit when the transaction is over */
    bool in_callback;   /* the loop is inside one of our callbacks */
    bool doomed;        /* free when the callback is over */
    unsigned extensions;
    uint64_t size_limit; /* 0: none */
    unsigned transactions;

    /* The transaction in progress. */
    bool active;         /* recipients are not all reported */
    SmtpTransaction transaction;
    SmtpBodyCursor cursor;
    const SmtpRefusal *refusal;
    GByteArray *fates;
    size_t next_rcpt;    /* whose reply is awaited */
    size_t awaited;      /* RCPT replies still to come after MAIL was refused */
    size_t accepted;
    bool mail_accepted;
    bool utf8;           /* SMTPUTF8 is asked for */
    GString *scratch;
    SmtpReply reply;
};

/* smtp_client.c */
void smtp_client_phase(SmtpClient *client, SmtpPhase phase);
void smtp_client_write(SmtpClient *client, const char *text, size_t length);
/* Wakes the timer as soon as the loop is reached. */
void smtp_client_soon(SmtpClient *client);
/* The connection is of no more use: reports what is open, then closed. */
void smtp_client_end(SmtpClient *client, const SmtpResult *why);
/* The same because of what the server said or did. */
void smtp_client_end_by_reply(SmtpClient *client);
void smtp_client_end_confused(SmtpClient *client);
/* The connection is free for the next transaction (or quits). */
void smtp_client_rest(SmtpClient *client);
void smtp_client_reset(SmtpClient *client); /* RSET first */

/* What the reply in hand means in this phase. The strings live as long as the verdict. */
typedef struct SmtpVerdictText {
    SmtpResult result;
    char status[SMTP_STATUS_SIZE];
    char *text;
    char *reply;
} SmtpVerdictText;

void smtp_client_judge(SmtpClient *client, SmtpVerdictText *judged);
void smtp_client_judge_clear(SmtpVerdictText *judged);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SmtpVerdictText, smtp_client_judge_clear)

/* smtp_tls.c: what OpenSSL means; g_free() */
char *smtp_tls_problem(unsigned long code);

/* smtp_transaction.c */
void smtp_transaction_reply(SmtpClient *client);
void smtp_transaction_drained(SmtpClient *client); /* all output is with the kernel */
void smtp_transaction_refuse(SmtpClient *client);  /* acts on client->refusal */
/* Reports every recipient not yet reported, and done. */
void smtp_transaction_end(SmtpClient *client, const SmtpResult *result);
