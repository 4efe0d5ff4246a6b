/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <errno.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include "t/tools/sink_session.h"

const char *sink_tls_load(Sink *sink, const char *path)
{
    sink->tls = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_mode(sink->tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (SSL_CTX_use_certificate_chain_file(sink->tls, path) != 1 ||
        SSL_CTX_use_PrivateKey_file(sink->tls, path, SSL_FILETYPE_PEM) != 1)
        return ERR_reason_error_string(ERR_get_error());
    return NULL;
}

/* Return what recv() and send() would have said. */
static ssize_t translate(Session *session, int result)
{
    if (result > 0)
        return result;
    int error = SSL_get_error(session->ssl, result);
    ERR_clear_error();
    if (error == SSL_ERROR_ZERO_RETURN)
        return 0;
    errno = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? EAGAIN : ECONNRESET;
    return -1;
}

ssize_t sink_receive(Session *session, char *octets, size_t length)
{
    if (session->ssl == NULL)
        return recv(session->fd, octets, length, 0);
    ssize_t n = translate(session, SSL_read(session->ssl, octets, (int)length));
    if (SSL_pending(session->ssl) > 0) /* the socket is silent about these */
        event_active(session->readable, EV_READ, 0);
    return n;
}

ssize_t sink_send(Session *session, const char *octets, size_t length)
{
    if (session->ssl == NULL)
        return send(session->fd, octets, length, MSG_NOSIGNAL);
    return translate(session, SSL_write(session->ssl, octets, (int)length));
}

bool sink_handshake(Session *session)
{
    if (session->ssl == NULL) {
        session->ssl = SSL_new(session->sink->tls);
        SSL_set_fd(session->ssl, session->fd);
    }
    int result = SSL_accept(session->ssl);
    if (result != 1)
        return translate(session, result) < 0 && errno == EAGAIN;
    session->state = STATE_COMMAND;
    sink_reset(session);
    return true;
}
