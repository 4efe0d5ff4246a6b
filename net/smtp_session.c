/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/log.h"
#include "net/smtp_client_internal.h"

/* --- between transactions ----------------------------------------------- */

/* Tell whether RSET was sent already: it stands before a transaction that was written behind this one. */
static bool reset_already(SmtpClient *client)
{
    if (g_queue_is_empty(&client->behind))
        return false;
    smtp_client_phase(client, SMTP_RSET);
    return true;
}

/* After a message that was taken there is nothing left to forget, and what was written behind has been said. */
static void reset_reply(SmtpClient *client)
{
    bool behind = !g_queue_is_empty(&client->behind);
    if (smtp_reply_class(&client->reply) != 2 && !(behind && client->turn.taken)) {
        smtp_client_end_by_reply(client);
    } else if (!behind) {
        smtp_session_rest(client);
    } else {
        smtp_transaction_next(client);
        smtp_client_phase(client, SMTP_MAIL);
    }
}

void smtp_session_rest(SmtpClient *client)
{
    if (reset_already(client))
        return;
    smtp_client_phase(client, SMTP_IDLE);
    if (client->ending)
        smtp_client_say(client, SMTP_QUIT, "QUIT\r\n");
    else
        client->handler->ready(client, client->data);
}

void smtp_session_reset(SmtpClient *client)
{
    if (!reset_already(client))
        smtp_client_say(client, SMTP_RSET, "RSET\r\n");
}

/* --- TLS ---------------------------------------------------------------- */

/* Whether the session may go on without TLS: a password may be the reason that it may not. */
static bool clear_allowed(const SmtpClient *client)
{
    const SmtpSettings *settings = client->settings;
    return settings->tls <= SMTP_TLS_MAY && (!settings->auth_user || settings->auth_in_clear);
}

void smtp_session_tls_failed(SmtpClient *client, char *why)
{
    g_autofree char *reason = why;
    if (clear_allowed(client) && client->address_length > 0 && !client->settings->tls_at_once) {
        log_info("%s: TLS failed (%s); it is tried again in clear text", client->peer, reason);
        client->in_clear = true;
        smtp_client_reconnect(client);
    } else {
        smtp_client_end_by_us(client, "4.7.5", g_strdup_printf("TLS with %s failed: %s", client->peer, reason));
    }
}

/* --- AUTH --------------------------------------------------------------- */

static void end_unauthenticated(SmtpClient *client, const char *problem)
{
    smtp_client_end_by_us(client, "4.7.0", g_strdup_printf("authentication with %s: %s", client->peer, problem));
}

static void say_secret(SmtpClient *client, char *line)
{
    smtp_client_write(client, line, strlen(line));
    smtp_client_say(client, SMTP_AUTH, "\r\n");
    explicit_bzero(line, strlen(line));
    g_free(line);
}

static void start_auth(SmtpClient *client)
{
    const SmtpSettings *settings = client->settings;
    unsigned wanted = settings->auth_mechanisms ? settings->auth_mechanisms : ~0u;
    client->auth = smtp_auth_new(client->mechanisms & wanted, settings->auth_user, settings->auth_password, NULL);
    if (client->auth)
        say_secret(client, smtp_auth_begin(client->auth));
    else
        end_unauthenticated(client, client->mechanisms ? "it offers none of the mechanisms allowed" :
                                                         "it offers none of PLAIN, LOGIN and SCRAM");
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
        smtp_session_rest(client);
    }
}

/* --- what the server can do --------------------------------------------- */

static void take_mechanisms(SmtpClient *client, const char *list)
{
    g_auto(GStrv) words = g_strsplit_set(list, " =", -1); /* "AUTH=PLAIN" is of a draft, and still met with */
    for (char **word = words; *word; word++)
        client->mechanisms |= smtp_auth_mechanism(*word);
}

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
    if (!line[length])
        return;
    if (length == 4 && g_ascii_strncasecmp(line, "SIZE", 4) == 0)
        client->size_limit = g_ascii_strtoull(line + 5, NULL, 10);
    else if (length == 4 && g_ascii_strncasecmp(line, "AUTH", 4) == 0)
        take_mechanisms(client, line + 5);
}

static void say_hello(SmtpClient *client, const char *verb)
{
    g_autofree char *command = g_strdup_printf("%s %s\r\n", verb, client->settings->helo_name);
    smtp_client_say(client, SMTP_HELO, command);
}

/* Begin the session, and forget the extensions announced before TLS: anybody may have said them. */
void smtp_session_greet(SmtpClient *client)
{
    client->extensions = 0;
    client->mechanisms = 0;
    client->size_limit = 0;
    bool lmtp = client->settings->protocol == SMTP_PROTOCOL_LMTP;
    client->helo_tried = client->settings->helo && !lmtp;
    say_hello(client, lmtp ? "LHLO" : client->helo_tried ? "HELO" : "EHLO");
}

/* The server has introduced itself: what comes before it is of use. */
static void negotiate(SmtpClient *client)
{
    const SmtpSettings *settings = client->settings;
    bool want_tls = settings->tls != SMTP_TLS_NONE && !client->tls && !client->in_clear;
    client->pipelining = (client->extensions & SMTP_EXT_PIPELINING) && !settings->no_pipelining;
    if (want_tls && (client->extensions & SMTP_EXT_STARTTLS))
        smtp_client_say(client, SMTP_TLS, "STARTTLS\r\n");
    else if (!client->tls && settings->tls > SMTP_TLS_MAY)
        smtp_client_end_by_us(client, "4.7.4", g_strdup_printf("%s offers no TLS, without which nothing is sent to it",
                                                               client->peer));
    else if (!client->tls && !clear_allowed(client))
        end_unauthenticated(client, "it offers no TLS, without which no password is sent");
    else if (settings->auth_user)
        start_auth(client);
    else
        smtp_session_rest(client);
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

/* Refused in spite of the announcement: where TLS is not a must, the session goes on as it is. */
static void starttls_reply(SmtpClient *client)
{
    if (smtp_reply_class(&client->reply) == 2) {
        client->upgrade = true; /* on_read() goes on when it has looked at what else has come */
    } else if (clear_allowed(client)) {
        client->in_clear = true;
        negotiate(client);
    } else {
        smtp_client_end_by_reply(client);
    }
}

/* --- the conversation --------------------------------------------------- */

void smtp_session_start(SmtpClient *client)
{
    if (client->settings->tls_at_once && client->settings->tls != SMTP_TLS_NONE && !client->tls)
        smtp_handshake_start(client);
    else
        smtp_client_phase(client, SMTP_GREETING);
}

void smtp_session_reply(SmtpClient *client)
{
    bool good = smtp_reply_class(&client->reply) == 2;
    switch (client->phase) {
    case SMTP_GREETING:
        if (good)
            smtp_session_greet(client);
        else
            smtp_client_end_by_reply(client);
        break;
    case SMTP_HELO:
        hello_reply(client);
        break;
    case SMTP_TLS:
        starttls_reply(client);
        break;
    case SMTP_AUTH:
        auth_reply(client);
        break;
    case SMTP_RSET:
        reset_reply(client);
        break;
    default:
        smtp_client_end_confused(client); /* it speaks before it is connected to */
    }
}
