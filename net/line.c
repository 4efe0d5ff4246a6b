/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/line.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fail.h"
#include "net/smtp_tls.h"

#define RECEIVE_SIZE (64 * 1024)
#define REST_LIMIT (64 * 1024) /* nothing is received while the protocol leaves this much */

struct TlsDoor {
    SSL_CTX *context;
};

struct TlsSession {
    SSL *ssl;
    char *problem;
    bool awaits_bytes; /* after EAGAIN: wait until the socket is readable, else until it is writable */
};

struct Line {
    struct event_base *base;
    int fd;
    TlsSession *tls; /* NULL: bytes go as they are */
    GString *output;
    GByteArray *rest; /* received, not used */
    const LineEvents *events;
    void *data;
    struct event *readable, *writable, *deadline;
    int64_t idle_us;
    bool reading, finishing;
    bool ended; /* the peer says no more */
    bool late;  /* a time is over: what the socket does not take at once is not waited for */
};

/* --- TLS ---------------------------------------------------------------- */

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
        const char *reason = tls_reason(ERR_get_error());
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
        const char *reason = tls_reason(code);
        session->problem = verdict != X509_V_OK ? g_strdup_printf("its certificate is not valid here: %s",
                                                                  X509_verify_cert_error_string(verdict))
                           : reason             ? g_strdup(reason)
                                                : g_strdup("the client closed the connection in the handshake");
    }
    ERR_clear_error();
    errno = fault;
    return -1;
}

/* Receive and send as recv() and send() do; the first calls also make the handshake. -1 with errno EAGAIN: wait for the
 * socket and call again; session->awaits_bytes says what for. -1 with EPROTO: TLS has failed. */
static ssize_t receive_tls(TlsSession *session, void *octets, size_t size)
{
    ERR_clear_error();
    int count = SSL_read(session->ssl, octets, (int)MIN(size, INT_MAX));
    return count > 0 ? count : judge(session, count);
}

static ssize_t send_tls(TlsSession *session, const void *octets, size_t size)
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

/* --- the line ----------------------------------------------------------- */

static void on_readable(evutil_socket_t fd, short what, void *data);
static void on_writable(evutil_socket_t fd, short what, void *data);

static void on_deadline(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    Line *line = data;
    line->late = true;
    line->events->expired(line, LINE_DEADLINE, line->data);
    line_resume(line);
}

Line *line_new(struct event_base *base, int fd, GString *output, const LineEvents *events, void *data)
{
    Line *line = g_new0(Line, 1);
    *line = (Line){.base = base, .fd = fd, .output = output, .events = events, .data = data};
    line->rest = g_byte_array_new();
    line->readable = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, line);
    line->writable = event_new(base, fd, EV_WRITE, on_writable, line);
    line->deadline = evtimer_new(base, on_deadline, line);
    return line;
}

void line_free(Line *line)
{
    if (!line)
        return;
    event_free(line->readable);
    event_free(line->writable);
    event_free(line->deadline);
    if (line->tls) {
        SSL_free(line->tls->ssl);
        g_free(line->tls->problem);
        g_free(line->tls);
    }
    close(line->fd);
    g_byte_array_unref(line->rest);
    g_free(line);
}

void line_set_tls(Line *line, TlsSession *session)
{
    line->tls = session;
}

const TlsSession *line_tls(const Line *line)
{
    return line->tls;
}

/* A time-out; NULL: none. Those of one length share a queue in libevent, so that they cost a list operation each, not a
 * heap's. */
static const struct timeval *time_out(Line *line, int64_t us)
{
    struct timeval time = {.tv_sec = us / 1000000, .tv_usec = us % 1000000};
    return us > 0 ? event_base_init_common_timeout(line->base, &time) : NULL;
}

void line_set_idle(Line *line, int64_t idle_us)
{
    line->idle_us = idle_us;
    if (line->reading) {
        event_del(line->readable);
        event_add(line->readable, time_out(line, line->idle_us));
    }
}

void line_set_deadline(Line *line, int64_t deadline_us)
{
    event_del(line->deadline);
    if (deadline_us > 0)
        event_add(line->deadline, time_out(line, deadline_us));
}

static void set_reading(Line *line, bool reading)
{
    if (line->reading == reading)
        return;
    line->reading = reading;
    if (reading)
        event_add(line->readable, time_out(line, line->idle_us));
    else
        event_del(line->readable);
}

/* Sends what can be sent. False: the connection is broken. */
static bool flush(Line *line)
{
    GString *output = line->output;
    size_t sent = 0;
    while (sent < output->len) {
        const char *octets = output->str + sent;
        ssize_t count = line->tls ? send_tls(line->tls, octets, output->len - sent)
                                  : send(line->fd, octets, output->len - sent, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
            return false;
        if (count < 0) {
            if (!line->tls || !line->tls->awaits_bytes)
                event_add(line->writable, time_out(line, line->idle_us));
            break;
        }
        sent += (size_t)count;
    }
    if (sent == output->len)
        g_string_truncate(output, 0);
    else
        g_string_erase(output, 0, (gssize)sent);
    return true;
}

void line_close(Line *line)
{
    set_reading(line, false);
    event_del(line->writable);
    event_del(line->deadline);
    line->events->closed(line, line->data); /* the line may be gone now */
}

/* Offers what is kept until the protocol takes no more. False: it took nothing. */
static bool offer_rest(Line *line)
{
    guint before = line->rest->len;
    while (line->rest->len > 0 && !line->finishing) {
        size_t used = line->events->receive(line, (const char *)line->rest->data, line->rest->len, line->data);
        g_assert(used <= line->rest->len);
        if (used == 0)
            break;
        g_byte_array_remove_range(line->rest, 0, (guint)used);
    }
    return line->rest->len < before;
}

/* After every callback: send, and look whether the line goes on. The last thing a caller does with the line. What the
 * protocol left because too much output waited has its turn as soon as that is sent: the peer may have nothing to say
 * before it is answered. */
static void settle(Line *line)
{
    bool sound, sent;
    do {
        size_t waited = line->output->len;
        sound = flush(line);
        sent = line->output->len < waited;
    } while (sound && sent && offer_rest(line));
    bool awaited = sound && !line->finishing && line->ended && line->events->awaited &&
                   line->events->awaited(line, line->data);
    bool over = line->finishing || (line->ended && !awaited);
    /* Whether what is left of the output is waited for. A peer that is late had its time, and TLS that needs bytes of
     * the peer, as in the handshake, cannot send when no more are received. */
    bool goes_on = line->output->len > 0 && !line->late && event_pending(line->writable, EV_WRITE, NULL);
    if (!sound || (over && !goes_on)) {
        line_close(line);
        return;
    }
    set_reading(line, !line->finishing && !line->ended && line->rest->len < REST_LIMIT);
}

void line_resume(Line *line)
{
    offer_rest(line);
    settle(line);
}

void line_finish(Line *line)
{
    line->finishing = true;
}

static void on_readable(evutil_socket_t fd, short what, void *data)
{
    static char octets[RECEIVE_SIZE]; /* of the one loop of the process */
    Line *line = data;
    if (what & EV_TIMEOUT) {
        line->late = true;
        line->events->expired(line, LINE_IDLE, line->data);
        settle(line);
        return;
    }
    ssize_t count = line->tls ? receive_tls(line->tls, octets, sizeof octets) : recv(fd, octets, sizeof octets, 0);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
        if (line->tls) /* the handshake may have ended, and what waited for that goes out */
            settle(line);
        return;
    }
    if (count < 0) {
        line_close(line);
        return;
    }
    line->ended = count == 0;
    if (count > 0 && line->rest->len == 0) { /* the usual case: used where it lies */
        size_t used = line->events->receive(line, octets, (size_t)count, line->data);
        g_assert(used <= (size_t)count);
        if (used < (size_t)count)
            g_byte_array_append(line->rest, (const guint8 *)octets + used, (guint)((size_t)count - used));
    } else if (count > 0) {
        g_byte_array_append(line->rest, (const guint8 *)octets, (guint)count);
        offer_rest(line);
    }
    settle(line);
}

static void on_writable(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    Line *line = data;
    if (what & EV_TIMEOUT) {
        line_close(line);
        return;
    }
    line_resume(line);
}
