/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/lmtp_server.h"

#include <string.h>

#include "net/lmtp_internal.h"

#define OUTPUT_LIMIT (64 * 1024) /* a client that does not read its replies is read no further */

LmtpServer *lmtp_server_new(const char *hostname, const LmtpLimits *limits, const LmtpHandler *handler, void *data)
{
    LmtpServer *server = g_new0(LmtpServer, 1);
    server->hostname = g_strdup(hostname);
    server->limits = *limits;
    server->handler = handler;
    server->data = data;
    return server;
}

void lmtp_server_free(LmtpServer *server)
{
    if (!server)
        return;
    g_free(server->hostname);
    g_free(server);
}

uint64_t lmtp_server_memory(const LmtpServer *server)
{
    return server->memory;
}

static void reply(LmtpSession *session, const char *line)
{
    g_string_append(session->output, line);
    g_string_append(session->output, "\r\n");
}

/* 421 and the end of the session. */
static void hang_up(LmtpSession *session, const char *line)
{
    reply(session, line);
    session->state = LMTP_CLOSED;
}

/* A reply to a command that should not have been sent like that. */
static void complain(LmtpSession *session, const char *line)
{
    if (++session->errors >= session->server->limits.errors)
        hang_up(session, "421 4.7.0 Too many errors");
    else
        reply(session, line);
}

static void reset(LmtpSession *session)
{
    lmtp_transaction_free(session->transaction);
    session->transaction = NULL;
    lmtp_content_clear(session);
    session->announced = 0;
    session->chunked = false;
    g_clear_pointer(&session->chunk_refusal, g_free);
    g_clear_pointer(&session->chunk_failure, g_free);
}

LmtpSession *lmtp_session_new(LmtpServer *server, void *data)
{
    LmtpSession *session = g_new0(LmtpSession, 1);
    session->server = server;
    session->data = data;
    session->output = g_string_sized_new(256);
    lmtp_content_clear(session);
    g_string_append_printf(session->output, "220 %s LMTP Listrunner\r\n", server->hostname);
    return session;
}

void lmtp_session_free(LmtpSession *session)
{
    if (!session)
        return;
    reset(session);
    g_string_free(session->output, TRUE);
    g_free(session->client);
    g_free(session);
}

void *lmtp_session_data(const LmtpSession *session)
{
    return session->data;
}

const char *lmtp_session_client(const LmtpSession *session)
{
    return session->client ? session->client : "";
}

uint64_t lmtp_session_announced(const LmtpSession *session)
{
    return session->announced;
}

const LmtpTransaction *lmtp_session_transaction(const LmtpSession *session)
{
    return session->transaction;
}

GString *lmtp_session_output(LmtpSession *session)
{
    return session->output;
}

bool lmtp_session_finished(const LmtpSession *session)
{
    return session->state == LMTP_CLOSED;
}

bool lmtp_session_waiting(const LmtpSession *session)
{
    return session->state == LMTP_WAITING;
}

static void stop_if_idle(LmtpSession *session)
{
    if (session->stopping && !session->transaction && (session->state == LMTP_COMMAND || session->state == LMTP_SKIP))
        hang_up(session, "421 4.3.2 The server is stopping");
}

void lmtp_session_stop(LmtpSession *session)
{
    session->stopping = true;
    stop_if_idle(session);
}

void lmtp_session_expire(LmtpSession *session, const char *why)
{
    session->stopping = true; /* a message that is being stored is answered first */
    if (session->state == LMTP_CLOSED || session->state == LMTP_WAITING)
        return;
    g_string_append_printf(session->output, "421 4.4.2 %s\r\n", why);
    session->state = LMTP_CLOSED;
}

void lmtp_session_close(LmtpSession *session)
{
    session->state = LMTP_CLOSED;
    reset(session);
}

/* Commands. Each gets what stands behind the verb, without the blanks
 * before it. */

static void lhlo(LmtpSession *session, const char *text)
{
    if (!*text || strchr(text, ' ')) {
        complain(session, "501 5.5.4 Say: LHLO your-name");
        return;
    }
    reset(session);
    g_free(session->client);
    session->client = g_strdup(text);
    g_string_append_printf(session->output,
                           "250-%s\r\n250-PIPELINING\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250-CHUNKING\r\n"
                           "250-ENHANCEDSTATUSCODES\r\n250 SIZE %" G_GUINT64_FORMAT "\r\n",
                           session->server->hostname, session->server->limits.message_size);
}

static void not_lmtp(LmtpSession *session, const char *text)
{
    (void)text;
    complain(session, "500 5.5.1 This is LMTP: say LHLO instead of HELO or EHLO");
}

/* Reads "FROM:<...>" or "TO:<...>". */
static bool read_path(const char **text, const char *word, char **address)
{
    size_t length = strlen(word);
    if (g_ascii_strncasecmp(*text, word, length) != 0)
        return false;
    *text += length;
    *text += strspn(*text, " ");
    return lmtp_path_read(text, address);
}

static void mail(LmtpSession *session, const char *text)
{
    LmtpServer *server = session->server;
    if (!session->client || session->transaction) {
        complain(session, session->client ? "503 5.5.1 A transaction is in progress" : "503 5.5.1 Say LHLO first");
        return;
    }
    g_autofree char *sender = NULL;
    if (!read_path(&text, "FROM:", &sender)) {
        complain(session, "501 5.5.4 Say: MAIL FROM:<address>");
        return;
    }
    LmtpTransaction *transaction = lmtp_transaction_new(server, g_steal_pointer(&sender));
    session->transaction = transaction;
    session->announced = 0;
    session->chunked = false;
    g_clear_pointer(&session->chunk_failure, g_free);
    const char *refusal = lmtp_mail_parameters(session, text);
    if (!refusal)
        refusal = lmtp_address_refusal(transaction->sender, transaction->smtputf8);
    if (refusal) {
        complain(session, refusal);
        reset(session);
        return;
    }
    if (session->announced > server->limits.message_size)
        refusal = "552 5.3.4 The message is larger than this server takes";
    else if (server->memory + session->announced > server->limits.memory)
        refusal = LMTP_NO_MEMORY;
    else
        refusal = server->handler->mail(session, transaction->sender, session->announced, server->data);
    if (refusal)
        reset(session);
    reply(session, refusal ? refusal : "250 2.1.0 Sender ok");
}

static void rcpt(LmtpSession *session, const char *text)
{
    LmtpTransaction *transaction = session->transaction;
    if (!transaction || session->chunked) {
        complain(session, transaction ? "503 5.5.1 The content has begun" : "503 5.5.1 Say MAIL first");
        return;
    }
    g_autofree char *address = NULL;
    if (!read_path(&text, "TO:", &address) || !*address) {
        complain(session, "501 5.5.4 Say: RCPT TO:<address>");
        return;
    }
    g_autofree char *keyword = NULL, *value = NULL;
    const char *refusal = NULL;
    if (!lmtp_parameter_read(&text, &keyword, &value))
        refusal = "501 5.5.4 Malformed parameter";
    else if (keyword)
        refusal = "555 5.5.4 This RCPT parameter is not supported";
    else
        refusal = lmtp_address_refusal(address, transaction->smtputf8);
    if (refusal) {
        complain(session, refusal);
        return;
    }
    refusal = lmtp_transaction_add(session, g_steal_pointer(&address));
    reply(session, refusal ? refusal : "250 2.1.5 Recipient ok");
}

/* Return the refusal that content would meet now; NULL: none. */
static const char *content_refusal(LmtpSession *session)
{
    if (!session->transaction)
        return "503 5.5.1 Say MAIL first";
    if (session->transaction->recipients->len == 0)
        return "503 5.5.1 No recipient was accepted";
    return NULL;
}

static void data_command(LmtpSession *session, const char *text)
{
    const char *refusal = *text ? "501 5.5.4 DATA takes no argument" : content_refusal(session);
    if (!refusal && session->chunked)
        refusal = "503 5.5.1 BDAT was used in this transaction";
    if (refusal) {
        complain(session, refusal);
        return;
    }
    refusal = session->server->handler->content(session, session->server->data);
    if (refusal) {
        reply(session, refusal);
        reset(session);
        return;
    }
    reply(session, "354 End with a line that is a single dot");
    session->state = LMTP_DATA;
}

/* The bytes of a chunk follow whether we like it or not: a refused chunk
 * is read past, and answered when it is through. */
static void bdat(LmtpSession *session, const char *text)
{
    g_auto(GStrv) words = g_strsplit(text, " ", 3);
    unsigned count = g_strv_length(words);
    bool last = count == 2 && g_ascii_strcasecmp(words[1], "LAST") == 0;
    if (count < 1 || count > 2 || (count == 2 && !last) || !lmtp_number_read(words[0], &session->chunk_left)) {
        /* Where the next command begins cannot be known. */
        reply(session, "501 5.5.4 Say: BDAT octets [LAST]");
        hang_up(session, "421 4.5.0 What follows cannot be told from content");
        return;
    }
    const char *refusal = content_refusal(session);
    if (!refusal)
        refusal = session->chunk_failure;
    if (!refusal && !session->chunked)
        refusal = session->server->handler->content(session, session->server->data);
    g_free(session->chunk_refusal);
    session->chunk_refusal = g_strdup(refusal);
    session->chunk_last = last;
    session->chunked = true;
    session->state = LMTP_CHUNK;
}

static void rset(LmtpSession *session, const char *text)
{
    (void)text;
    reset(session);
    reply(session, "250 2.0.0 Ok");
}

static void noop(LmtpSession *session, const char *text)
{
    (void)text;
    reply(session, "250 2.0.0 Ok");
}

static void vrfy(LmtpSession *session, const char *text)
{
    if (*text)
        reply(session, "252 2.5.0 Not verified; send mail and see");
    else
        complain(session, "501 5.5.4 Say: VRFY address");
}

static void quit(LmtpSession *session, const char *text)
{
    (void)text;
    hang_up(session, "221 2.0.0 Bye");
}

static void not_offered(LmtpSession *session, const char *text)
{
    (void)text;
    complain(session, "502 5.5.1 This command is not supported");
}

static void foreign(LmtpSession *session, const char *text)
{
    (void)text;
    hang_up(session, "421 4.7.0 This is LMTP, not HTTP");
}

static void help(LmtpSession *session, const char *text);

typedef struct LmtpCommand {
    const char *verb;
    void (*run)(LmtpSession *session, const char *text);
    bool listed; /* by HELP */
} LmtpCommand;

static const LmtpCommand commands[] = {
    {"MAIL", mail, true},      {"RCPT", rcpt, true},   {"DATA", data_command, true}, {"BDAT", bdat, true},
    {"LHLO", lhlo, true},      {"RSET", rset, true},   {"NOOP", noop, true},         {"QUIT", quit, true},
    {"VRFY", vrfy, true},      {"HELP", help, true},   {"HELO", not_lmtp, false},    {"EHLO", not_lmtp, false},
    {"EXPN", not_offered, false}, {"STARTTLS", not_offered, false}, {"AUTH", not_offered, false},
    {"ETRN", not_offered, false}, {"TURN", not_offered, false},
    {"GET", foreign, false},   {"POST", foreign, false}, {"PUT", foreign, false},    {"CONNECT", foreign, false},
};

static void help(LmtpSession *session, const char *text)
{
    (void)text;
    g_string_append(session->output, "214 2.0.0");
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        if (commands[i].listed)
            g_string_append_printf(session->output, " %s", commands[i].verb);
    g_string_append(session->output, "\r\n");
}

/* A line without its CR LF. */
static void command(LmtpSession *session, const char *octets, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)octets[i] < ' ' || octets[i] == 127) {
            complain(session, "500 5.5.2 A command holds a control character");
            return;
        }
    while (length > 0 && octets[length - 1] == ' ')
        length--;
    g_autofree char *line = g_strndup(octets, length);
    size_t verb = strcspn(line, " ");
    const char *text = line + verb;
    text += strspn(text, " ");
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        if (strlen(commands[i].verb) == verb && g_ascii_strncasecmp(line, commands[i].verb, verb) == 0) {
            commands[i].run(session, text);
            return;
        }
    complain(session, "500 5.5.2 This is no command; say HELP");
}

/* Takes one command line; 0: it is not complete. */
static size_t receive_line(LmtpSession *session, const char *octets, size_t length)
{
    size_t limit = session->server->limits.line_length;
    const char *end = memchr(octets, '\n', length);
    if (end && (end == octets || end[-1] != '\r')) {
        /* Whatever wrote this, its next bytes are not to be trusted. */
        reply(session, "500 5.5.2 A command must end in CR LF");
        hang_up(session, "421 4.5.0 Closing after a bare line feed");
        return length;
    }
    size_t used = end ? (size_t)(end + 1 - octets) : 0;
    if (session->state == LMTP_SKIP) {
        if (!end)
            return octets[length - 1] == '\r' ? length - 1 : length;
        session->state = LMTP_COMMAND;
        return used;
    }
    if (used > limit || (!end && length >= limit)) {
        complain(session, "500 5.5.2 The line is too long");
        if (!end && session->state != LMTP_CLOSED)
            session->state = LMTP_SKIP;
        return end ? used : octets[length - 1] == '\r' ? length - 1 : length;
    }
    if (end)
        command(session, octets, used - 2);
    return used;
}

/* The content is through: to the owner, or refused once for each recipient. */
static void deliver(LmtpSession *session, const char *refusal)
{
    LmtpTransaction *transaction = session->transaction;
    if (refusal) {
        for (unsigned i = 0; i < transaction->recipients->len; i++)
            reply(session, refusal);
        session->state = LMTP_COMMAND;
        reset(session);
        return;
    }
    lmtp_content_finish(session);
    session->transaction = NULL;
    session->state = LMTP_WAITING;
    session->server->handler->message(session, transaction, session->server->data);
}

static size_t receive_chunk(LmtpSession *session, const char *octets, size_t length)
{
    size_t used = (size_t)MIN(session->chunk_left, (uint64_t)length);
    if (!session->chunk_refusal)
        lmtp_content_chunk(session, octets, used);
    session->chunk_left -= used;
    return used;
}

/* The last byte of a chunk was read. The last chunk has one reply for each
 * recipient, whatever became of those before it, so that a client which sent
 * ahead can count. */
static void end_chunk(LmtpSession *session)
{
    session->state = LMTP_COMMAND;
    const LmtpTransaction *transaction = session->transaction;
    const char *refusal = session->chunk_refusal ? session->chunk_refusal : session->content.refusal;
    if (session->chunk_last && transaction && transaction->recipients->len > 0) {
        deliver(session, refusal);
        return;
    }
    if (!session->chunk_failure)
        session->chunk_failure = g_strdup(refusal);
    if (refusal && g_str_has_prefix(refusal, "503"))
        complain(session, refusal);
    else
        reply(session, refusal ? refusal : "250 2.0.0 Chunk taken");
}

size_t lmtp_session_receive(LmtpSession *session, const char *octets, size_t length)
{
    size_t used = 0;
    while (session->state != LMTP_WAITING && session->output->len < OUTPUT_LIMIT) {
        stop_if_idle(session);
        if (session->state == LMTP_CLOSED)
            return length;
        if (session->state == LMTP_CHUNK) {
            used += receive_chunk(session, octets + used, length - used);
            if (session->chunk_left > 0)
                break;
            end_chunk(session);
            continue;
        }
        if (used == length)
            break;
        if (session->state == LMTP_DATA) {
            bool ended;
            used += lmtp_content_data(session, octets + used, length - used, &ended);
            if (ended)
                deliver(session, session->content.refusal);
            continue;
        }
        size_t line = receive_line(session, octets + used, length - used);
        if (line == 0)
            break;
        used += line;
    }
    return used;
}

void lmtp_session_answer(LmtpSession *session, LmtpTransaction *transaction)
{
    if (session->state == LMTP_WAITING) {
        for (unsigned i = 0; i < transaction->recipients->len; i++) {
            const char *text = lmtp_recipient(transaction, i)->reply;
            reply(session, text ? text : "451 4.3.0 The message could not be stored; try again later");
        }
        session->state = LMTP_COMMAND;
        reset(session);
        stop_if_idle(session);
    }
    lmtp_transaction_free(transaction);
}
