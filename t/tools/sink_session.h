/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Share a session of the sink (sink.h), which serves one connection, among the files that implement it. */
#include <sys/types.h>

#include "t/tools/sink.h"

#define INPUT_SIZE 65536

typedef enum State {
    STATE_COMMAND,
    STATE_AUTH,    /* a line of AUTH is awaited */
    STATE_DATA,
    STATE_CHUNK,   /* bytes of BDAT */
    STATE_HANDSHAKE,
    STATE_STALLED,
    STATE_CLOSING,
} State;

typedef struct Session {
    Sink *sink;
    uint64_t number; /* of the connection */
    int fd;
    State state;
    struct event *readable, *writable, *timer;
    bool waiting; /* the timer is set, and nothing is read before it fires */
    char input[INPUT_SIZE];
    size_t filled;
    GString *output;
    size_t sent;
    SSL *ssl;
    bool upgrade;  /* the handshake begins when the output is sent */
    bool half_closed, endless;
    char *helo, *from, *user;
    GString *recipients, *message;
    unsigned count;
    uint64_t octets;
    bool inside_line; /* the last bytes of DATA did not end a line */
    uint64_t chunk;   /* bytes of the current BDAT chunk that are still to come */
    bool last;        /* that chunk is the last one */
    bool skipped;     /* that chunk is read and dropped */
    const char *verb;
    char *auth_user;
} Session;

#define SAY(session, text) g_string_append_len((session)->output, text, sizeof(text) - 1)

/* ---- sink_command.c ---- */

/* Let the fault of this stage happen, if there is one. True: it did, and the caller says nothing else. */
bool sink_misbehave(Session *session, SinkStage stage, const char *subject);
/* Take a line or bytes from the client, by the session's state. */
void sink_command(Session *session, const char *line, size_t length);
void sink_auth_line(Session *session, const char *line, size_t length);
void sink_data_line(Session *session, const char *line, size_t length);
void sink_chunk(Session *session, const char *octets, size_t length);
/* Forget the transaction, as RSET does. */
void sink_reset(Session *session);

/* ---- sink_tls.c ---- */

/* Receive and send bytes as recv() and send() do, by TLS when the session has it. */
ssize_t sink_receive(Session *session, char *octets, size_t length);
ssize_t sink_send(Session *session, const char *octets, size_t length);
/* Go on with the TLS handshake. False: the session is to end. */
bool sink_handshake(Session *session);
