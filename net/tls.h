/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Both ends of TLS: SmtpTls for outgoing connections, TlsDoor for a door that accepts them. Everything belongs to one
 * thread.
 *
 * An SmtpTls holds the settings that the sessions of outgoing connections share: the protocol versions, and the
 * authorities whose signatures make a certificate valid.
 *
 * A TlsDoor serves nobody but holders of a certificate. The client must show a certificate that the door's authority
 * has signed and that has not expired. A client without, or one that speaks no TLS, is refused in the handshake, before
 * a byte of the protocol is sent. A TlsSession does not own its socket, which is non-blocking.
 */
#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* --- outgoing connections --- */

typedef struct SmtpTls SmtpTls;

/* Make TLS settings. ca_file has the certificates of the authorities in PEM; NULL: those that the system trusts.
 * FAIL_CONFIG: ca_file cannot be read, or has no certificate. */
SmtpTls *smtp_tls_new(const char *ca_file, GError **error);
/* Show this certificate to servers that ask for one. The files are in PEM. FAIL_CONFIG: one cannot be read, or they do
 * not belong together. */
bool smtp_tls_present(SmtpTls *tls, const char *certificate_file, const char *key_file, GError **error);
void smtp_tls_free(SmtpTls *tls);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SmtpTls, smtp_tls_free)

/* Return a new session of OpenSSL, which SSL_free() or its bufferevent frees, with a server of this host name or
 * numeric address. With verify, a certificate that is not valid for that name ends the handshake. */
struct ssl_st *smtp_tls_session(const SmtpTls *tls, const char *name, bool verify);
/* Return an error of OpenSSL as text, also where it stands for a failed system call, or for the end of the connection;
 * g_free(). */
char *smtp_tls_problem(unsigned long code);

/* --- a door --- */

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
