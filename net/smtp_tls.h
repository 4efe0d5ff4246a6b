/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * What the TLS sessions of outgoing connections share: the protocol versions,
 * and whose signature makes a certificate valid.
 */
#include <glib.h>

typedef struct SmtpTls SmtpTls;

/* ca_file: certificates in PEM that may sign a server's; NULL: those that the system trusts. FAIL_CONFIG when it
 * cannot be read, or has none. */
SmtpTls *smtp_tls_new(const char *ca_file, GError **error);
void smtp_tls_free(SmtpTls *tls);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SmtpTls, smtp_tls_free)
