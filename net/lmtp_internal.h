/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare what lmtp_server.c (commands), lmtp_transaction.c (the envelope), lmtp_content.c (DATA and BDAT bytes) and
 * lmtp_path.c (arguments of MAIL and RCPT) share.
 */
#include "net/lmtp_server.h"

/* The last bytes of content that were read, as far as the end of the message may follow them. */
typedef enum LmtpDot {
    DOT_NONE,  /* no dot at the beginning of a line */
    DOT_FIRST, /* CR LF . : the dot is not stored */
    DOT_CR,    /* CR LF . CR : neither the dot nor the CR is stored */
    DOT_STRAY, /* a dot after a bare CR or LF, stored */
} LmtpDot;

typedef struct LmtpContent {
    char *octets;
    size_t length, capacity;
    char before[2]; /* the last two bytes on the wire */
    LmtpDot dot;
    const char *refusal; /* NULL, or why nothing is stored any more */
    bool high;           /* a byte is above 127 */
} LmtpContent;

typedef enum LmtpState {
    LMTP_COMMAND,
    LMTP_SKIP,    /* the rest of a command line that was too long */
    LMTP_DATA,    /* content up to the dot */
    LMTP_CHUNK,   /* chunk_left bytes of a BDAT */
    LMTP_WAITING, /* the owner has the message */
    LMTP_CLOSED,  /* send the output, then close */
} LmtpState;

struct LmtpServer {
    char *hostname;
    LmtpLimits limits;
    const LmtpHandler *handler;
    void *data;
    uint64_t memory, envelopes; /* bytes held: all; those of envelopes alone */
};

struct LmtpSession {
    LmtpServer *server;
    void *data;
    GString *output;
    char *client; /* NULL before LHLO */
    LmtpState state;
    unsigned errors;
    bool stopping;
    LmtpTransaction *transaction; /* from MAIL on */
    LmtpContent content;
    uint64_t announced; /* SIZE= of MAIL, 0: not said */
    uint64_t chunk_left;
    bool chunked;       /* BDAT was used in this transaction */
    bool chunk_last;
    char *chunk_refusal; /* why the chunk in hand is only read past, or NULL */
    char *chunk_failure; /* why the first one was refused, and with it all that follow until RSET; or NULL */
};

#define LMTP_NO_MEMORY "452 4.3.1 Too much mail is coming in at once; try again later"

/* lmtp_transaction.c. A refusal is the reply to the client, "452 4.5.3 ...", and static. */

/* Make a transaction; sender becomes its own. */
LmtpTransaction *lmtp_transaction_new(LmtpServer *server, char *sender);
void lmtp_transaction_free(LmtpTransaction *transaction);
/* Read the parameters that follow the path of MAIL into the session's transaction. Return NULL, or the refusal. */
const char *lmtp_mail_parameters(LmtpSession *session, const char *text);
/* Return the refusal of an address that cannot be used in a transaction with or without SMTPUTF8; NULL: it can. */
const char *lmtp_address_refusal(const char *address, bool smtputf8);
/* Ask the owner whether a recipient is accepted, and if so add it to the transaction. address is taken over in any
 * case. Return NULL, or the refusal, which may also be the server's: too many recipients, or no memory. */
const char *lmtp_transaction_add(LmtpSession *session, char *address);
/* Read a number. False: text is anything else than 1 to 18 digits. */
bool lmtp_number_read(const char *text, uint64_t *number);

/* lmtp_content.c */

/* Free the content and the memory that it holds, and get ready for a new message. */
void lmtp_content_clear(LmtpSession *session);
/* Store bytes that follow DATA, and return how many were used. *ended is true when the final dot came. */
size_t lmtp_content_data(LmtpSession *session, const char *octets, size_t length, bool *ended);
/* Store bytes of a chunk of BDAT. */
void lmtp_content_chunk(LmtpSession *session, const char *octets, size_t length);
/* Give the stored bytes, with the memory that is counted for them, to the session's transaction as its message. */
void lmtp_content_finish(LmtpSession *session);

/* lmtp_path.c. Each function moves *text behind what it has read. */

/* Read "<address>" or "<>" into *address (g_free()), without a source route. False: it is malformed, and *address is
 * not set. */
bool lmtp_path_read(const char **text, char **address);
/* Read the next " KEYWORD[=value]". *keyword (g_free()) is NULL at the end of the text, *value (g_free()) where there
 * is no '='. False: it is malformed, and both are NULL. */
bool lmtp_parameter_read(const char **text, char **keyword, char **value);
