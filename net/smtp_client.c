/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/smtp_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "net/smtp_client_internal.h"

#define READ_PIECE (64 * 1024)

/* A server that takes a message more slowly than this (bytes a second, over the time-out of a block)
 * keeps a session for nothing. */
#define SLOWEST 500

/* --- the clock ---------------------------------------------------------- */

static void arm(SmtpClient *client, int64_t wait_us)
{
    struct timeval wait = {.tv_sec = wait_us / CLOCK_SECOND, .tv_usec = wait_us % CLOCK_SECOND};
    event_add(client->timer, &wait);
}

void smtp_client_soon(SmtpClient *client)
{
    event_active(client->timer, EV_TIMEOUT, 0);
}

/* Bytes that our kernel still keeps because the peer's has not taken them. */
static uint64_t octets_kept(const SmtpClient *client)
{
    int kept = 0;
    evutil_socket_t fd = bufferevent_getfd(client->connection);
    return fd < 0 || ioctl(fd, SIOCOUTQ, &kept) != 0 || kept < 0 ? 0 : (uint64_t)kept;
}

/* Bytes that have left this host: what we wrote less what the kernel still keeps. */
static uint64_t octets_gone(const SmtpClient *client)
{
    return client->written - MIN(client->written, octets_kept(client));
}

/* The timer is set once a phase; when it fires, it looks how long ago the
 * last progress was. */
void smtp_client_phase(SmtpClient *client, SmtpPhase phase)
{
    client->phase = phase;
    client->progress = clock_monotonic();
    if (phase == SMTP_BODY || phase == SMTP_DOT)
        client->gone = octets_gone(client);
    if (client->settings->timeouts[phase] > 0)
        arm(client, client->settings->timeouts[phase]);
    else
        event_del(client->timer);
}

static void on_output(struct evbuffer *buffer, const struct evbuffer_cb_info *info, void *data)
{
    (void)buffer;
    SmtpClient *client = data;
    client->written += info->n_deleted;
    if (info->n_deleted > 0)
        client->progress = clock_monotonic();
}

/* While the message is on its way, the kernel's buffers hide whether the server takes it: a full
 * one looks like a standstill, and the last bytes like sent. True: it takes enough. */
static bool flows(SmtpClient *client, int64_t limit)
{
    uint64_t before = client->gone;
    client->gone = octets_gone(client);
    return client->gone - before >= (uint64_t)(limit * SLOWEST / CLOCK_SECOND) && client->gone > before;
}

/* Return how many bytes certainly did not reach the peer's kernel: over TCP those that ours has not sent. One that was
 * sent and not acknowledged may be there, because the acknowledgement can be lost as well. */
static uint64_t bytes_unsent(const SmtpClient *client)
{
    int unsent = 0;
    bool network = client->address.ss_family == AF_INET || client->address.ss_family == AF_INET6;
    if (ioctl(bufferevent_getfd(client->connection), network ? SIOCOUTQNSD : SIOCOUTQ, &unsent) != 0 || unsent < 0)
        return 0;
    return (uint64_t)unsent;
}

/* Return false when the peer's kernel certainly lacks the end of the message: ours takes megabytes that the peer never
 * reads. Only over TCP in clear text the kernel counts what we wrote, with neither framing nor memory of its own. */
static bool message_arrived(const SmtpClient *client)
{
    uint64_t unsent = bytes_unsent(client), behind = client->written - client->turn.end;
    bool exact = !client->ssl && (client->address.ss_family == AF_INET || client->address.ss_family == AF_INET6);
    return unsent <= behind || (behind > 0 && !exact);
}

/* Return the phase that the peer has seen. */
static SmtpPhase phase_seen(const SmtpClient *client)
{
    bool whole = !client->turn.cursor.ended || message_arrived(client);
    return client->phase == SMTP_DOT && !whole ? SMTP_BODY : client->phase;
}

/* --- writing ------------------------------------------------------------ */

void smtp_client_write(SmtpClient *client, const char *text, size_t length)
{
    bufferevent_write(client->connection, text, length);
}

void smtp_client_say(SmtpClient *client, SmtpPhase phase, const char *command)
{
    smtp_client_write(client, command, strlen(command));
    smtp_client_phase(client, phase);
}

/* --- the end ------------------------------------------------------------ */

static void drop_connection(SmtpClient *client)
{
    if (!client->connection)
        return;
    evbuffer_remove_cb(bufferevent_get_output(client->connection), on_output, client);
    bufferevent_free(client->connection);
    client->connection = NULL;
    client->ssl = NULL; /* freed with the connection */
}

static void release(SmtpClient *client)
{
    if (client->timer)
        event_free(client->timer);
    drop_connection(client);
    while (!g_queue_is_empty(&client->behind))
        smtp_transaction_next(client);
    smtp_transaction_clear(&client->turn);
    smtp_auth_free(client->auth);
    g_string_free(client->scratch, TRUE);
    g_free(client->peer);
    g_free(client->tls);
    g_free(client);
}

/* Send the QUIT that has not gone yet. */
static void say_last_words(const SmtpClient *client)
{
    struct evbuffer_iovec words; /* nothing else may be taken from the output of a bufferevent */
    int fd = bufferevent_getfd(client->connection);
    if (client->phase != SMTP_QUIT || fd < 0 ||
        evbuffer_peek(bufferevent_get_output(client->connection), -1, NULL, &words, 1) < 1)
        return;
    ssize_t sent = client->ssl ? SSL_write(client->ssl, words.iov_base, (int)words.iov_len)
                               : send(fd, words.iov_base, words.iov_len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent <= 0)
        log_debug("%s: the connection is closed without QUIT", client->peer);
}

void smtp_client_free(SmtpClient *client)
{
    if (!client)
        return;
    g_assert(!client->in_callback);
    if (client->connection)
        say_last_words(client);
    release(client);
}

/* Enters and leaves what the loop called; the client is freed on the way out when it ended. */
static void enter(SmtpClient *client)
{
    client->in_callback = true;
}

static void leave(SmtpClient *client)
{
    client->in_callback = false;
    if (client->doomed)
        release(client);
}

/* Return the result for a transaction that was not over when the connection ended. */
static SmtpResult fate_of(const SmtpClient *client, const SmtpResult *why)
{
    SmtpResult fate = *why;
    bool silent = why->code == 0;
    bool ahead = client->pipelining && client->turn.active && client->turn.next_rcpt == 0 && !client->turn.behind;
    if (silent && why->connection && ahead && client->phase == SMTP_RCPT && !client->turn.bdat_ahead)
        fate.fallback = SMTP_FALLBACK_PIPELINING;
    bool all_said = client->phase == SMTP_DOT || (client->turn.bdat_ahead && client->phase >= SMTP_MAIL);
    fate.in_doubt = silent && all_said && smtp_transaction_sent(client) && message_arrived(client);
    fate.unstarted = client->phase == SMTP_MAIL && client->turn.number > 1 && why->connection && !fate.in_doubt;
    return fate;
}

/* A server that says goodbye has not come to what was written behind, or it would have said something else first. Who
 * says nothing, or refuses RSET and goes on, may have taken it. */
static void end_behind(SmtpClient *client, const SmtpResult *why)
{
    SmtpResult fate = *why;
    fate.verdict = SMTP_LATER;
    fate.status = why->verdict == SMTP_LATER ? why->status : "4.5.0";
    fate.behind = true;
    fate.unstarted = why->code == 421;
    while (!g_queue_is_empty(&client->behind)) {
        smtp_transaction_next(client);
        fate.in_doubt = !fate.unstarted && smtp_transaction_sent(client) && message_arrived(client);
        smtp_transaction_end(client, &fate);
    }
}

static void close_client(SmtpClient *client, const SmtpResult *why)
{
    if (client->doomed)
        return;
    client->doomed = true;
    bufferevent_disable(client->connection, EV_READ | EV_WRITE);
    event_del(client->timer);
    SmtpResult fate = fate_of(client, why);
    smtp_transaction_end(client, &fate);
    end_behind(client, why);
    client->handler->closed(client, why, client->data);
}

void smtp_client_end_by_reply(SmtpClient *client)
{
    g_auto(SmtpVerdictText) judged = {0};
    smtp_client_judge(client, &judged);
    close_client(client, &judged.result);
}

void smtp_client_end_by_us(SmtpClient *client, const char *status, char *text)
{
    g_autofree char *owned = text;
    close_client(client, &(SmtpResult){.verdict = SMTP_LATER, .phase = phase_seen(client), .status = status,
                                          .text = owned, .reply = owned, .connection = true});
}

void smtp_client_end_confused(SmtpClient *client)
{
    smtp_client_end_by_us(client, "4.5.0", g_strdup_printf("%s broke the protocol while %s", client->peer,
                                                           smtp_phase_name(client->phase)));
}

static void end_orderly(SmtpClient *client)
{
    close_client(client, &(SmtpResult){.verdict = SMTP_SENT, .phase = client->phase, .status = "2.0.0",
                                          .text = "closed", .reply = "closed"});
}

/* --- what the loop calls ------------------------------------------------ */

static void take_reply(SmtpClient *client)
{
    client->progress = clock_monotonic();
    if (client->phase == SMTP_QUIT || client->phase == SMTP_IDLE)
        end_orderly(client); /* unasked for, it can only be a farewell */
    else if (client->reply.code == 421)
        smtp_client_end_by_reply(client);
    else if (smtp_reply_class(&client->reply) == 1 && client->phase != SMTP_RCPT)
        smtp_client_end_confused(client);
    else if (client->turn.refusal)
        smtp_client_end_confused(client); /* we have said nothing yet, and will not */
    else if (client->phase < SMTP_IDLE || client->phase == SMTP_RSET)
        smtp_session_reply(client);
    else
        smtp_transaction_reply(client);
}

/* True when all of it was taken; what is behind the permission to start TLS is not. */
static bool take_octets(SmtpClient *client, const char *octets, size_t length)
{
    size_t taken = 0;
    while (!client->doomed && !client->upgrade && taken < length) {
        size_t used;
        SmtpReplyState state = smtp_reply_feed(&client->reply, octets + taken, length - taken, &used);
        taken += used;
        if (state == SMTP_REPLY_BROKEN && smtp_transaction_odd_line(client))
            smtp_reply_init(&client->reply);
        else if (state == SMTP_REPLY_BROKEN)
            smtp_client_end_confused(client);
        else if (state == SMTP_REPLY_DONE)
            take_reply(client);
    }
    return taken == length;
}

static void on_read(struct bufferevent *connection, void *data)
{
    SmtpClient *client = data;
    struct evbuffer *in = bufferevent_get_input(connection);
    enter(client);
    size_t length;
    bool all = true;
    while (!client->doomed && !client->upgrade && (length = evbuffer_get_contiguous_space(in)) > 0) {
        all = take_octets(client, (const char *)evbuffer_pullup(in, (ev_ssize_t)length), length);
        evbuffer_drain(in, length);
    }
    if (client->upgrade && !client->doomed) {
        client->upgrade = false;
        if (all && evbuffer_get_length(in) == 0)
            smtp_handshake_start(client);
        else /* somebody put words into the server's mouth, to be believed once TLS stands */
            smtp_client_end_confused(client);
    }
    leave(client);
}

static void on_write(struct bufferevent *connection, void *data)
{
    SmtpClient *client = data;
    enter(client);
    if (client->phase == SMTP_QUIT && evbuffer_get_length(bufferevent_get_output(connection)) == 0)
        end_orderly(client);
    else
        smtp_transaction_drained(client);
    leave(client);
}

static void connected(SmtpClient *client)
{
    if (client->phase == SMTP_TLS)
        smtp_handshake_done(client);
    else
        smtp_session_start(client);
}

/* Read on when writing fails: a server that refuses a message before it is whole often says why and closes, and our
 * writing fails before we read it. */
static void hear_out(SmtpClient *client)
{
    char octets[4096];
    int fd = bufferevent_getfd(client->connection);
    ssize_t length;
    while (!client->doomed && !client->upgrade && client->phase > SMTP_TLS &&
           (length = client->ssl ? SSL_read(client->ssl, octets, sizeof(octets)) :
                                   recv(fd, octets, sizeof(octets), MSG_DONTWAIT)) > 0)
        take_octets(client, octets, (size_t)length);
}

static void end_lost(SmtpClient *client)
{
    bool over_ehlo = client->phase == SMTP_HELO && !client->helo_tried &&
                     client->settings->protocol == SMTP_PROTOCOL_SMTP;
    SmtpPhase phase = phase_seen(client);
    g_autofree char *text = g_strdup_printf("lost connection with %s while %s", client->peer, smtp_phase_name(phase));
    close_client(client, &(SmtpResult){.verdict = SMTP_LATER, .phase = phase, .status = "4.4.2",
                                          .text = text, .reply = text, .connection = true,
                                          .fallback = over_ehlo ? SMTP_FALLBACK_EHLO : SMTP_FALLBACK_NONE});
}

static void lost(SmtpClient *client, short what)
{
    if (what & BEV_EVENT_WRITING)
        hear_out(client);
    if (client->doomed)
        return;
    if (client->phase == SMTP_IDLE || client->phase == SMTP_QUIT)
        end_orderly(client);
    else if (client->phase == SMTP_TLS)
        smtp_session_tls_failed(client, smtp_handshake_problem(client));
    else
        end_lost(client);
}

static void on_event(struct bufferevent *connection, short what, void *data)
{
    (void)connection;
    SmtpClient *client = data;
    int number = errno;
    enter(client);
    if (what & BEV_EVENT_CONNECTED)
        connected(client);
    else if (client->phase == SMTP_CONNECT)
        smtp_client_end_by_us(client, "4.4.1", g_strdup_printf("connect to %s: %s", client->peer, g_strerror(number)));
    else
        lost(client, what);
    leave(client);
}

static void timed_out(SmtpClient *client)
{
    if (client->phase == SMTP_IDLE)
        smtp_client_say(client, SMTP_QUIT, "QUIT\r\n");
    else if (client->phase == SMTP_QUIT)
        end_orderly(client);
    else if (client->phase == SMTP_TLS)
        smtp_session_tls_failed(client, g_strdup("time-out"));
    else
        smtp_client_end_by_us(client, client->phase == SMTP_CONNECT ? "4.4.1" : "4.4.2",
                              g_strdup_printf("%s timed out while %s", client->peer,
                                              smtp_phase_name(phase_seen(client))));
}

static void on_timer(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    SmtpClient *client = data;
    enter(client);
    int64_t limit = client->settings->timeouts[client->phase];
    int64_t waited = clock_monotonic() - client->progress;
    bool sending = client->phase == SMTP_BODY || client->phase == SMTP_DOT;
    if (client->connect_error)
        smtp_client_end_by_us(client, "4.4.1", g_strdup_printf("connect to %s: %s", client->peer,
                                                               g_strerror(client->connect_error)));
    else if (client->turn.refusal)
        smtp_transaction_refuse(client);
    else if (client->ending && client->phase < SMTP_IDLE)
        end_orderly(client);
    else if (limit > 0 && sending && flows(client, limit))
        arm(client, limit);
    else if (limit > 0 && client->phase != SMTP_BODY && waited < limit)
        arm(client, limit - waited);
    else if (limit > 0)
        timed_out(client);
    leave(client);
}

/* --- the beginning ------------------------------------------------------ */

static char *name_peer(const char *host, const struct sockaddr *address)
{
    char text[INET6_ADDRSTRLEN] = "";
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)address;
        inet_ntop(AF_INET, &four->sin_addr, text, sizeof(text));
        return g_strdup_printf("%s[%s]:%u", host, text, ntohs(four->sin_port));
    }
    if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
        inet_ntop(AF_INET6, &six->sin6_addr, text, sizeof(text));
        return g_strdup_printf("%s[%s]:%u", host, text, ntohs(six->sin6_port));
    }
    return g_strdup(host);
}

static SmtpClient *start(struct event_base *base, const SmtpSettings *settings, const SmtpHandler *handler, void *data)
{
    g_assert(settings->tls == SMTP_TLS_NONE || settings->tls_context);
    SmtpClient *client = g_new0(SmtpClient, 1);
    client->base = base;
    client->settings = settings;
    client->handler = handler;
    client->data = data;
    client->scratch = g_string_sized_new(512);
    client->timer = evtimer_new(base, on_timer, client);
    smtp_reply_init(&client->reply);
    return client;
}

static void use(SmtpClient *client, struct bufferevent *connection)
{
    client->connection = connection;
    bufferevent_set_max_single_read(connection, READ_PIECE);
    bufferevent_set_max_single_write(connection, 4 * READ_PIECE);
    bufferevent_setcb(connection, on_read, on_write, on_event, client);
    evbuffer_add_cb(bufferevent_get_output(connection), on_output, client);
}

static void attach(SmtpClient *client, int fd)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* fails for UNIX sockets, which need it not */
    use(client, bufferevent_socket_new(client->base, fd, BEV_OPT_CLOSE_ON_FREE));
}

void smtp_client_replace(SmtpClient *client, struct bufferevent *connection)
{
    bufferevent_setfd(client->connection, -1);
    SSL *ssl = client->ssl;
    drop_connection(client);
    client->ssl = ssl;
    use(client, connection);
}

static void open_connection(SmtpClient *client)
{
    const struct sockaddr *address = (const struct sockaddr *)&client->address;
    smtp_client_phase(client, SMTP_CONNECT);
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || (connect(fd, address, client->address_length) != 0 && errno != EINPROGRESS)) {
        client->connect_error = errno;
        attach(client, fd);
        smtp_client_soon(client);
        return;
    }
    attach(client, fd);
    bufferevent_enable(client->connection, EV_READ | EV_WRITE);
    bufferevent_socket_connect(client->connection, NULL, 0); /* reports when the socket is connected */
}

void smtp_client_reconnect(SmtpClient *client)
{
    drop_connection(client);
    smtp_reply_init(&client->reply);
    client->written = 0;
    client->helo_tried = false;
    open_connection(client);
}

SmtpClient *smtp_client_adopt(struct event_base *base, int fd, const SmtpSettings *settings,
                              const SmtpHandler *handler, void *data)
{
    SmtpClient *client = start(base, settings, handler, data);
    client->peer = g_strdup(settings->server);
    evutil_make_socket_nonblocking(fd);
    attach(client, fd);
    bufferevent_enable(client->connection, EV_READ | EV_WRITE);
    smtp_session_start(client);
    return client;
}

SmtpClient *smtp_client_new(struct event_base *base, const struct sockaddr *address, socklen_t length,
                            const SmtpSettings *settings, const SmtpHandler *handler, void *data)
{
    SmtpClient *client = start(base, settings, handler, data);
    g_assert(length <= sizeof(client->address));
    client->peer = name_peer(settings->server, address);
    memcpy(&client->address, address, length);
    client->address_length = length;
    open_connection(client);
    return client;
}

void smtp_client_quit(SmtpClient *client)
{
    client->ending = true;
    if (client->phase == SMTP_IDLE)
        smtp_client_say(client, SMTP_QUIT, "QUIT\r\n");
    else if (client->phase < SMTP_IDLE)
        smtp_client_soon(client);
}

const char *smtp_client_peer(const SmtpClient *client)
{
    return client->peer;
}

const char *smtp_client_tls(const SmtpClient *client)
{
    return client->tls;
}

unsigned smtp_client_transactions(const SmtpClient *client)
{
    return client->transactions;
}

bool smtp_client_leaving(const SmtpClient *client)
{
    return client->phase == SMTP_QUIT;
}

bool smtp_client_busy(const SmtpClient *client)
{
    return client->phase != SMTP_IDLE;
}
