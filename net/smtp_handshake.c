/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <event2/bufferevent_ssl.h>

#include "base/log.h"
#include "net/smtp_client_internal.h"

void smtp_handshake_start(SmtpClient *client)
{
    smtp_client_phase(client, SMTP_TLS);
    SSL *ssl = smtp_tls_session(client->settings->tls_context);
    const SmtpSettings *settings = client->settings;
    /* Without SMTP_TLS_VERIFY the certificate is looked at all the same, for the log. */
    smtp_tls_name(ssl, settings->tls_name ? settings->tls_name : settings->server, settings->tls == SMTP_TLS_VERIFY);
    client->ssl = ssl;
    smtp_client_replace(client, bufferevent_openssl_socket_new(client->base, bufferevent_getfd(client->connection), ssl,
                                                               BUFFEREVENT_SSL_CONNECTING, BEV_OPT_CLOSE_ON_FREE));
    bufferevent_openssl_set_allow_dirty_shutdown(client->connection, 1); /* SMTP has its own end */
    bufferevent_enable(client->connection, EV_READ | EV_WRITE);
}

/* "Verified": valid and in its name; "Untrusted": encrypted, to whomever. */
void smtp_handshake_done(SmtpClient *client)
{
    bool verified = SSL_get_verify_result(client->ssl) == X509_V_OK && SSL_get0_peer_certificate(client->ssl);
    const SSL_CIPHER *cipher = SSL_get_current_cipher(client->ssl);
    g_free(client->tls);
    client->tls = g_strdup_printf("%s with cipher %s (%d bits), %s", SSL_get_version(client->ssl),
                                  SSL_CIPHER_get_name(cipher), SSL_CIPHER_get_bits(cipher, NULL),
                                  verified ? "verified" : "untrusted");
    log_info("TLS with %s: %s", client->peer, client->tls);
    if (client->settings->tls_at_once)
        smtp_session_start(client);
    else
        smtp_session_greet(client);
}

char *smtp_handshake_problem(const SmtpClient *client)
{
    if (!client->ssl)
        return g_strdup("the server closed the connection");
    long verdict = SSL_get_verify_result(client->ssl);
    if (client->settings->tls == SMTP_TLS_VERIFY && verdict != X509_V_OK)
        return g_strdup_printf("the server's certificate: %s", X509_verify_cert_error_string(verdict));
    return smtp_tls_problem(bufferevent_get_openssl_error(client->connection));
}
