/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "net/smtp_client_internal.h"

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

void smtp_client_judge_clear(SmtpVerdictText *judged)
{
    g_free(judged->text);
    g_free(judged->reply);
}

/* A transaction that was sent behind another is told that its commands were not expected. */
static bool lost_in_flight(const SmtpClient *client)
{
    unsigned code = client->reply.code;
    return client->turn.behind && client->phase != SMTP_RSET && (code == 500 || code == 502 || code == 503);
}

/* A server that offers CHUNKING and does not know BDAT, or its argument. */
static bool knows_no_bdat(const SmtpClient *client)
{
    unsigned code = client->reply.code;
    bool protocol = !client->reply.has_status || g_str_has_prefix(client->reply.status, "5.5.");
    bool answer = client->phase == SMTP_BODY || client->phase == SMTP_DOT;
    return client->turn.cursor.chunk && !client->turn.behind && answer && code >= 500 && code <= 504 && protocol;
}

/* "552" to RCPT without better knowledge means too many recipients
 * (RFC 5321, 4.5.3.1.10). */
static bool means_later(const SmtpClient *client)
{
    const SmtpReply *reply = &client->reply;
    if (smtp_reply_class(reply) == 4)
        return true;
    if (client->phase < SMTP_MAIL || lost_in_flight(client) || knows_no_bdat(client))
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
        if (knows_no_bdat(client))
            judged->result.fallback = SMTP_FALLBACK_CHUNKING;
        /* A refusal that concerns all recipients and judged none lets the transaction go again at once. */
        judged->result.behind = lost_in_flight(client);
        judged->result.unstarted = judged->result.behind && client->phase != SMTP_RCPT;
        const char *command = phases[client->phase].command;
        judged->text = g_strdup_printf("%s said: %s%s%s%s", client->peer, judged->reply,
                                       command ? " (in reply to " : "", command ? command : "", command ? ")" : "");
    }
    judged->result.text = judged->text;
}
