/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <arpa/inet.h>
#include <event2/bufferevent_ssl.h>
#include <openssl/x509v3.h>

#include "base/log.h"
#include "net/smtp_client_internal.h"

static bool is_address(const char *name)
{
    struct in6_addr address;
    return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1;
}

/* Whose certificate it has to be. Without SMTP_TLS_VERIFY it is looked at all the same, for the log. */
static void name_server(const SmtpClient *client, SSL *ssl)
{
    const SmtpSettings *settings = client->settings;
    const char *name = settings->tls_name ? settings->tls_name : settings->server;
    if (is_address(name)) {
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name);
    } else {
        SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        SSL_set1_host(ssl, name);
        SSL_set_tlsext_host_name(ssl, name);
    }
    SSL_set_verify(ssl, settings->tls == SMTP_TLS_VERIFY ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
}

void smtp_handshake_start(SmtpClient *client)
{
    smtp_client_phase(client, SMTP_TLS);
    SSL *ssl = smtp_tls_session(client->settings->tls_context);
    name_server(client, ssl);
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
