/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Share types and functions among the files of smtp-sink, an SMTP or LMTP server for tests and benches. It accepts all
 * mail, fast, and misbehaves on demand. sink_session.c has the connections, sink_command.c the commands, sink_tls.c the
 * TLS, sink_fault.c the faults, and sink_store.c keeps mail. There is one process with one thread.
 *
 * A fault is one text: STAGE [p=PROBABILITY] [match=REGEX] [skip=N] [times=N] do ACTION
 *   STAGE   connect helo starttls handshake auth mail rcpt data dot rset quit, or any (every command);
 *           data is also BDAT
 *   match   rcpt and mail: the address must match; other stages: any recipient
 *           of the transaction; dot in LMTP: the one that the reply is for
 *   ACTION  a reply ("450 4.2.1 busy"; a 421 closes the connection after it), close, stall,
 *           reset (close with RST), half-close (end the sending side, go on reading), garbage (bytes that
 *           are no SMTP, NUL among them), endless (a reply that never ends)
 * The first fault whose conditions hold is taken. At dot, an ACTION that is no reply comes after the message was kept:
 * the mail was received, and the client never learns that.
 */
#include <event2/event.h>
#include <glib.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum SinkStage {
    STAGE_CONNECT, STAGE_HELO, STAGE_STARTTLS, STAGE_HANDSHAKE, STAGE_AUTH, STAGE_MAIL, STAGE_RCPT, STAGE_DATA,
    STAGE_DOT, STAGE_RSET, STAGE_QUIT, STAGE_ANY,
} SinkStage;

typedef enum SinkAction {
    ACTION_NONE, ACTION_REPLY, ACTION_CLOSE, ACTION_STALL, ACTION_RESET, ACTION_HALF_CLOSE, ACTION_GARBAGE,
    ACTION_ENDLESS,
} SinkAction;

typedef struct SinkFault {
    SinkStage stage;
    double probability;
    GRegex *match; /* NULL: everything */
    int64_t skip, times; /* times -1: for ever */
    SinkAction action;
    char *reply; /* with its line end */
} SinkFault;

/* Parse a fault; sink_fault_free(). NULL with *problem (g_free()): text is no fault. */
SinkFault *sink_fault_parse(const char *text, char **problem);
void sink_fault_free(SinkFault *fault);

typedef struct SinkStats {
    uint64_t connections, transactions, recipients, refused, octets;
    int64_t first, last; /* wall clock, us, of accepted transactions */
} SinkStats;

typedef struct Sink {
    struct event_base *base;
    GPtrArray *faults; /* of SinkFault */
    SinkStats stats;
    int latency_ms;    /* before each group of replies */
    int slow_read;     /* bytes read a second; 0: as fast as it goes */
    int dribble;       /* replies leave byte by byte */
    bool lmtp;
    char **offers;     /* further lines of EHLO */
    char **without;    /* keywords that are left out of it */
    SSL_CTX *tls;      /* NULL: no STARTTLS */
    char *password;    /* "user password" that AUTH wants; NULL: no AUTH */
    char *store, *maildir;
    int log_fd;        /* -1: none */
    uint64_t serial;   /* of kept transactions */
    uint64_t open;     /* connections now */
} Sink;

/* Return the fault that is to happen at this stage; NULL: none. It counts for skip and times. subject is the text that
 * `match` looks at; NULL: there is none. */
const SinkFault *sink_fault_find(Sink *sink, SinkStage stage, const char *subject);

/* Serve a connection, which is taken, on the sink's event base. */
void sink_session_start(Sink *sink, int fd);

/* Read certificate and key, both in the file at path. NULL: they are in force; else the reason why not (static). */
const char *sink_tls_load(Sink *sink, const char *path);

/* A whole message. */
typedef struct SinkMail {
    const char *from, *helo;
    const char *tls, *user;    /* the TLS version, NULL: none; the user of AUTH, NULL: none */
    const char *verb;          /* "DATA" or "BDAT" */
    const GString *recipients; /* addresses, each followed by a line feed */
    unsigned count;
    const GString *message; /* NULL when nothing is stored */
    uint64_t octets;
    uint64_t session; /* the number of its connection */
    const char *result; /* "accepted", "refused", "silent" */
} SinkMail;

/* Are messages kept with their bytes? If not, SinkMail.message may be NULL. */
bool sink_store_wanted(const Sink *sink);
/* Keep a message as the sink's options say, and log it. If it cannot be written the process exits: a test must never
 * miss a message silently. */
void sink_store_keep(Sink *sink, const SinkMail *mail);
/* Write the counts of the sink to the file at path; NULL: to standard output. */
void sink_store_stats(const Sink *sink, const char *path);
