/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/smtp_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/smtp_client_internal.h"

#define READ_PIECE (64 * 1024)

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

const char *smtp_phase_name(SmtpPhase phase)
{
    return phases[phase].name;
}

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

/* The timer is set once a phase; when it fires, it looks how long ago the
 * last progress was. */
void smtp_client_phase(SmtpClient *client, SmtpPhase phase)
{
    client->phase = phase;
    client->progress = clock_monotonic();
    if (client->settings->timeouts[phase] > 0)
        arm(client, client->settings->timeouts[phase]);
    else
        event_del(client->timer);
}

static void on_output(struct evbuffer *buffer, const struct evbuffer_cb_info *info, void *data)
{
    (void)buffer;
    SmtpClient *client = data;
    if (info->n_deleted > 0)
        client->progress = clock_monotonic();
}

void smtp_client_write(SmtpClient *client, const char *text, size_t length)
{
    bufferevent_write(client->connection, text, length);
}

/* --- results ------------------------------------------------------------ */

void smtp_client_judge_clear(SmtpVerdictText *judged)
{
    g_free(judged->text);
    g_free(judged->reply);
}

/* "552" to RCPT without better knowledge means too many recipients
 * (RFC 5321, 4.5.3.1.10). */
static bool means_later(const SmtpClient *client)
{
    const SmtpReply *reply = &client->reply;
    if (smtp_reply_class(reply) == 4)
        return true;
    if (client->phase < SMTP_MAIL)
        return true; /* the server refuses us, not the message */
    return client->phase == SMTP_RCPT && reply->code == 552 &&
           (!reply->has_status || strcmp(reply->status, "5.5.3") == 0);
}

void smtp_client_judge(SmtpClient *client, SmtpVerdictText *judged)
{
    const SmtpReply *reply = &client->reply;
    judged->reply = smtp_reply_print(reply);
    memcpy(judged->status, reply->status, sizeof(judged->status));
    judged->result = (SmtpResult){.phase = client->phase, .code = reply->code, .status = judged->status,
                                  .reply = judged->reply};
    if (smtp_reply_class(reply) == 2) {
        judged->result.verdict = SMTP_SENT;
        judged->text = g_strdup(judged->reply);
    } else {
        bool later = means_later(client);
        judged->result.verdict = later ? SMTP_LATER : SMTP_NEVER;
        judged->result.connection = reply->code == 421 || client->phase < SMTP_MAIL;
        judged->status[0] = later ? '4' : '5';
        const char *command = phases[client->phase].command;
        judged->text = g_strdup_printf("%s said: %s%s%s%s", client->peer, judged->reply,
                                       command ? " (in reply to " : "", command ? command : "", command ? ")" : "");
    }
    judged->result.text = judged->text;
}

/* --- the end ------------------------------------------------------------ */

static void release(SmtpClient *client)
{
    if (client->timer)
        event_free(client->timer);
    if (client->connection) {
        evbuffer_remove_cb(bufferevent_get_output(client->connection), on_output, client);
        bufferevent_free(client->connection);
    }
    smtp_body_unref(client->active ? client->transaction.body : NULL);
    g_byte_array_unref(client->fates);
    g_string_free(client->scratch, TRUE);
    g_free(client->peer);
    g_free(client->tls);
    g_free(client);
}

void smtp_client_free(SmtpClient *client)
{
    if (!client)
        return;
    g_assert(!client->in_callback);
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

void smtp_client_end(SmtpClient *client, const SmtpResult *why)
{
    if (client->doomed)
        return;
    client->doomed = true;
    bufferevent_disable(client->connection, EV_READ | EV_WRITE);
    event_del(client->timer);
    SmtpResult fate = *why;
    fate.in_doubt = client->phase == SMTP_DOT && why->code == 0;
    fate.unstarted = client->phase == SMTP_MAIL && client->transactions > 1 && why->connection;
    smtp_transaction_end(client, &fate);
    client->handler->closed(client, why, client->data);
}

void smtp_client_end_by_reply(SmtpClient *client)
{
    g_auto(SmtpVerdictText) judged = {0};
    smtp_client_judge(client, &judged);
    smtp_client_end(client, &judged.result);
}

static void end_by_us(SmtpClient *client, const char *status, char *text)
{
    g_autofree char *owned = text;
    smtp_client_end(client, &(SmtpResult){.verdict = SMTP_LATER, .phase = client->phase, .status = status,
                                          .text = owned, .reply = owned, .connection = true});
}

void smtp_client_end_confused(SmtpClient *client)
{
    end_by_us(client, "4.5.0", g_strdup_printf("%s broke the protocol while %s", client->peer,
                                               phases[client->phase].name));
}

static void end_orderly(SmtpClient *client)
{
    smtp_client_end(client, &(SmtpResult){.verdict = SMTP_SENT, .phase = client->phase, .status = "2.0.0",
                                          .text = "closed", .reply = "closed"});
}

/* --- the conversation --------------------------------------------------- */

static void say(SmtpClient *client, SmtpPhase phase, const char *command)
{
    smtp_client_write(client, command, strlen(command));
    smtp_client_phase(client, phase);
}

void smtp_client_rest(SmtpClient *client)
{
    smtp_client_phase(client, SMTP_IDLE);
    if (client->ending)
        say(client, SMTP_QUIT, "QUIT\r\n");
    else
        client->handler->ready(client, client->data);
}

void smtp_client_reset(SmtpClient *client)
{
    say(client, SMTP_RSET, "RSET\r\n");
}

static void say_helo(SmtpClient *client, const char *verb)
{
    g_autofree char *command = g_strdup_printf("%s %s\r\n", verb, client->settings->helo_name);
    say(client, SMTP_HELO, command);
}

static void take_extension(SmtpClient *client, const char *line)
{
    size_t length = strcspn(line, " =");
    g_autofree char *keyword = g_ascii_strup(line, (gssize)length);
    if (strcmp(keyword, "PIPELINING") == 0)
        client->extensions |= SMTP_EXT_PIPELINING;
    else if (strcmp(keyword, "8BITMIME") == 0)
        client->extensions |= SMTP_EXT_8BITMIME;
    else if (strcmp(keyword, "SMTPUTF8") == 0)
        client->extensions |= SMTP_EXT_SMTPUTF8;
    else if (strcmp(keyword, "SIZE") == 0) {
        client->extensions |= SMTP_EXT_SIZE;
        client->size_limit = line[length] ? g_ascii_strtoull(line + length + 1, NULL, 10) : 0;
    }
}

static void helo_reply(SmtpClient *client)
{
    unsigned class = smtp_reply_class(&client->reply);
    if (class == 5 && !client->helo_tried) {
        client->helo_tried = true;
        say_helo(client, "HELO");
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
    smtp_client_rest(client);
}

static void take_reply(SmtpClient *client)
{
    if (client->phase == SMTP_QUIT || client->phase == SMTP_IDLE) {
        end_orderly(client); /* unasked for, it can only be a farewell */
        return;
    }
    if (client->reply.code == 421) {
        smtp_client_end_by_reply(client);
        return;
    }
    switch (client->phase) {
    case SMTP_GREETING:
        if (smtp_reply_class(&client->reply) == 2)
            say_helo(client, "EHLO");
        else
            smtp_client_end_by_reply(client);
        break;
    case SMTP_HELO:
        helo_reply(client);
        break;
    case SMTP_RSET:
        if (smtp_reply_class(&client->reply) == 2)
            smtp_client_rest(client);
        else
            smtp_client_end_by_reply(client);
        break;
    default:
        smtp_transaction_reply(client);
    }
}

/* --- what the loop calls ------------------------------------------------ */

static void on_read(struct bufferevent *connection, void *data)
{
    SmtpClient *client = data;
    struct evbuffer *in = bufferevent_get_input(connection);
    client->progress = clock_monotonic();
    enter(client);
    size_t length;
    while (!client->doomed && (length = evbuffer_get_contiguous_space(in)) > 0) {
        const char *octets = (const char *)evbuffer_pullup(in, (ev_ssize_t)length);
        size_t taken = 0;
        while (!client->doomed && taken < length) {
            size_t used;
            SmtpReplyState state = smtp_reply_feed(&client->reply, octets + taken, length - taken, &used);
            taken += used;
            if (state == SMTP_REPLY_BROKEN)
                smtp_client_end_confused(client);
            else if (state == SMTP_REPLY_DONE)
                take_reply(client);
        }
        evbuffer_drain(in, taken);
    }
    leave(client);
}

static void on_write(struct bufferevent *connection, void *data)
{
    (void)connection;
    SmtpClient *client = data;
    enter(client);
    smtp_transaction_drained(client);
    leave(client);
}

static void on_event(struct bufferevent *connection, short what, void *data)
{
    (void)connection;
    SmtpClient *client = data;
    int number = errno;
    enter(client);
    if (what & BEV_EVENT_CONNECTED)
        smtp_client_phase(client, SMTP_GREETING);
    else if (client->phase == SMTP_CONNECT)
        end_by_us(client, "4.4.1", g_strdup_printf("connect to %s: %s", client->peer, g_strerror(number)));
    else if (client->phase == SMTP_IDLE || client->phase == SMTP_QUIT)
        end_orderly(client);
    else
        end_by_us(client, "4.4.2", g_strdup_printf("lost connection with %s while %s", client->peer,
                                                   phases[client->phase].name));
    leave(client);
}

static void timed_out(SmtpClient *client)
{
    if (client->phase == SMTP_IDLE)
        say(client, SMTP_QUIT, "QUIT\r\n");
    else if (client->phase == SMTP_QUIT)
        end_orderly(client);
    else
        end_by_us(client, client->phase == SMTP_CONNECT ? "4.4.1" : "4.4.2",
                  g_strdup_printf("%s timed out while %s", client->peer, phases[client->phase].name));
}

static void on_timer(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    SmtpClient *client = data;
    enter(client);
    int64_t limit = client->settings->timeouts[client->phase];
    int64_t waited = clock_monotonic() - client->progress;
    if (client->connect_error)
        end_by_us(client, "4.4.1", g_strdup_printf("connect to %s: %s", client->peer,
                                                   g_strerror(client->connect_error)));
    else if (client->refusal)
        smtp_transaction_refuse(client);
    else if (client->ending && client->phase < SMTP_IDLE)
        end_orderly(client);
    else if (limit > 0 && waited < limit)
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
    SmtpClient *client = g_new0(SmtpClient, 1);
    client->base = base;
    client->settings = settings;
    client->handler = handler;
    client->data = data;
    client->fates = g_byte_array_new();
    client->scratch = g_string_sized_new(512);
    client->timer = evtimer_new(base, on_timer, client);
    smtp_reply_init(&client->reply);
    return client;
}

static void attach(SmtpClient *client, int fd)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* fails for UNIX sockets, which need it not */
    client->connection = bufferevent_socket_new(client->base, fd, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_set_max_single_read(client->connection, READ_PIECE);
    bufferevent_set_max_single_write(client->connection, 4 * READ_PIECE);
    bufferevent_setcb(client->connection, on_read, on_write, on_event, client);
    evbuffer_add_cb(bufferevent_get_output(client->connection), on_output, client);
}

SmtpClient *smtp_client_adopt(struct event_base *base, int fd, const SmtpSettings *settings,
                              const SmtpHandler *handler, void *data)
{
    SmtpClient *client = start(base, settings, handler, data);
    client->peer = g_strdup(settings->server);
    evutil_make_socket_nonblocking(fd);
    attach(client, fd);
    smtp_client_phase(client, SMTP_GREETING);
    bufferevent_enable(client->connection, EV_READ | EV_WRITE);
    return client;
}

SmtpClient *smtp_client_new(struct event_base *base, const struct sockaddr *address, socklen_t length,
                            const SmtpSettings *settings, const SmtpHandler *handler, void *data)
{
    return smtp_client_new_to(base, settings->server, address, length, settings, handler, data);
}

SmtpClient *smtp_client_new_to(struct event_base *base, const char *host, const struct sockaddr *address,
                               socklen_t length, const SmtpSettings *settings, const SmtpHandler *handler, void *data)
{
    g_assert(settings->tls == SMTP_TLS_NONE && !settings->auth_user);
    SmtpClient *client = start(base, settings, handler, data);
    client->peer = name_peer(host, address);
    smtp_client_phase(client, SMTP_CONNECT);
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || (connect(fd, address, length) != 0 && errno != EINPROGRESS)) {
        client->connect_error = errno;
        attach(client, fd);
        smtp_client_soon(client);
        return client;
    }
    attach(client, fd);
    bufferevent_enable(client->connection, EV_READ | EV_WRITE);
    bufferevent_socket_connect(client->connection, NULL, 0); /* reports when the socket is connected */
    return client;
}

void smtp_client_quit(SmtpClient *client)
{
    client->ending = true;
    if (client->phase == SMTP_IDLE)
        say(client, SMTP_QUIT, "QUIT\r\n");
    else if (client->phase < SMTP_IDLE)
        smtp_client_soon(client);
}

void *smtp_client_data(const SmtpClient *client)
{
    return client->data;
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

bool smtp_client_busy(const SmtpClient *client)
{
    return client->phase != SMTP_IDLE;
}
