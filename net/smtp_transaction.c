/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/clock.h"
#include "net/smtp_client_internal.h"

/* Octets of a rewritten body that wait for the kernel at a time. */
#define BODY_PIECE (64 * 1024)

/* A message of so many octets is sent with its commands (BDAT), before anybody is known to be accepted: one turn
 * of the line instead of two. */
#define AHEAD_MAX (64 * 1024)

/* But not on a connection that has rested so long that the server may be closing it: then it must be known
 * that nothing was sent. */
#define AHEAD_REST CLOCK_SECOND

const SmtpRefusal smtp_refuse_recipients = {"5.1.3", "no recipient can be sent"};
static const SmtpRefusal refuse_address = {"5.1.3", "the address cannot be sent"};
static const SmtpRefusal refuse_address_utf8 = {"5.6.7", "the address is internationalised and the server takes none"};

static void report(SmtpClient *client, size_t index, const SmtpResult *result)
{
    client->fates->data[index] = FATE_REPORTED;
    client->handler->result(client, index, result, client->data);
}

static void report_refusal(SmtpClient *client, size_t index, const SmtpRefusal *refusal)
{
    report(client, index,
           &(SmtpResult){.verdict = SMTP_NEVER, .phase = SMTP_RCPT, .status = refusal->status, .text = refusal->text,
                         .reply = refusal->text});
}

void smtp_transaction_end(SmtpClient *client, const SmtpResult *result)
{
    if (!client->active)
        return;
    for (size_t i = 0; i < client->transaction.count; i++)
        if (client->fates->data[i] != FATE_REPORTED)
            report(client, i, result);
    client->active = false;
    smtp_body_unref(g_steal_pointer(&client->transaction.body));
    g_clear_pointer(&client->body, smtp_body_unref);
    client->handler->done(client, client->data);
}

static void flush(SmtpClient *client)
{
    smtp_client_write(client, client->scratch->str, client->scratch->len);
    g_string_truncate(client->scratch, 0);
}

static bool uses_bdat(const SmtpClient *client)
{
    return client->cursor.chunk;
}

/* Appends to what is being written; the output's order is that of the calls. */
static void write_body(SmtpClient *client)
{
    struct evbuffer *out = bufferevent_get_output(client->connection);
    smtp_body_write(client->body, &client->cursor, out, BODY_PIECE);
}

/* One chunk, the last. */
static void write_bdat(SmtpClient *client)
{
    g_string_append_printf(client->scratch, "BDAT %zu LAST\r\n", smtp_body_wire_size(client->body));
    flush(client);
    write_body(client);
}

/* Everything there is to say before the first reply. */
static void write_ahead(SmtpClient *client)
{
    if (client->pipelining)
        for (size_t i = 0; i < client->transaction.count; i++)
            if (client->fates->data[i] == FATE_OPEN)
                smtp_envelope_rcpt(client, i);
    if (client->pipelining && !uses_bdat(client))
        g_string_append(client->scratch, "DATA\r\n");
    flush(client);
    if (!client->bdat_ahead)
        return;
    write_bdat(client);
    while (!client->cursor.ended)
        write_body(client);
}

void smtp_client_send(SmtpClient *client, const SmtpTransaction *transaction)
{
    g_assert(client->phase == SMTP_IDLE && !client->active && transaction->count > 0);
    int64_t rested = clock_monotonic() - client->progress;
    client->active = true;
    client->transactions++;
    client->transaction = *transaction;
    client->transaction.body = smtp_body_ref(transaction->body);
    g_clear_pointer(&client->body, smtp_body_unref);
    client->cursor = (SmtpBodyCursor){.chunk = client->settings->chunking && (client->extensions & SMTP_EXT_CHUNKING)};
    client->next_rcpt = 0;
    client->next_dot = 0;
    client->accepted = 0;
    client->mail_accepted = false;
    client->bdat_failed = false;
    client->out_of_step = false;
    client->bdat_ahead = false;
    g_byte_array_set_size(client->fates, (guint)transaction->count);
    memset(client->fates->data, FATE_OPEN, transaction->count);
    smtp_client_phase(client, SMTP_MAIL);
    client->refusal = smtp_envelope_check(client);
    if (client->refusal) {
        smtp_client_soon(client);
        return;
    }
    bool fresh = client->transactions == 1 || rested < AHEAD_REST;
    client->bdat_ahead = uses_bdat(client) && client->pipelining && fresh &&
                         smtp_body_wire_size(client->body) <= AHEAD_MAX;
    smtp_envelope_mail(client);
    write_ahead(client);
}

/* Recipients that were never sent are passed over, with their reason. */
static void pass_refused(SmtpClient *client)
{
    for (; client->next_rcpt < client->transaction.count; client->next_rcpt++) {
        uint8_t fate = client->fates->data[client->next_rcpt];
        if (fate == FATE_SYNTAX)
            report_refusal(client, client->next_rcpt, &refuse_address);
        else if (fate == FATE_UTF8)
            report_refusal(client, client->next_rcpt, &refuse_address_utf8);
        else
            return;
    }
}

void smtp_transaction_refuse(SmtpClient *client)
{
    const SmtpRefusal *refusal = g_steal_pointer(&client->refusal);
    if (refusal == &smtp_refuse_recipients)
        pass_refused(client);
    smtp_transaction_end(client, &(SmtpResult){.verdict = SMTP_NEVER, .phase = SMTP_MAIL, .status = refusal->status,
                                               .text = refusal->text, .reply = refusal->text});
    smtp_session_rest(client);
}

/* The message is on its way, at the end of the output. */
static void await_end(SmtpClient *client)
{
    bool sent = client->cursor.ended && smtp_client_drained(client);
    smtp_client_phase(client, sent ? SMTP_DOT : SMTP_BODY);
}

static void start_body(SmtpClient *client)
{
    if (client->bdat_ahead) {
        await_end(client);
    } else if (!uses_bdat(client)) {
        smtp_client_phase(client, SMTP_DATA);
        if (!client->pipelining)
            smtp_client_write(client, "DATA\r\n", 6);
    } else {
        smtp_client_phase(client, SMTP_BODY);
        write_bdat(client);
    }
}

/* All recipients have their reply: what comes next. What was said ahead has replies to come in any case. */
static void after_recipients(SmtpClient *client)
{
    bool ahead = client->bdat_ahead || (client->pipelining && !uses_bdat(client));
    bool any = client->accepted > 0;
    if (!any)
        smtp_transaction_end(client, NULL); /* all were reported one by one */
    if (any || ahead)
        start_body(client);
    else if (client->mail_accepted)
        smtp_session_reset(client);
    else
        smtp_session_rest(client);
}

static void next_recipient(SmtpClient *client)
{
    pass_refused(client);
    if (client->next_rcpt == client->transaction.count) {
        after_recipients(client);
        return;
    }
    if (client->phase != SMTP_RCPT)
        smtp_client_phase(client, SMTP_RCPT);
    if (client->pipelining)
        return;
    smtp_envelope_rcpt(client, client->next_rcpt);
    flush(client);
}

/* MAIL was refused, and so is everybody. What was pipelined behind it is
 * answered all the same. */
static void refuse_all(SmtpClient *client)
{
    g_auto(SmtpVerdictText) judged = {0};
    smtp_client_judge(client, &judged);
    client->awaited = 0;
    for (size_t i = 0; i < client->transaction.count; i++)
        if (client->fates->data[i] == FATE_OPEN)
            client->awaited++;
    smtp_transaction_end(client, &judged.result);
    if (client->pipelining)
        smtp_client_phase(client, SMTP_RCPT);
    else
        smtp_session_rest(client);
}

static void mail_reply(SmtpClient *client)
{
    switch (smtp_reply_class(&client->reply)) {
    case 2:
        client->mail_accepted = true;
        next_recipient(client);
        break;
    case 3:
        smtp_client_end_confused(client);
        break;
    default:
        refuse_all(client);
    }
}

static void rcpt_reply(SmtpClient *client)
{
    if (!client->active) {
        if (--client->awaited == 0)
            after_recipients(client);
        return;
    }
    switch (smtp_reply_class(&client->reply)) {
    case 2:
        client->fates->data[client->next_rcpt] = FATE_ACCEPTED;
        client->accepted++;
        break;
    case 3:
        smtp_client_end_confused(client);
        return;
    default: {
        g_auto(SmtpVerdictText) judged = {0};
        smtp_client_judge(client, &judged);
        report(client, client->next_rcpt, &judged.result);
    }
    }
    client->next_rcpt++;
    next_recipient(client);
}

static void data_reply(SmtpClient *client)
{
    if (client->reply.code == 354 && client->active) {
        smtp_client_phase(client, SMTP_BODY);
        write_body(client);
    } else if (client->reply.code == 354) {
        smtp_client_phase(client, SMTP_DOT); /* nobody to send to: an empty message, which the server refuses */
        smtp_client_write(client, ".\r\n", 3);
    } else if (smtp_reply_class(&client->reply) < 4) {
        smtp_client_end_confused(client);
    } else {
        g_auto(SmtpVerdictText) judged = {0};
        smtp_client_judge(client, &judged);
        smtp_transaction_end(client, &judged.result);
        if (client->mail_accepted)
            smtp_session_reset(client);
        else
            smtp_session_rest(client);
    }
}

/* The transaction is over. After a chunk that was refused the server's state is open (RFC 3030). */
static void end_data(SmtpClient *client)
{
    if (client->out_of_step)
        smtp_client_end_confused(client);
    else if (client->bdat_failed)
        smtp_session_reset(client);
    else
        smtp_session_rest(client);
}

/* LMTP: one reply for each recipient that was accepted, in their order. True when this was the last. */
static bool dot_reply_each(SmtpClient *client, const SmtpResult *result)
{
    while (client->fates->data[client->next_dot] != FATE_ACCEPTED)
        client->next_dot++;
    report(client, client->next_dot, result);
    if (--client->accepted > 0)
        return false;
    smtp_transaction_end(client, NULL);
    return true;
}

static void dot_reply(SmtpClient *client)
{
    if (smtp_reply_class(&client->reply) == 3) {
        smtp_client_end_confused(client);
        return;
    }
    g_auto(SmtpVerdictText) judged = {0};
    smtp_client_judge(client, &judged);
    client->bdat_failed |= uses_bdat(client) && smtp_reply_class(&client->reply) != 2;
    if (client->active && client->settings->protocol == SMTP_PROTOCOL_LMTP) {
        if (dot_reply_each(client, &judged.result))
            end_data(client);
        return;
    }
    smtp_transaction_end(client, &judged.result);
    end_data(client);
}

/* A reply before the end of data is a refusal. What is left of a chunk is sent all the same if it is not much: then
 * both sides know where they stand. Else, and in DATA, the connection is of no more use. In LMTP it speaks for one
 * recipient; the others' replies are still to come, and perhaps the server wants the rest for their sake. */
static void body_reply(SmtpClient *client)
{
    if (smtp_reply_class(&client->reply) < 4) {
        smtp_client_end_confused(client);
        return;
    }
    g_auto(SmtpVerdictText) judged = {0};
    smtp_client_judge(client, &judged);
    client->bdat_failed |= uses_bdat(client);
    client->out_of_step |= !uses_bdat(client);
    if (client->settings->protocol != SMTP_PROTOCOL_LMTP)
        smtp_transaction_end(client, &judged.result);
    else if (!dot_reply_each(client, &judged.result))
        return;
    size_t left = evbuffer_get_length(bufferevent_get_output(client->connection));
    if (uses_bdat(client) && client->cursor.ended && left <= AHEAD_MAX)
        smtp_session_reset(client);
    else
        smtp_client_end_by_reply(client);
}

void smtp_transaction_drained(SmtpClient *client)
{
    if (client->phase != SMTP_BODY)
        return;
    if (client->cursor.ended)
        smtp_client_phase(client, SMTP_DOT);
    else
        write_body(client);
}

void smtp_transaction_reply(SmtpClient *client)
{
    if (client->phase == SMTP_BODY && client->cursor.ended && smtp_client_drained(client))
        smtp_client_phase(client, SMTP_DOT);
    switch (client->phase) {
    case SMTP_MAIL:
        mail_reply(client);
        break;
    case SMTP_RCPT:
        rcpt_reply(client);
        break;
    case SMTP_DATA:
        data_reply(client);
        break;
    case SMTP_BODY:
        body_reply(client);
        break;
    default:
        dot_reply(client);
    }
}
