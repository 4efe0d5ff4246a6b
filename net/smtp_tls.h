/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Hold the settings that the TLS sessions of outgoing connections share: the protocol versions, and the authorities
 * whose signatures make a certificate valid.
 */
#include <glib.h>
#include <stdbool.h>

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
/* Return the words for a code from OpenSSL's queue of errors, also where it stands for a failed system call; borrowed.
 * NULL: there are none. */
const char *tls_reason(unsigned long code);
