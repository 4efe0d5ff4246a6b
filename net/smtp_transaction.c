/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/clock.h"
#include "net/smtp_client_internal.h"

/* Bytes of a rewritten body that wait for the kernel at a time. */
#define BODY_PIECE (64 * 1024)

/* A message of so many bytes is sent with its commands (BDAT), before anybody is known to be accepted: one turn
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
    SmtpResult told = *result;
    told.accepted = client->turn.taken_rcpt;
    client->turn.fates->data[index] = FATE_REPORTED;
    client->handler->result(client, index, &told, client->data);
}

static void report_refusal(SmtpClient *client, size_t index, const SmtpRefusal *refusal)
{
    report(client, index,
           &(SmtpResult){.verdict = SMTP_NEVER, .phase = SMTP_RCPT, .status = refusal->status, .text = refusal->text,
                         .reply = refusal->text});
}

void smtp_transaction_end(SmtpClient *client, const SmtpResult *result)
{
    if (!client->turn.active)
        return;
    for (size_t i = 0; i < client->turn.transaction.count; i++)
        if (client->turn.fates->data[i] != FATE_REPORTED)
            report(client, i, result);
    client->turn.active = false;
    smtp_body_unref(g_steal_pointer(&client->turn.transaction.body));
    g_clear_pointer(&client->turn.body, smtp_body_unref);
    client->handler->done(client, client->data);
}

static void flush(SmtpClient *client)
{
    smtp_client_write(client, client->scratch->str, client->scratch->len);
    g_string_truncate(client->scratch, 0);
}

bool smtp_transaction_sent(const SmtpClient *client)
{
    return client->turn.cursor.ended && client->written >= client->turn.end;
}

static bool uses_bdat(const SmtpTurn *turn)
{
    return turn->cursor.chunk;
}

/* Appends to what is being written; the output's order is that of the calls. */
static void write_body(SmtpClient *client, SmtpTurn *turn)
{
    struct evbuffer *out = bufferevent_get_output(client->connection);
    smtp_body_write(turn->body, &turn->cursor, out, BODY_PIECE);
    if (turn->cursor.ended)
        turn->end = client->written + evbuffer_get_length(out);
}

/* One chunk, the last. */
static void write_bdat(SmtpClient *client, SmtpTurn *turn)
{
    g_string_append_printf(client->scratch, "BDAT %zu LAST\r\n", smtp_body_wire_size(turn->body));
    flush(client);
    write_body(client, turn);
}

/* Everything there is to say before the first reply. */
static void write_ahead(SmtpClient *client, SmtpTurn *turn)
{
    if (client->pipelining)
        for (size_t i = 0; i < turn->transaction.count; i++)
            if (turn->fates->data[i] == FATE_OPEN)
                smtp_envelope_rcpt(client, turn, i);
    turn->data_unsaid = turn->transaction.careful;
    if (client->pipelining && !uses_bdat(turn) && !turn->data_unsaid)
        g_string_append(client->scratch, "DATA\r\n");
    flush(client);
    if (!turn->bdat_ahead)
        return;
    write_bdat(client, turn);
    while (!turn->cursor.ended)
        write_body(client, turn);
}

void smtp_transaction_clear(SmtpTurn *turn)
{
    smtp_body_unref(turn->active ? turn->transaction.body : NULL);
    smtp_body_unref(turn->body);
    g_clear_pointer(&turn->fates, g_byte_array_unref);
    *turn = (SmtpTurn){0};
}

static void take_turn(const SmtpClient *client, const SmtpTransaction *transaction, SmtpTurn *turn)
{
    *turn = (SmtpTurn){.number = client->transactions + 1,
                       .active = true,
                       .transaction = *transaction,
                       .cursor = {.chunk = client->settings->chunking && (client->extensions & SMTP_EXT_CHUNKING)},
                       .fates = g_byte_array_set_size(g_byte_array_new(), (guint)transaction->count)};
    turn->transaction.body = smtp_body_ref(transaction->body);
    memset(turn->fates->data, FATE_OPEN, transaction->count);
}

void smtp_client_send(SmtpClient *client, const SmtpTransaction *transaction)
{
    SmtpTurn *turn = &client->turn;
    g_assert(client->phase == SMTP_IDLE && !turn->active && transaction->count > 0);
    int64_t rested = clock_monotonic() - client->progress;
    smtp_transaction_clear(turn);
    take_turn(client, transaction, turn);
    client->transactions++;
    smtp_client_phase(client, SMTP_MAIL);
    turn->refusal = smtp_envelope_check(client, turn);
    if (turn->refusal) {
        smtp_client_soon(client);
        return;
    }
    bool fresh = turn->number == 1 || rested < AHEAD_REST;
    turn->bdat_ahead = uses_bdat(turn) && client->pipelining && fresh && !transaction->careful &&
                       smtp_body_wire_size(turn->body) <= AHEAD_MAX;
    smtp_envelope_mail(client, turn);
    write_ahead(client, turn);
}

/* The turn, which is not written yet, needs no word of ours and is soon sent. */
static bool may_follow(const SmtpClient *client, SmtpTurn *turn)
{
    if (!uses_bdat(turn) || smtp_envelope_check(client, turn) || smtp_body_wire_size(turn->body) > AHEAD_MAX)
        return false;
    return !memchr(turn->fates->data, FATE_SYNTAX, turn->fates->len) &&
           !memchr(turn->fates->data, FATE_UTF8, turn->fates->len);
}

/* In LMTP the replies to a message that was refused as a whole may be fewer than its recipients: with more than one,
 * the answer to what is behind could be taken for one of them. */
static bool replies_are_certain(const SmtpClient *client, size_t recipients)
{
    return client->settings->protocol != SMTP_PROTOCOL_LMTP || recipients == 1;
}

bool smtp_client_takes_behind(const SmtpClient *client)
{
    return client->phase == SMTP_MAIL && client->turn.bdat_ahead && !client->ending &&
           replies_are_certain(client, client->turn.transaction.count);
}

bool smtp_client_send_behind(SmtpClient *client, const SmtpTransaction *transaction)
{
    g_assert(transaction->count > 0);
    if (!smtp_client_takes_behind(client) || !replies_are_certain(client, transaction->count))
        return false;
    SmtpTurn turn;
    take_turn(client, transaction, &turn);
    if (!may_follow(client, &turn)) {
        smtp_transaction_clear(&turn);
        return false;
    }
    turn.bdat_ahead = true;
    turn.behind = true;
    client->transactions++;
    g_string_append(client->scratch, "RSET\r\n");
    smtp_envelope_mail(client, &turn);
    write_ahead(client, &turn);
    g_queue_push_tail(&client->behind, g_memdup2(&turn, sizeof(turn)));
    return true;
}

void smtp_transaction_next(SmtpClient *client)
{
    g_autofree SmtpTurn *next = g_queue_pop_head(&client->behind);
    smtp_transaction_clear(&client->turn);
    client->turn = *next;
}

/* Recipients that were never sent are passed over, with their reason. */
static void pass_refused(SmtpClient *client)
{
    for (; client->turn.next_rcpt < client->turn.transaction.count; client->turn.next_rcpt++) {
        uint8_t fate = client->turn.fates->data[client->turn.next_rcpt];
        if (fate == FATE_SYNTAX)
            report_refusal(client, client->turn.next_rcpt, &refuse_address);
        else if (fate == FATE_UTF8)
            report_refusal(client, client->turn.next_rcpt, &refuse_address_utf8);
        else
            return;
    }
}

void smtp_transaction_refuse(SmtpClient *client)
{
    const SmtpRefusal *refusal = g_steal_pointer(&client->turn.refusal);
    if (refusal == &smtp_refuse_recipients)
        pass_refused(client);
    smtp_transaction_end(client, &(SmtpResult){.verdict = SMTP_NEVER, .phase = SMTP_MAIL, .status = refusal->status,
                                               .text = refusal->text, .reply = refusal->text});
    smtp_session_rest(client);
}

static void start_body(SmtpClient *client)
{
    if (client->turn.bdat_ahead) {
        /* The message is on its way, at the end of the output. */
        bool sent = smtp_transaction_sent(client);
        smtp_client_phase(client, sent ? SMTP_DOT : SMTP_BODY);
    } else if (!uses_bdat(&client->turn)) {
        smtp_client_phase(client, SMTP_DATA);
        if (!client->pipelining || client->turn.data_unsaid)
            smtp_client_write(client, "DATA\r\n", 6);
    } else {
        smtp_client_phase(client, SMTP_BODY);
        write_bdat(client, &client->turn);
    }
}

/* All recipients have their reply: what comes next. What was said ahead has replies to come in any case. */
static void after_recipients(SmtpClient *client)
{
    bool ahead = client->turn.bdat_ahead ||
                 (client->pipelining && !uses_bdat(&client->turn) && !client->turn.data_unsaid);
    bool any = client->turn.accepted > 0;
    if (!any)
        smtp_transaction_end(client, NULL); /* all were reported one by one */
    if (any || ahead)
        start_body(client);
    else if (client->turn.mail_accepted)
        smtp_session_reset(client);
    else
        smtp_session_rest(client);
}

static void next_recipient(SmtpClient *client)
{
    pass_refused(client);
    if (client->turn.next_rcpt == client->turn.transaction.count) {
        after_recipients(client);
        return;
    }
    if (client->phase != SMTP_RCPT)
        smtp_client_phase(client, SMTP_RCPT);
    if (client->pipelining)
        return;
    smtp_envelope_rcpt(client, &client->turn, client->turn.next_rcpt);
    flush(client);
}

/* MAIL was refused, and so is everybody. What was pipelined behind it is
 * answered all the same. */
static void refuse_all(SmtpClient *client)
{
    g_auto(SmtpVerdictText) judged = {0};
    smtp_client_judge(client, &judged);
    client->turn.awaited = 0;
    for (size_t i = 0; i < client->turn.transaction.count; i++)
        if (client->turn.fates->data[i] == FATE_OPEN)
            client->turn.awaited++;
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
        client->turn.mail_accepted = true;
        next_recipient(client);
        break;
    case 1:
    case 3:
        smtp_client_end_confused(client);
        break;
    default:
        refuse_all(client);
    }
}

/* SMTP knows no such answer to RCPT. It concerns that recipient, as long as nothing can be taken for something else:
 * the message has not gone out, and goes by DATA, whose answer no answer to RCPT resembles. An answer may be left over,
 * so no other transaction follows over this connection. */
static void odd_rcpt_reply(SmtpClient *client)
{
    client->ending = true;
    if (client->turn.bdat_ahead) {
        smtp_client_end_confused(client);
        return;
    }
    if (uses_bdat(&client->turn)) {
        client->turn.cursor.chunk = false;
        client->turn.data_unsaid = true;
    }
    g_autofree char *text = g_strdup_printf("%s gave no answer that SMTP knows (in reply to RCPT TO)", client->peer);
    report(client, client->turn.next_rcpt, &(SmtpResult){.verdict = SMTP_LATER, .phase = SMTP_RCPT, .status = "4.5.0",
                                                         .text = text, .reply = text});
    client->turn.next_rcpt++;
    next_recipient(client);
}

bool smtp_transaction_odd_line(SmtpClient *client)
{
    if (client->phase != SMTP_RCPT || !client->turn.active || client->turn.bdat_ahead)
        return false;
    odd_rcpt_reply(client);
    return true;
}

static void rcpt_reply(SmtpClient *client)
{
    if (!client->turn.active) {
        if (smtp_reply_class(&client->reply) == 2) /* without a sender? It answers something else */
            smtp_client_end_confused(client);
        else if (--client->turn.awaited == 0)
            after_recipients(client);
        return;
    }
    switch (smtp_reply_class(&client->reply)) {
    case 2:
        client->turn.fates->data[client->turn.next_rcpt] = FATE_ACCEPTED;
        client->turn.accepted++;
        client->turn.taken_rcpt++;
        break;
    case 1:
    case 3:
        odd_rcpt_reply(client);
        return;
    default: {
        g_auto(SmtpVerdictText) judged = {0};
        smtp_client_judge(client, &judged);
        report(client, client->turn.next_rcpt, &judged.result);
    }
    }
    client->turn.next_rcpt++;
    next_recipient(client);
}

static void data_reply(SmtpClient *client)
{
    if (client->reply.code == 354 && client->turn.active) {
        smtp_client_phase(client, SMTP_BODY);
        write_body(client, &client->turn);
    } else if (client->reply.code == 354) {
        smtp_client_phase(client, SMTP_DOT); /* nobody to send to: an empty message, which the server refuses */
        smtp_client_write(client, ".\r\n", 3);
    } else if (smtp_reply_class(&client->reply) < 4) {
        smtp_client_end_confused(client);
    } else {
        g_auto(SmtpVerdictText) judged = {0};
        smtp_client_judge(client, &judged);
        smtp_transaction_end(client, &judged.result);
        if (client->turn.mail_accepted)
            smtp_session_reset(client);
        else
            smtp_session_rest(client);
    }
}

/* The transaction is over. After a chunk that was refused the server's state is open (RFC 3030). */
static void end_data(SmtpClient *client)
{
    if (client->turn.out_of_step)
        smtp_client_end_confused(client);
    else if (client->turn.bdat_failed)
        smtp_session_reset(client);
    else
        smtp_session_rest(client);
}

/* LMTP: one reply for each recipient that was accepted, in their order. True when this was the last. */
static bool dot_reply_each(SmtpClient *client, const SmtpResult *result)
{
    while (client->turn.fates->data[client->turn.next_dot] != FATE_ACCEPTED)
        client->turn.next_dot++;
    report(client, client->turn.next_dot, result);
    if (--client->turn.accepted > 0)
        return false;
    smtp_transaction_end(client, NULL);
    return true;
}

/* Each recipient that was accepted has a reply of its own. */
static bool has_replies(const SmtpClient *client)
{
    return client->turn.active && client->settings->protocol == SMTP_PROTOCOL_LMTP;
}

static void dot_reply(SmtpClient *client)
{
    unsigned class = smtp_reply_class(&client->reply);
    bool unasked = class == 2 && !client->turn.active && uses_bdat(&client->turn); /* taken, for nobody */
    if (class == 1 || class == 3 || unasked) {
        smtp_client_end_confused(client);
        return;
    }
    g_auto(SmtpVerdictText) judged = {0};
    smtp_client_judge(client, &judged);
    client->turn.taken = class == 2;
    client->turn.bdat_failed |= uses_bdat(&client->turn) && !client->turn.taken;
    if (has_replies(client)) {
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
    client->turn.bdat_failed |= uses_bdat(&client->turn);
    client->turn.out_of_step |= !uses_bdat(&client->turn);
    if (!has_replies(client))
        smtp_transaction_end(client, &judged.result);
    else if (!dot_reply_each(client, &judged.result))
        return;
    size_t left = evbuffer_get_length(bufferevent_get_output(client->connection));
    bool little = left <= AHEAD_MAX || !g_queue_is_empty(&client->behind);
    if (uses_bdat(&client->turn) && client->turn.cursor.ended && little)
        smtp_session_reset(client);
    else
        smtp_client_end_by_reply(client);
}

void smtp_transaction_drained(SmtpClient *client)
{
    if (client->phase != SMTP_BODY)
        return;
    if (client->turn.cursor.ended)
        smtp_client_phase(client, SMTP_DOT);
    else
        write_body(client, &client->turn);
}

void smtp_transaction_reply(SmtpClient *client)
{
    if (client->phase == SMTP_BODY && smtp_transaction_sent(client))
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
