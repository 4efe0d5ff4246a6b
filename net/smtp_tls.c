/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/smtp_tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/fail.h"

struct SmtpTls {
    SSL_CTX *context;
};

const char *tls_reason(unsigned long code)
{
    if (code == 0)
        return NULL;
    return ERR_SYSTEM_ERROR(code) ? g_strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);
}

char *smtp_tls_problem(unsigned long code)
{
    const char *reason = tls_reason(code);
    return g_strdup(reason ? reason : "the server closed the connection");
}

SmtpTls *smtp_tls_new(const char *ca_file, GError **error)
{
    ERR_clear_error();
    g_autoptr(SmtpTls) tls = g_new0(SmtpTls, 1);
    tls->context = SSL_CTX_new(TLS_client_method());
    if (!tls->context || !SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION)) {
        g_autofree char *problem = smtp_tls_problem(ERR_get_error());
        fail(error, FAIL_LATER, "TLS: %s", problem);
        return NULL;
    }
    /* No partial writes: a bufferevent takes a piece that was written in part for written, goes on with the next, and
     * repeats bytes in the place of others. */
    SSL_CTX_set_mode(tls->context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_clear_mode(tls->context, SSL_MODE_ENABLE_PARTIAL_WRITE);
    int good = ca_file ? SSL_CTX_load_verify_file(tls->context, ca_file) :
                         SSL_CTX_set_default_verify_paths(tls->context);
    if (!good) {
        g_autofree char *problem = smtp_tls_problem(ERR_get_error());
        fail(error, FAIL_CONFIG, "%s: no certificates can be read: %s", ca_file ? ca_file : "the system's directory",
             problem);
        return NULL;
    }
    return g_steal_pointer(&tls);
}

bool smtp_tls_present(SmtpTls *tls, const char *certificate_file, const char *key_file, GError **error)
{
    ERR_clear_error();
    const char *file = certificate_file;
    if (SSL_CTX_use_certificate_chain_file(tls->context, file) == 1) {
        file = key_file;
        if (SSL_CTX_use_PrivateKey_file(tls->context, file, SSL_FILETYPE_PEM) == 1 &&
            SSL_CTX_check_private_key(tls->context) == 1)
            return true;
    }
    g_autofree char *problem = smtp_tls_problem(ERR_get_error());
    return fail(error, FAIL_CONFIG, "%s: %s", file, problem);
}

SSL *smtp_tls_session(const SmtpTls *tls, const char *name, bool verify)
{
    SSL *ssl = SSL_new(tls->context);
    if (!ssl)
        g_error("no TLS session to be had");
    struct in6_addr address;
    if (inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1) {
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name);
    } else {
        SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        SSL_set1_host(ssl, name);
        SSL_set_tlsext_host_name(ssl, name);
    }
    SSL_set_verify(ssl, verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
    return ssl;
}

void smtp_tls_free(SmtpTls *tls)
{
    if (!tls)
        return;
    SSL_CTX_free(tls->context);
    g_free(tls);
}
