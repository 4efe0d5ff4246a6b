/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Speak the server's side of LMTP (RFC 2033), without sockets and without knowing lists: bytes go in through
 * lmtp_session_receive(), replies come out in lmtp_session_output(), and the owner decides through LmtpHandler what is
 * accepted. Extensions: PIPELINING, 8BITMIME, SMTPUTF8, SIZE, CHUNKING, ENHANCEDSTATUSCODES.
 *
 * Line ends are strict: a command ends at CR LF and nothing else, and content ends at CR LF . CR LF and nothing else.
 * Content in which a lone dot stands between other line ends is refused. A laxer server behind us could take that dot
 * for the end, and somebody could smuggle a message past us.
 *
 * Replies that the owner gives are whole: "550 5.1.1 No such list", without line end; they are copied at once.
 * Everything here belongs to one thread.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct LmtpServer LmtpServer;   /* what all sessions share */
typedef struct LmtpSession LmtpSession; /* one connection */

typedef struct LmtpLimits {
    size_t recipients;     /* in a transaction; more: 452 4.5.3 */
    uint64_t message_size; /* bytes, announced as SIZE; more: 552 5.3.4 */
    size_t line_length;    /* of a command with its CR LF; more: 500 5.5.2 */
    uint64_t memory;       /* bytes of envelopes and content held by all sessions; more: 452 4.3.1. Envelopes get half
                              of it at most, so that their content finds room */
    unsigned errors;       /* refused commands in a session; more: 421 4.7.0 */
} LmtpLimits;

typedef struct LmtpRecipient {
    char *address; /* without angle brackets, as it came */
    void *data;    /* the owner's, freed with LmtpHandler.free_recipient */
    size_t size;   /* bytes of memory that the owner holds for it until it is answered, data included */
    char *reply;   /* NULL, or what the owner answers for it after the content; g_free() */
} LmtpRecipient;

/* A transaction. When it is complete, the owner of the server gets it by message() and gives it back by
 * lmtp_session_answer(); in between it may travel to another thread. */
typedef struct LmtpTransaction {
    char *sender;      /* "" for the null sender */
    bool smtputf8;     /* asked for at MAIL */
    bool eight_bit;    /* BODY=8BITMIME, or a byte above 127 was seen */
    GArray *recipients; /* of LmtpRecipient, the accepted ones, in order */
    GBytes *message;   /* CR LF line ends, unstuffed; NULL until complete */
    LmtpServer *server;
    uint64_t envelope, content; /* bytes of LmtpLimits.memory that they hold */
} LmtpTransaction;

static inline LmtpRecipient *lmtp_recipient(const LmtpTransaction *transaction, unsigned index)
{
    return &g_array_index(transaction->recipients, LmtpRecipient, index);
}

/* The owner's decisions. mail(), recipient() and content() return NULL to accept, or the reply that refuses. */
typedef struct LmtpHandler {
    /* MAIL; size is 0 when the client did not say. NULL: each is accepted. */
    const char *(*mail)(LmtpSession *session, const char *sender, uint64_t size, void *data);
    /* RCPT; may set recipient->data and recipient->size when it accepts. When there is no memory for that size,
     * the data is freed again, and the client hears 452 4.3.1. */
    const char *(*recipient)(LmtpSession *session, LmtpRecipient *recipient, void *data);
    /* DATA, or the first BDAT. NULL: each is accepted. */
    const char *(*content)(LmtpSession *session, void *data);
    /* The message is complete. Call lmtp_session_answer() once for the transaction, now or later. Do not free the
     * session before that, also when its connection is gone (lmtp_session_close()). */
    void (*message)(LmtpSession *session, LmtpTransaction *transaction, void *data);
    GDestroyNotify free_recipient; /* may be NULL */
} LmtpHandler;

/* hostname is copied, handler and data are borrowed. */
LmtpServer *lmtp_server_new(const char *hostname, const LmtpLimits *limits, const LmtpHandler *handler, void *data);
void lmtp_server_free(LmtpServer *server); /* after its sessions and transactions */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LmtpServer, lmtp_server_free)

/* Return the bytes of envelopes and content in memory, over all sessions. */
uint64_t lmtp_server_memory(const LmtpServer *server);

/* Make a new session, with the greeting in its output. data is the owner's. */
LmtpSession *lmtp_session_new(LmtpServer *server, void *data);
void lmtp_session_free(LmtpSession *session);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LmtpSession, lmtp_session_free)
void *lmtp_session_data(const LmtpSession *session);
const char *lmtp_session_client(const LmtpSession *session); /* the name given at LHLO, or "" */

/* Return the transaction in progress, for the handler's callbacks; NULL: there is none. */
const LmtpTransaction *lmtp_session_transaction(const LmtpSession *session);

/* Return the size that MAIL announced for the message of the transaction in progress; 0: none. */
uint64_t lmtp_session_announced(const LmtpSession *session);

/* Take bytes from the client and return how many were used. The session leaves the rest when a line is not complete,
 * while the owner has a message, or while much output waits. Offer that rest again, with what follows it, after more
 * came, after lmtp_session_answer(), and after the output was sent. */
size_t lmtp_session_receive(LmtpSession *session, const char *octets, size_t length);

/* Return the replies that are not sent yet, borrowed. The caller sends them and erases what it has sent. */
GString *lmtp_session_output(LmtpSession *session);

/* Return true when the session reads no more: close the connection when the output is sent. */
bool lmtp_session_finished(const LmtpSession *session);
/* Return true while the owner has a message of this session that it has not answered. */
bool lmtp_session_waiting(const LmtpSession *session);

/* Send one reply for each recipient (451 4.3.0 where the owner set none) and free the
 * transaction. A session that was closed meanwhile says nothing. */
void lmtp_session_answer(LmtpSession *session, LmtpTransaction *transaction);

/* End the session with 421 4.4.2 and the text why, because the client was silent or the session lasted too long. When
 * the owner has a message, its answer is sent first. */
void lmtp_session_expire(LmtpSession *session, const char *why);
/* End the session with 421 4.3.2, at once or when the transaction in progress is over. */
void lmtp_session_stop(LmtpSession *session);
/* Tell the session that the connection is gone. A message that the owner has stays with it, and is still to be answered
 * by lmtp_session_answer(). */
void lmtp_session_close(LmtpSession *session);
