/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Accept TLS for a door that serves nobody but holders of a certificate. The client must show a certificate that the
 * door's authority has signed and that has not expired. A client without, or one that speaks no TLS, is refused in the
 * handshake, before a byte of the protocol is sent.
 *
 * A session does not own its socket, which is non-blocking. Everything belongs to one thread.
 */
#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct TlsDoor TlsDoor;       /* what all sessions share */
typedef struct TlsSession TlsSession; /* one connection */

/* Files in PEM. */
typedef struct TlsFiles {
    const char *certificate, *key; /* our own; the certificate may be followed by those between it and the authority */
    const char *authority;         /* whose signature makes a certificate valid */
} TlsFiles;

/* Read the files. FAIL_CONFIG: a file cannot be read, or key and certificate do not belong together. */
TlsDoor *tls_door_new(const TlsFiles *files, GError **error);
void tls_door_free(TlsDoor *door);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TlsDoor, tls_door_free)

/* Begin a session on a connected socket; the handshake is made later. */
TlsSession *tls_session_new(TlsDoor *door, int fd);
void tls_session_free(TlsSession *session);

/* Receive and send as recv() and send() do; the first calls also make the handshake. -1 with errno EAGAIN: wait for the
 * socket and call again. -1 with EPROTO: TLS has failed. */
ssize_t tls_session_receive(TlsSession *session, void *octets, size_t size);
ssize_t tls_session_send(TlsSession *session, const void *octets, size_t size);
/* After -1 with EAGAIN, return true when to wait until the socket is readable, false when until it is writable. */
bool tls_session_awaits_bytes(const TlsSession *session);

/* Return why TLS failed, for the log, borrowed; NULL: it did not. */
const char *tls_session_problem(const TlsSession *session);

/* Return the host names in the client's certificate (subjectAltName, or the common name where there is none) after the
 * handshake; g_strfreev(). NULL: the handshake is not over. */
char **tls_session_names(const TlsSession *session);
