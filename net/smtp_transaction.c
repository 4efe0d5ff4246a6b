/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "net/smtp_client_internal.h"

/* Octets of a rewritten body that wait for the kernel at a time. */
#define BODY_PIECE (64 * 1024)

/* RFC 5321 allows 256; more is passed to the server to judge, within reason. */
#define ADDRESS_MAX 998

static const SmtpRefusal refuse_size = {"5.3.4", "the message is larger than the server takes"};
static const SmtpRefusal refuse_8bit = {"5.6.3", "the message has 8-bit octets and the server takes none"};
static const SmtpRefusal refuse_utf8 = {"5.6.7",
                                        "the message has internationalised addresses and the server takes none"};
static const SmtpRefusal refuse_sender = {"5.1.7", "the sender's address cannot be sent"};
static const SmtpRefusal refuse_recipients = {"5.1.3", "no recipient can be sent"};
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
    client->handler->done(client, client->data);
}

/* What an address needs: nothing that would end the command early may get
 * into it, whatever the spool holds. */
static uint8_t classify(const char *address, size_t length, bool *utf8)
{
    if (length == 0 || length > ADDRESS_MAX)
        return FATE_SYNTAX;
    bool high = false;
    for (size_t i = 0; i < length; i++) {
        unsigned char octet = (unsigned char)address[i];
        if (octet < ' ' || octet == 127)
            return FATE_SYNTAX;
        high |= octet > 127;
    }
    *utf8 |= high;
    return high ? FATE_UTF8 : FATE_OPEN;
}

/* Looks at all recipients before the first command is sent; true when at least one can be sent. */
static bool classify_all(SmtpClient *client)
{
    SmtpTransaction *transaction = &client->transaction;
    bool offered = client->extensions & SMTP_EXT_SMTPUTF8;
    bool any = false;
    g_byte_array_set_size(client->fates, (guint)transaction->count);
    for (size_t i = 0; i < transaction->count; i++) {
        size_t length;
        const char *address = transaction->recipient(transaction->data, i, &length);
        uint8_t fate = classify(address, length, &client->utf8);
        if (fate == FATE_UTF8 && offered)
            fate = FATE_OPEN;
        client->fates->data[i] = fate;
        any |= fate == FATE_OPEN;
    }
    client->utf8 &= offered;
    return any;
}

static const SmtpRefusal *find_refusal(SmtpClient *client)
{
    SmtpTransaction *transaction = &client->transaction;
    size_t length = strlen(transaction->sender);
    bool sender_utf8 = false;
    if (length > 0 && classify(transaction->sender, length, &sender_utf8) == FATE_SYNTAX)
        return &refuse_sender;
    client->utf8 = transaction->smtputf8 || sender_utf8;
    if (client->utf8 && !(client->extensions & SMTP_EXT_SMTPUTF8))
        return &refuse_utf8;
    if (smtp_body_8bit(transaction->body) && !(client->extensions & SMTP_EXT_8BITMIME))
        return &refuse_8bit;
    if (client->size_limit > 0 && smtp_body_size(transaction->body) > client->size_limit)
        return &refuse_size;
    return classify_all(client) ? NULL : &refuse_recipients;
}

static void compose_mail(SmtpClient *client)
{
    SmtpTransaction *transaction = &client->transaction;
    g_string_append(client->scratch, "MAIL FROM:<");
    g_string_append(client->scratch, transaction->sender);
    g_string_append_c(client->scratch, '>');
    if (client->extensions & SMTP_EXT_SIZE)
        g_string_append_printf(client->scratch, " SIZE=%zu", smtp_body_size(transaction->body));
    if (smtp_body_8bit(transaction->body))
        g_string_append(client->scratch, " BODY=8BITMIME");
    if (client->utf8)
        g_string_append(client->scratch, " SMTPUTF8");
    g_string_append(client->scratch, "\r\n");
}

static void compose_rcpt(SmtpClient *client, size_t index)
{
    size_t length;
    const char *address = client->transaction.recipient(client->transaction.data, index, &length);
    g_string_append_len(client->scratch, "RCPT TO:<", 9);
    g_string_append_len(client->scratch, address, (gssize)length);
    g_string_append_len(client->scratch, ">\r\n", 3);
}

static void flush(SmtpClient *client)
{
    smtp_client_write(client, client->scratch->str, client->scratch->len);
    g_string_truncate(client->scratch, 0);
}

void smtp_client_send(SmtpClient *client, const SmtpTransaction *transaction)
{
    g_assert(client->phase == SMTP_IDLE && !client->active && transaction->count > 0);
    client->active = true;
    client->transactions++;
    client->transaction = *transaction;
    client->transaction.body = smtp_body_ref(transaction->body);
    client->cursor = (SmtpBodyCursor){0};
    client->next_rcpt = 0;
    client->accepted = 0;
    client->mail_accepted = false;
    g_byte_array_set_size(client->fates, (guint)transaction->count);
    memset(client->fates->data, FATE_OPEN, transaction->count);
    smtp_client_phase(client, SMTP_MAIL);
    client->refusal = find_refusal(client);
    if (client->refusal) {
        smtp_client_soon(client);
        return;
    }
    compose_mail(client);
    if (client->extensions & SMTP_EXT_PIPELINING) {
        for (size_t i = 0; i < transaction->count; i++)
            if (client->fates->data[i] == FATE_OPEN)
                compose_rcpt(client, i);
        g_string_append(client->scratch, "DATA\r\n");
    }
    flush(client);
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
    if (refusal == &refuse_recipients)
        pass_refused(client);
    smtp_transaction_end(client, &(SmtpResult){.verdict = SMTP_NEVER, .phase = SMTP_MAIL, .status = refusal->status,
                                               .text = refusal->text, .reply = refusal->text});
    smtp_client_rest(client);
}

/* All recipients have their reply: what comes next. */
static void after_recipients(SmtpClient *client)
{
    if (client->accepted == 0)
        smtp_transaction_end(client, NULL); /* all were reported one by one */
    if (client->extensions & SMTP_EXT_PIPELINING) {
        smtp_client_phase(client, SMTP_DATA);
    } else if (client->accepted > 0) {
        smtp_client_phase(client, SMTP_DATA);
        smtp_client_write(client, "DATA\r\n", 6);
    } else {
        smtp_client_reset(client);
    }
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
    if (client->extensions & SMTP_EXT_PIPELINING)
        return;
    compose_rcpt(client, client->next_rcpt);
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
    if (client->extensions & SMTP_EXT_PIPELINING)
        smtp_client_phase(client, SMTP_RCPT);
    else
        smtp_client_rest(client);
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
            smtp_client_phase(client, SMTP_DATA);
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

static void write_body(SmtpClient *client)
{
    struct evbuffer *out = bufferevent_get_output(client->connection);
    smtp_body_write(client->transaction.body, &client->cursor, out, BODY_PIECE);
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
            smtp_client_reset(client);
        else
            smtp_client_rest(client);
    }
}

static void dot_reply(SmtpClient *client)
{
    if (smtp_reply_class(&client->reply) == 3) {
        smtp_client_end_confused(client);
        return;
    }
    g_auto(SmtpVerdictText) judged = {0};
    smtp_client_judge(client, &judged);
    smtp_transaction_end(client, &judged.result);
    smtp_client_rest(client);
}

/* A reply before the end of data: a refusal ends the transaction, but where
 * the conversation stands then nobody can say. */
static void body_reply(SmtpClient *client)
{
    if (smtp_reply_class(&client->reply) < 4) {
        smtp_client_end_confused(client);
        return;
    }
    g_auto(SmtpVerdictText) judged = {0};
    smtp_client_judge(client, &judged);
    smtp_transaction_end(client, &judged.result);
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
    if (client->phase == SMTP_BODY && client->cursor.ended &&
        evbuffer_get_length(bufferevent_get_output(client->connection)) == 0)
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
