/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Shared by the parts of a session of the sink. */
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
    bool waiting; /* the timer is set: nothing is read before it fires */
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
    uint64_t chunk;   /* bytes of it still to come */
    bool last, skipped; /* chunk: it is the last; it is read and forgotten */
    const char *verb;
    char *auth_user;
} Session;

#define SAY(session, text) g_string_append_len((session)->output, text, sizeof(text) - 1)

/* sink_command.c */
/* Commits the fault of this stage, if there is one; true: nothing else is to be said. */
bool sink_misbehave(Session *session, SinkStage stage, const char *subject);
void sink_command(Session *session, const char *line, size_t length);
void sink_auth_line(Session *session, const char *line, size_t length);
void sink_data_line(Session *session, const char *line, size_t length);
void sink_chunk(Session *session, const char *octets, size_t length);
void sink_reset(Session *session);

/* sink_tls.c: as recv() and send(), in TLS when it stands. */
ssize_t sink_receive(Session *session, char *octets, size_t length);
ssize_t sink_send(Session *session, const char *octets, size_t length);
/* Goes on with the handshake; false: the session is to end. */
bool sink_handshake(Session *session);
