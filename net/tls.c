/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>

#include "base/fail.h"

struct SmtpTls {
    SSL_CTX *context;
};

struct TlsDoor {
    SSL_CTX *context;
};

struct TlsSession {
    SSL *ssl;
    char *problem;
    bool awaits_bytes;
};

/* The words for a code from the queue of errors; NULL: there are none. */
static const char *reason_of(unsigned long code)
{
    if (code == 0)
        return NULL;
    return ERR_SYSTEM_ERROR(code) ? g_strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);
}

/* --- outgoing connections ----------------------------------------------- */

char *smtp_tls_problem(unsigned long code)
{
    const char *reason = reason_of(code);
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

/* --- a door ------------------------------------------------------------- */

TlsDoor *tls_door_new(const TlsFiles *files, GError **error)
{
    ERR_clear_error();
    g_autoptr(TlsDoor) door = g_new0(TlsDoor, 1);
    SSL_CTX *context = door->context = SSL_CTX_new(TLS_server_method());
    const char *wrong = NULL;
    STACK_OF(X509_NAME) *names = NULL;
    if (!context || !SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION))
        wrong = "TLS";
    else if (!(names = SSL_load_client_CA_file(files->authority)) ||
             SSL_CTX_load_verify_file(context, files->authority) != 1)
        wrong = files->authority;
    else if (SSL_CTX_use_certificate_chain_file(context, files->certificate) != 1)
        wrong = files->certificate;
    else if (SSL_CTX_use_PrivateKey_file(context, files->key, SSL_FILETYPE_PEM) != 1 ||
             SSL_CTX_check_private_key(context) != 1)
        wrong = files->key;
    if (wrong) {
        const char *reason = reason_of(ERR_get_error());
        fail(error, FAIL_CONFIG, "%s: %s", wrong, reason ? reason : "TLS cannot be used with it");
        sk_X509_NAME_pop_free(names, X509_NAME_free);
        return NULL;
    }
    SSL_CTX_set_client_CA_list(context, names);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_mode(context,
                     SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_RELEASE_BUFFERS);
    /* Nobody takes an earlier session up again, so that each connection shows a certificate that is valid now. */
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(context, 0);
    return g_steal_pointer(&door);
}

void tls_door_free(TlsDoor *door)
{
    if (!door)
        return;
    SSL_CTX_free(door->context);
    g_free(door);
}

TlsSession *tls_session_new(TlsDoor *door, int fd)
{
    TlsSession *session = g_new0(TlsSession, 1);
    session->ssl = SSL_new(door->context);
    if (!session->ssl || SSL_set_fd(session->ssl, fd) != 1)
        g_error("no TLS session to be had");
    SSL_set_accept_state(session->ssl);
    return session;
}

void tls_session_free(TlsSession *session)
{
    if (!session)
        return;
    SSL_free(session->ssl);
    g_free(session->problem);
    g_free(session);
}

/* Return what a call that did nothing means, according to OpenSSL. */
static ssize_t judge(TlsSession *session, int result)
{
    int fault = errno, kind = SSL_get_error(session->ssl, result);
    session->awaits_bytes = kind == SSL_ERROR_WANT_READ;
    if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) {
        errno = EAGAIN;
        return -1;
    }
    if (kind == SSL_ERROR_ZERO_RETURN)
        return 0;
    unsigned long code = ERR_peek_last_error();
    bool lost = kind == SSL_ERROR_SYSCALL && SSL_is_init_finished(session->ssl);
    if (lost || ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING) /* the line was cut */
        fault = ECONNRESET;
    else
        fault = EPROTO;
    if (!session->problem && (fault == EPROTO || !SSL_is_init_finished(session->ssl))) {
        /* The verification tells what a certificate lacks, the queue of errors all else. */
        long verdict = SSL_get_verify_result(session->ssl);
        const char *reason = reason_of(code);
        session->problem = verdict != X509_V_OK ? g_strdup_printf("its certificate is not valid here: %s",
                                                                  X509_verify_cert_error_string(verdict)) :
                           reason               ? g_strdup(reason) :
                                                  g_strdup("the client closed the connection in the handshake");
    }
    ERR_clear_error();
    errno = fault;
    return -1;
}

ssize_t tls_session_receive(TlsSession *session, void *octets, size_t size)
{
    ERR_clear_error();
    int count = SSL_read(session->ssl, octets, (int)MIN(size, INT_MAX));
    return count > 0 ? count : judge(session, count);
}

ssize_t tls_session_send(TlsSession *session, const void *octets, size_t size)
{
    ERR_clear_error();
    int count = SSL_write(session->ssl, octets, (int)MIN(size, INT_MAX));
    if (count > 0)
        return count;
    ssize_t verdict = judge(session, count);
    if (verdict == 0)
        errno = EPIPE;
    return -1;
}

bool tls_session_awaits_bytes(const TlsSession *session)
{
    return session->awaits_bytes;
}

const char *tls_session_problem(const TlsSession *session)
{
    return session->problem;
}

static void add_name(GPtrArray *names, const ASN1_STRING *text)
{
    unsigned char *name = NULL;
    int length = ASN1_STRING_to_UTF8(&name, text);
    if (length > 0 && strlen((char *)name) == (size_t)length)
        g_ptr_array_add(names, g_strdup((char *)name));
    if (length >= 0)
        OPENSSL_free(name);
}

char **tls_session_names(const TlsSession *session)
{
    X509 *certificate = SSL_is_init_finished(session->ssl) ? SSL_get1_peer_certificate(session->ssl) : NULL;
    if (!certificate)
        return NULL;
    GPtrArray *names = g_ptr_array_new();
    GENERAL_NAMES *all = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    for (int at = 0; at < sk_GENERAL_NAME_num(all); at++) {
        const GENERAL_NAME *one = sk_GENERAL_NAME_value(all, at);
        if (one->type == GEN_DNS)
            add_name(names, one->d.dNSName);
    }
    const X509_NAME *subject = X509_get_subject_name(certificate);
    int place = all ? -1 : X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    if (place >= 0)
        add_name(names, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, place)));
    GENERAL_NAMES_free(all);
    X509_free(certificate);
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}
