/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/smtp_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/bufferevent_ssl.h>
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

/* Call the timer as soon as the loop runs again. */
static void soon(SmtpClient *client)
{
    event_active(client->timer, EV_TIMEOUT, 0);
}

/* Bytes that have left this host: those that we wrote, less those that our kernel keeps because the peer's has not
 * taken them. */
static uint64_t octets_gone(const SmtpClient *client)
{
    int kept = 0;
    evutil_socket_t fd = bufferevent_getfd(client->connection);
    if (fd < 0 || ioctl(fd, SIOCOUTQ, &kept) != 0 || kept < 0)
        kept = 0;
    return client->written - MIN(client->written, (uint64_t)kept);
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

/* Return false when the peer's kernel certainly lacks the end of the message: ours takes megabytes that the peer never
 * reads. */
static bool message_arrived(const SmtpClient *client)
{
    /* Over TCP the bytes that ours has not sent did not arrive. One that was sent and not acknowledged may be there,
     * because the acknowledgement can be lost as well. */
    int unsent = 0;
    bool network = client->address.ss_family == AF_INET || client->address.ss_family == AF_INET6;
    if (ioctl(bufferevent_getfd(client->connection), network ? SIOCOUTQNSD : SIOCOUTQ, &unsent) != 0 || unsent < 0)
        unsent = 0;
    /* Only over TCP in clear text the kernel counts what we wrote, with neither framing nor memory of its own. */
    uint64_t behind = client->written - client->turn.end;
    bool exact = network && !client->ssl;
    return (uint64_t)unsent <= behind || (behind > 0 && !exact);
}

/* Return the phase that the peer has seen. */
static SmtpPhase phase_seen(const SmtpClient *client)
{
    bool whole = !client->turn.cursor.ended || message_arrived(client);
    return client->phase == SMTP_DOT && !whole ? SMTP_BODY : client->phase;
}

/* Append the command to the output, and enter the phase in which its reply is awaited. */
static void say(SmtpClient *client, SmtpPhase phase, const char *command)
{
    bufferevent_write(client->connection, command, strlen(command));
    smtp_client_phase(client, phase);
}

/* --- the meaning of a reply --------------------------------------------- */

/* Names, and the command that a reply of the phase answers. */
static const struct {
    const char *name;
    const char *command;
} phases[SMTP_PHASES] = {
    [SMTP_CONNECT] = {"connecting", NULL},
    [SMTP_GREETING] = {"waiting for the greeting", NULL},
    [SMTP_HELO] = {"greeting the server", "EHLO"},
    [SMTP_TLS] = {"starting TLS", "STARTTLS"},
    [SMTP_AUTH] = {"authenticating", "AUTH"},
    [SMTP_IDLE] = {"idle", NULL},
    [SMTP_MAIL] = {"sending MAIL FROM", "MAIL FROM"},
    [SMTP_RCPT] = {"sending RCPT TO", "RCPT TO"},
    [SMTP_DATA] = {"sending DATA", "DATA"},
    [SMTP_BODY] = {"sending the message", "message"},
    [SMTP_DOT] = {"waiting for the reply to the end of data", "end of data"},
    [SMTP_RSET] = {"sending RSET", "RSET"},
    [SMTP_QUIT] = {"sending QUIT", "QUIT"},
};

void smtp_client_judge_clear(SmtpVerdictText *judged)
{
    g_free(judged->text);
    g_free(judged->reply);
}

void smtp_client_judge(SmtpClient *client, SmtpVerdictText *judged)
{
    const SmtpReply *reply = &client->reply;
    judged->reply = smtp_reply_print(reply);
    memcpy(judged->status, reply->status, sizeof(judged->status));
    judged->result = (SmtpResult){
        .phase = client->phase, .code = reply->code, .status = judged->status, .reply = judged->reply};
    judged->result.text = judged->reply;
    if (smtp_reply_class(reply) == 2) {
        judged->result.verdict = SMTP_SENT;
        return;
    }
    unsigned code = reply->code;
    /* A transaction that was sent behind another is told that its commands were not expected. */
    bool unexpected = client->turn.behind && client->phase != SMTP_RSET && (code == 500 || code == 502 || code == 503);
    /* A server that offers CHUNKING may not know BDAT, or its argument. */
    bool to_body = client->phase == SMTP_BODY || client->phase == SMTP_DOT;
    bool knows_no_bdat = client->turn.cursor.chunk && !client->turn.behind && to_body && code >= 500 && code <= 504 &&
                         (!reply->has_status || g_str_has_prefix(reply->status, "5.5."));
    /* "552" to RCPT without better knowledge means too many recipients (RFC 5321, 4.5.3.1.10). */
    bool too_many = client->phase == SMTP_RCPT && code == 552 &&
                    (!reply->has_status || strcmp(reply->status, "5.5.3") == 0);
    /* Where the server refuses us, not the message, a 5xx is no last word either. */
    bool later = smtp_reply_class(reply) == 4 || client->phase < SMTP_MAIL || unexpected || knows_no_bdat || too_many;
    judged->result.verdict = later ? SMTP_LATER : SMTP_NEVER;
    judged->result.connection = code == 421 || client->phase < SMTP_MAIL;
    judged->status[0] = later ? '4' : '5';
    if (knows_no_bdat)
        judged->result.fallback = SMTP_FALLBACK_CHUNKING;
    /* A refusal that concerns all recipients and judged none lets the transaction go again at once. */
    judged->result.behind = unexpected;
    judged->result.unstarted = unexpected && client->phase != SMTP_RCPT;
    const char *command = phases[client->phase].command;
    judged->text = g_strdup_printf("%s said: %s%s%s%s", client->peer, judged->reply, command ? " (in reply to " : "",
                                   command ? command : "", command ? ")" : "");
    judged->result.text = judged->text;
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

/* The loop's call is over. The client is freed here when it ended meanwhile. */
static void leave(SmtpClient *client)
{
    client->in_callback = false;
    if (client->doomed)
        release(client);
}

/* Report all recipients that have no result yet, then that the connection has ended. */
static void close_client(SmtpClient *client, const SmtpResult *why)
{
    if (client->doomed)
        return;
    client->doomed = true;
    bufferevent_disable(client->connection, EV_READ | EV_WRITE);
    event_del(client->timer);

    const SmtpTurn *turn = &client->turn;
    SmtpResult fate = *why;
    bool silent = why->code == 0;
    bool ahead = client->pipelining && turn->active && turn->next_rcpt == 0 && !turn->behind;
    if (silent && why->connection && ahead && client->phase == SMTP_RCPT && !turn->bdat_ahead)
        fate.fallback = SMTP_FALLBACK_PIPELINING;
    bool all_said = client->phase == SMTP_DOT || (turn->bdat_ahead && client->phase >= SMTP_MAIL);
    fate.in_doubt = silent && all_said && smtp_transaction_sent(client) && message_arrived(client);
    fate.unstarted = client->phase == SMTP_MAIL && turn->number > 1 && why->connection && !fate.in_doubt;
    smtp_transaction_end(client, &fate);

    /* A server that says goodbye has not come to what was written behind, or it would have said something else first.
     * Who says nothing, or refuses RSET and goes on, may have taken it. */
    fate = *why;
    fate.verdict = SMTP_LATER;
    fate.status = why->verdict == SMTP_LATER ? why->status : "4.5.0";
    fate.behind = true;
    fate.unstarted = why->code == 421;
    while (!g_queue_is_empty(&client->behind)) {
        smtp_transaction_next(client);
        fate.in_doubt = !fate.unstarted && smtp_transaction_sent(client) && message_arrived(client);
        smtp_transaction_end(client, &fate);
    }
    client->handler->closed(client, why, client->data);
}

void smtp_client_end_by_reply(SmtpClient *client)
{
    g_auto(SmtpVerdictText) judged = {0};
    smtp_client_judge(client, &judged);
    close_client(client, &judged.result);
}

/* End the connection for a reason of our own, whose text is consumed. */
static void end_by_us(SmtpClient *client, const char *status, char *text)
{
    g_autofree char *owned = text;
    close_client(client, &(SmtpResult){.verdict = SMTP_LATER, .phase = phase_seen(client), .status = status,
                                          .text = owned, .reply = owned, .connection = true});
}

void smtp_client_end_confused(SmtpClient *client)
{
    end_by_us(client, "4.5.0",
              g_strdup_printf("%s broke the protocol while %s", client->peer, phases[client->phase].name));
}

static void end_orderly(SmtpClient *client)
{
    close_client(client, &(SmtpResult){.verdict = SMTP_SENT, .phase = client->phase, .status = "2.0.0",
                                          .text = "closed", .reply = "closed"});
}

/* --- between transactions ----------------------------------------------- */

/* Tell whether RSET was sent already: it stands before a transaction that was written behind this one. */
static bool reset_already(SmtpClient *client)
{
    if (g_queue_is_empty(&client->behind))
        return false;
    smtp_client_phase(client, SMTP_RSET);
    return true;
}

void smtp_client_rest(SmtpClient *client)
{
    if (reset_already(client))
        return;
    smtp_client_phase(client, SMTP_IDLE);
    if (client->ending)
        say(client, SMTP_QUIT, "QUIT\r\n");
    else
        client->handler->ready(client, client->data);
}

void smtp_client_reset(SmtpClient *client)
{
    if (!reset_already(client))
        say(client, SMTP_RSET, "RSET\r\n");
}

/* --- the connection ----------------------------------------------------- */

static void on_read(struct bufferevent *connection, void *data);
static void on_write(struct bufferevent *connection, void *data);
static void on_event(struct bufferevent *connection, short what, void *data);

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

static void open_connection(SmtpClient *client)
{
    const struct sockaddr *address = (const struct sockaddr *)&client->address;
    smtp_client_phase(client, SMTP_CONNECT);
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || (connect(fd, address, client->address_length) != 0 && errno != EINPROGRESS)) {
        client->connect_error = errno;
        attach(client, fd);
        soon(client);
        return;
    }
    attach(client, fd);
    bufferevent_enable(client->connection, EV_READ | EV_WRITE);
    bufferevent_socket_connect(client->connection, NULL, 0); /* reports when the socket is connected */
}

/* --- TLS ---------------------------------------------------------------- */

static void start_handshake(SmtpClient *client)
{
    const SmtpSettings *settings = client->settings;
    smtp_client_phase(client, SMTP_TLS);
    /* Without SMTP_TLS_VERIFY the certificate is looked at all the same, for the log. */
    SSL *ssl = smtp_tls_session(settings->tls_context, settings->tls_name ? settings->tls_name : settings->server,
                                settings->tls == SMTP_TLS_VERIFY);
    struct bufferevent *connection = bufferevent_openssl_socket_new(
        client->base, bufferevent_getfd(client->connection), ssl, BUFFEREVENT_SSL_CONNECTING, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setfd(client->connection, -1); /* the socket is that of the new one */
    drop_connection(client);
    client->ssl = ssl;
    use(client, connection);
    bufferevent_openssl_set_allow_dirty_shutdown(connection, 1); /* SMTP has its own end */
    bufferevent_enable(connection, EV_READ | EV_WRITE);
}

static void start_session(SmtpClient *client)
{
    if (client->settings->tls_at_once && client->settings->tls != SMTP_TLS_NONE && !client->tls)
        start_handshake(client);
    else
        smtp_client_phase(client, SMTP_GREETING);
}

/* Whether the session may go on without TLS: a password may be the reason that it may not. */
static bool clear_allowed(const SmtpClient *client)
{
    const SmtpSettings *settings = client->settings;
    return settings->tls <= SMTP_TLS_MAY && (!settings->auth_user || settings->auth_in_clear);
}

/* Return why the handshake failed, for people; g_free(). */
static char *handshake_problem(const SmtpClient *client)
{
    if (!client->ssl)
        return g_strdup("the server closed the connection");
    long verdict = SSL_get_verify_result(client->ssl);
    if (client->settings->tls == SMTP_TLS_VERIFY && verdict != X509_V_OK)
        return g_strdup_printf("the server's certificate: %s", X509_verify_cert_error_string(verdict));
    return smtp_tls_problem(bufferevent_get_openssl_error(client->connection));
}

/* Go on in clear text over a new connection where that is allowed, else end. why is consumed. */
static void tls_failed(SmtpClient *client, char *why)
{
    g_autofree char *reason = why;
    if (!clear_allowed(client) || client->address_length == 0 || client->settings->tls_at_once) {
        end_by_us(client, "4.7.5", g_strdup_printf("TLS with %s failed: %s", client->peer, reason));
        return;
    }
    log_info("%s: TLS failed (%s); it is tried again in clear text", client->peer, reason);
    client->in_clear = true;
    drop_connection(client);
    smtp_reply_init(&client->reply);
    client->written = 0;
    client->helo_tried = false;
    open_connection(client);
}

/* --- AUTH --------------------------------------------------------------- */

static void end_unauthenticated(SmtpClient *client, const char *problem)
{
    end_by_us(client, "4.7.0", g_strdup_printf("authentication with %s: %s", client->peer, problem));
}

static void say_secret(SmtpClient *client, char *line)
{
    bufferevent_write(client->connection, line, strlen(line));
    say(client, SMTP_AUTH, "\r\n");
    explicit_bzero(line, strlen(line));
    g_free(line);
}

/* No weaker mechanism after a refusal: that is what somebody between would want. */
static void auth_reply(SmtpClient *client)
{
    const char *problem = NULL;
    char *answer = NULL;
    switch (smtp_reply_class(&client->reply)) {
    case 2:
        problem = smtp_auth_doubt(client->auth);
        break;
    case 3:
        answer = smtp_auth_answer(client->auth, client->reply.text, &problem);
        break;
    default:
        smtp_client_end_by_reply(client);
        return;
    }
    if (answer) {
        say_secret(client, answer);
    } else if (problem) {
        end_unauthenticated(client, problem);
    } else {
        g_clear_pointer(&client->auth, smtp_auth_free);
        smtp_client_rest(client);
    }
}

/* --- what the server can do --------------------------------------------- */

static void take_extension(SmtpClient *client, const char *line)
{
    static const struct {
        const char *keyword;
        SmtpExtension extension;
    } keywords[] = {
        {"PIPELINING", SMTP_EXT_PIPELINING}, {"8BITMIME", SMTP_EXT_8BITMIME}, {"SMTPUTF8", SMTP_EXT_SMTPUTF8},
        {"SIZE", SMTP_EXT_SIZE},             {"CHUNKING", SMTP_EXT_CHUNKING}, {"DSN", SMTP_EXT_DSN},
        {"STARTTLS", SMTP_EXT_STARTTLS},     {"XVERP", SMTP_EXT_XVERP},
    };
    size_t length = strcspn(line, " =");
    for (size_t i = 0; i < G_N_ELEMENTS(keywords); i++)
        if (strlen(keywords[i].keyword) == length && g_ascii_strncasecmp(line, keywords[i].keyword, length) == 0)
            client->extensions |= keywords[i].extension;
    if (!line[length] || length != 4)
        return;
    if (g_ascii_strncasecmp(line, "SIZE", 4) == 0)
        client->size_limit = g_ascii_strtoull(line + 5, NULL, 10);
    if (g_ascii_strncasecmp(line, "AUTH", 4) != 0)
        return;
    g_auto(GStrv) words = g_strsplit_set(line + 5, " =", -1); /* "AUTH=PLAIN" is of a draft, and still met with */
    for (char **word = words; *word; word++)
        client->mechanisms |= smtp_auth_mechanism(*word);
}

static void say_hello(SmtpClient *client, const char *verb)
{
    g_autofree char *command = g_strdup_printf("%s %s\r\n", verb, client->settings->helo_name);
    say(client, SMTP_HELO, command);
}

/* Send EHLO, LHLO or HELO, and forget the extensions announced before TLS: anybody may have said them. */
static void greet(SmtpClient *client)
{
    client->extensions = 0;
    client->mechanisms = 0;
    client->size_limit = 0;
    bool lmtp = client->settings->protocol == SMTP_PROTOCOL_LMTP;
    client->helo_tried = client->settings->helo && !lmtp;
    say_hello(client, lmtp ? "LHLO" : client->helo_tried ? "HELO" : "EHLO");
}

/* Note what was agreed, and go on. "Verified": valid and in its name; "untrusted": encrypted, to whomever. */
static void handshake_done(SmtpClient *client)
{
    bool verified = SSL_get_verify_result(client->ssl) == X509_V_OK && SSL_get0_peer_certificate(client->ssl);
    const SSL_CIPHER *cipher = SSL_get_current_cipher(client->ssl);
    g_free(client->tls);
    client->tls = g_strdup_printf("%s with cipher %s (%d bits), %s", SSL_get_version(client->ssl),
                                  SSL_CIPHER_get_name(cipher), SSL_CIPHER_get_bits(cipher, NULL),
                                  verified ? "verified" : "untrusted");
    log_info("TLS with %s: %s", client->peer, client->tls);
    if (client->settings->tls_at_once)
        start_session(client);
    else
        greet(client);
}

/* The server has introduced itself: do what comes before it is of use. */
static void negotiate(SmtpClient *client)
{
    const SmtpSettings *settings = client->settings;
    bool want_tls = settings->tls != SMTP_TLS_NONE && !client->tls && !client->in_clear;
    client->pipelining = (client->extensions & SMTP_EXT_PIPELINING) && !settings->no_pipelining;
    if (want_tls && (client->extensions & SMTP_EXT_STARTTLS)) {
        say(client, SMTP_TLS, "STARTTLS\r\n");
    } else if (!client->tls && settings->tls > SMTP_TLS_MAY) {
        end_by_us(client, "4.7.4",
                  g_strdup_printf("%s offers no TLS, without which nothing is sent to it", client->peer));
    } else if (!client->tls && !clear_allowed(client)) {
        end_unauthenticated(client, "it offers no TLS, without which no password is sent");
    } else if (settings->auth_user) {
        unsigned wanted = settings->auth_mechanisms ? settings->auth_mechanisms : ~0u;
        client->auth = smtp_auth_new(client->mechanisms & wanted, settings->auth_user, settings->auth_password, NULL);
        if (client->auth)
            say_secret(client, smtp_auth_begin(client->auth));
        else
            end_unauthenticated(client, client->mechanisms ? "it offers none of the mechanisms allowed"
                                                           : "it offers none of PLAIN, LOGIN and SCRAM");
    } else {
        smtp_client_rest(client);
    }
}

static void hello_reply(SmtpClient *client)
{
    unsigned class = smtp_reply_class(&client->reply);
    if (class == 5 && !client->helo_tried && client->settings->protocol == SMTP_PROTOCOL_SMTP) {
        client->helo_tried = true;
        say_hello(client, "HELO");
        return;
    }
    if (class != 2) {
        smtp_client_end_by_reply(client);
        return;
    }
    if (!client->helo_tried) {
        g_auto(GStrv) lines = g_strsplit(client->reply.text, "\n", -1);
        for (char **line = lines[0] ? lines + 1 : lines; *line; line++)
            take_extension(client, *line);
    }
    negotiate(client);
}

/* --- what the loop calls ------------------------------------------------ */

/* Act on the current reply, outside of a transaction. */
static void session_reply(SmtpClient *client)
{
    bool good = smtp_reply_class(&client->reply) == 2;
    bool behind = !g_queue_is_empty(&client->behind);
    switch (client->phase) {
    case SMTP_GREETING:
        if (good)
            greet(client);
        else
            smtp_client_end_by_reply(client);
        break;
    case SMTP_HELO:
        hello_reply(client);
        break;
    case SMTP_TLS:
        if (good) {
            client->upgrade = true; /* on_read() goes on when it has looked at what else has come */
        } else if (clear_allowed(client)) {
            /* Refused in spite of the announcement: where TLS is not a must, the session goes on as it is. */
            client->in_clear = true;
            negotiate(client);
        } else {
            smtp_client_end_by_reply(client);
        }
        break;
    case SMTP_AUTH:
        auth_reply(client);
        break;
    case SMTP_RSET:
        /* After a message that was taken there is nothing left to forget, and what was written behind has been said. */
        if (!good && !(behind && client->turn.taken)) {
            smtp_client_end_by_reply(client);
        } else if (!behind) {
            smtp_client_rest(client);
        } else {
            smtp_transaction_next(client);
            smtp_client_phase(client, SMTP_MAIL);
        }
        break;
    default:
        smtp_client_end_confused(client); /* it speaks before it is connected to */
    }
}

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
        session_reply(client);
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
    client->in_callback = true;
    size_t length;
    bool all = true;
    while (!client->doomed && !client->upgrade && (length = evbuffer_get_contiguous_space(in)) > 0) {
        all = take_octets(client, (const char *)evbuffer_pullup(in, (ev_ssize_t)length), length);
        evbuffer_drain(in, length);
    }
    if (client->upgrade && !client->doomed) {
        client->upgrade = false;
        if (all && evbuffer_get_length(in) == 0)
            start_handshake(client);
        else /* somebody put words into the server's mouth, to be believed once TLS stands */
            smtp_client_end_confused(client);
    }
    leave(client);
}

static void on_write(struct bufferevent *connection, void *data)
{
    SmtpClient *client = data;
    client->in_callback = true;
    if (client->phase == SMTP_QUIT && evbuffer_get_length(bufferevent_get_output(connection)) == 0)
        end_orderly(client);
    else
        smtp_transaction_drained(client);
    leave(client);
}

static void lost(SmtpClient *client, short what)
{
    /* Read on when writing fails: a server that refuses a message before it is whole often says why and closes, and our
     * writing fails before we read it. */
    char octets[4096];
    int fd = bufferevent_getfd(client->connection);
    ssize_t length;
    while ((what & BEV_EVENT_WRITING) && !client->doomed && !client->upgrade && client->phase > SMTP_TLS &&
           (length = client->ssl ? SSL_read(client->ssl, octets, sizeof(octets))
                                 : recv(fd, octets, sizeof(octets), MSG_DONTWAIT)) > 0)
        take_octets(client, octets, (size_t)length);
    if (client->doomed)
        return;
    if (client->phase == SMTP_IDLE || client->phase == SMTP_QUIT) {
        end_orderly(client);
    } else if (client->phase == SMTP_TLS) {
        tls_failed(client, handshake_problem(client));
    } else {
        bool over_ehlo = client->phase == SMTP_HELO && !client->helo_tried &&
                         client->settings->protocol == SMTP_PROTOCOL_SMTP;
        SmtpPhase phase = phase_seen(client);
        g_autofree char *text = g_strdup_printf("lost connection with %s while %s", client->peer, phases[phase].name);
        close_client(client, &(SmtpResult){.verdict = SMTP_LATER,
                                           .phase = phase,
                                           .status = "4.4.2",
                                           .text = text,
                                           .reply = text,
                                           .connection = true,
                                           .fallback = over_ehlo ? SMTP_FALLBACK_EHLO : SMTP_FALLBACK_NONE});
    }
}

static void on_event(struct bufferevent *connection, short what, void *data)
{
    (void)connection;
    SmtpClient *client = data;
    int number = errno;
    client->in_callback = true;
    if ((what & BEV_EVENT_CONNECTED) && client->phase == SMTP_TLS)
        handshake_done(client);
    else if (what & BEV_EVENT_CONNECTED)
        start_session(client);
    else if (client->phase == SMTP_CONNECT)
        end_by_us(client, "4.4.1", g_strdup_printf("connect to %s: %s", client->peer, g_strerror(number)));
    else
        lost(client, what);
    leave(client);
}

static void on_timer(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    SmtpClient *client = data;
    client->in_callback = true;
    int64_t limit = client->settings->timeouts[client->phase];
    int64_t waited = clock_monotonic() - client->progress;
    bool sending = client->phase == SMTP_BODY || client->phase == SMTP_DOT;
    if (client->connect_error)
        end_by_us(client, "4.4.1",
                  g_strdup_printf("connect to %s: %s", client->peer, g_strerror(client->connect_error)));
    else if (client->turn.refusal)
        smtp_transaction_refuse(client);
    else if (client->ending && client->phase < SMTP_IDLE)
        end_orderly(client);
    else if (limit <= 0)
        ; /* this phase has no end of its own */
    else if (sending && flows(client, limit))
        arm(client, limit);
    else if (client->phase != SMTP_BODY && waited < limit)
        arm(client, limit - waited);
    else if (client->phase == SMTP_IDLE)
        say(client, SMTP_QUIT, "QUIT\r\n");
    else if (client->phase == SMTP_QUIT)
        end_orderly(client);
    else if (client->phase == SMTP_TLS)
        tls_failed(client, g_strdup("time-out"));
    else
        end_by_us(client, client->phase == SMTP_CONNECT ? "4.4.1" : "4.4.2",
                  g_strdup_printf("%s timed out while %s", client->peer, phases[phase_seen(client)].name));
    leave(client);
}

/* --- for the owner ------------------------------------------------------ */

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

SmtpClient *smtp_client_adopt(struct event_base *base, int fd, const SmtpSettings *settings,
                              const SmtpHandler *handler, void *data)
{
    SmtpClient *client = start(base, settings, handler, data);
    client->peer = g_strdup(settings->server);
    evutil_make_socket_nonblocking(fd);
    attach(client, fd);
    bufferevent_enable(client->connection, EV_READ | EV_WRITE);
    start_session(client);
    return client;
}

SmtpClient *smtp_client_new(struct event_base *base, const struct sockaddr *address, socklen_t length,
                            const SmtpSettings *settings, const SmtpHandler *handler, void *data)
{
    SmtpClient *client = start(base, settings, handler, data);
    g_assert(length <= sizeof(client->address));
    memcpy(&client->address, address, length);
    client->address_length = length;
    const struct sockaddr_in *four = (const struct sockaddr_in *)&client->address;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&client->address;
    char text[INET6_ADDRSTRLEN] = "";
    if (address->sa_family == AF_INET)
        client->peer = g_strdup_printf("%s[%s]:%u", settings->server,
                                       inet_ntop(AF_INET, &four->sin_addr, text, sizeof(text)), ntohs(four->sin_port));
    else if (address->sa_family == AF_INET6)
        client->peer = g_strdup_printf("%s[%s]:%u", settings->server,
                                       inet_ntop(AF_INET6, &six->sin6_addr, text, sizeof(text)), ntohs(six->sin6_port));
    else
        client->peer = g_strdup(settings->server);
    open_connection(client);
    return client;
}

void smtp_client_quit(SmtpClient *client)
{
    client->ending = true;
    if (client->phase == SMTP_IDLE)
        say(client, SMTP_QUIT, "QUIT\r\n");
    else if (client->phase < SMTP_IDLE)
        soon(client);
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
