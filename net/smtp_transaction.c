/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* One transaction: its envelope, and the replies from MAIL to the end of the message. */
#include <idn2.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/mailbox.h"
#include "net/smtp_client_internal.h"

/* Bytes of a rewritten body that wait for the kernel at a time. */
#define BODY_PIECE (64 * 1024)

/* A message of so many bytes is sent with its commands (BDAT), before anybody is known to be accepted: one turn
 * of the line instead of two. */
#define AHEAD_MAX (64 * 1024)

/* But not on a connection that has rested so long that the server may be closing it: then it must be known
 * that nothing was sent. */
#define AHEAD_REST CLOCK_SECOND

/* RFC 5321 allows 256; more is passed to the server to judge, within reason. */
#define ADDRESS_MAX 998

/* RFC 3461: what is longer is left out. */
#define ENVID_MAX 100
#define ORCPT_MAX 500

static const SmtpRefusal refuse_size = {"5.3.4", "the message is larger than the server takes"};
static const SmtpRefusal refuse_8bit = {"5.6.3", "the message has 8-bit octets and the server takes none"};
static const SmtpRefusal refuse_utf8 = {"5.6.7",
                                        "the message has internationalised addresses and the server takes none"};
static const SmtpRefusal refuse_sender = {"5.1.7", "the sender's address cannot be sent"};
static const SmtpRefusal refuse_recipients = {"5.1.3", "no recipient can be sent"}; /* each for a reason of its own */
static const SmtpRefusal refuse_address = {"5.1.3", "the address cannot be sent"};
static const SmtpRefusal refuse_address_utf8 = {"5.6.7", "the address is internationalised and the server takes none"};

/* --- addresses ---------------------------------------------------------- */

/* The domain of an address that has a local part in ASCII and a domain that is not, in A-labels; NULL when it
 * is not so, or no domain. idn2_free() */
static char *a_labels(const char *address, size_t length, size_t *domain)
{
    const char *at = memrchr(address, '@', length);
    if (!at || at + 1 == address + length)
        return NULL;
    *domain = (size_t)(at - address) + 1;
    if (bytes_8bit(address, *domain))
        return NULL;
    g_autofree char *labels = g_strndup(at + 1, length - *domain);
    uint8_t *ascii = NULL;
    if (idn2_lookup_u8((const uint8_t *)labels, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL) != IDN2_OK)
        return NULL;
    return (char *)ascii;
}

/* Find what an address needs. Nothing that would end the path or the command early may get into it, whatever the spool
 * holds. */
static uint8_t classify(const char *address, size_t length)
{
    if (length == 0 || length > ADDRESS_MAX || mailbox_path_length(address, length) < length)
        return FATE_SYNTAX;
    if (!bytes_8bit(address, length))
        return FATE_OPEN;
    size_t domain;
    char *ascii = a_labels(address, length, &domain);
    idn2_free(ascii);
    return ascii ? FATE_OPEN : FATE_UTF8;
}

static void append_address(GString *to, const char *address, size_t length)
{
    size_t domain;
    char *ascii = bytes_8bit(address, length) ? a_labels(address, length, &domain) : NULL;
    g_string_append_len(to, address, (gssize)(ascii ? domain : length));
    if (ascii)
        g_string_append(to, ascii);
    idn2_free(ascii);
}

/* --- DSN parameters ----------------------------------------------------- */

/* RFC 3461, section 4. */
static void append_xtext(GString *to, const char *text, size_t length)
{
    size_t done = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char octet = (unsigned char)text[i];
        if (octet >= 33 && octet <= 126 && octet != '+' && octet != '=')
            continue;
        g_string_append_len(to, text + done, (gssize)(i - done));
        g_string_append_printf(to, "+%02X", octet);
        done = i + 1;
    }
    g_string_append_len(to, text + done, (gssize)(length - done));
}

static void append_orcpt(GString *to, const char *address, size_t length)
{
    size_t before = to->len;
    bool ascii = !bytes_8bit(address, length);
    if (!ascii && !g_utf8_validate(address, (gssize)length, NULL))
        return;
    g_string_append(to, ascii ? " ORCPT=rfc822;" : " ORCPT=utf-8;");
    if (ascii)
        append_xtext(to, address, length);
    /* RFC 6533, section 3: an address in UTF-8 where only ASCII may stand. */
    for (const char *at = address, *end = at + length; !ascii && at < end; at = g_utf8_next_char(at)) {
        gunichar character = g_utf8_get_char(at);
        if (character < 33 || character > 126 || character == '+' || character == '=' || character == '\\')
            g_string_append_printf(to, "\\x{%X}", character);
        else
            g_string_append_c(to, (char)character);
    }
    if (to->len - before > ORCPT_MAX)
        g_string_truncate(to, before);
}

/* --- commands ----------------------------------------------------------- */

/* Append the command MAIL to client->scratch. */
static void append_mail(SmtpClient *client, const SmtpTurn *turn)
{
    const SmtpTransaction *transaction = &turn->transaction;
    GString *line = client->scratch;
    g_string_append(line, "MAIL FROM:<");
    append_address(line, transaction->sender, strlen(transaction->sender));
    g_string_append_c(line, '>');
    if (client->extensions & SMTP_EXT_SIZE)
        g_string_append_printf(line, " SIZE=%zu", smtp_body_wire_size(turn->body));
    if (smtp_body_8bit(turn->body) && (client->extensions & SMTP_EXT_8BITMIME))
        g_string_append(line, " BODY=8BITMIME");
    if (turn->utf8)
        g_string_append(line, " SMTPUTF8");
    if (transaction->xverp && (client->extensions & SMTP_EXT_XVERP))
        g_string_append_printf(line, " XVERP=%s", transaction->xverp);
    bool dsn = client->extensions & SMTP_EXT_DSN;
    if (dsn && transaction->ret != SMTP_RET_UNSET)
        g_string_append(line, transaction->ret == SMTP_RET_FULL ? " RET=FULL" : " RET=HDRS");
    if (dsn && transaction->envid && *transaction->envid) {
        size_t before = line->len;
        g_string_append(line, " ENVID=");
        size_t start = line->len;
        append_xtext(line, transaction->envid, strlen(transaction->envid));
        if (line->len - start > ENVID_MAX)
            g_string_truncate(line, before);
    }
    g_string_append(line, "\r\n");
}

/* Append the command RCPT for the recipient at index to client->scratch. */
static void append_rcpt(SmtpClient *client, const SmtpTurn *turn, size_t index)
{
    const SmtpTransaction *transaction = &turn->transaction;
    GString *line = client->scratch;
    size_t length;
    const char *address = transaction->recipient(transaction->data, index, &length);
    g_string_append_len(line, "RCPT TO:<", 9);
    append_address(line, address, length);
    g_string_append_c(line, '>');
    if (client->extensions & SMTP_EXT_DSN) {
        static const char *const names[] = {"NEVER", "SUCCESS", "FAILURE", "DELAY"};
        unsigned notify = transaction->notify & SMTP_NOTIFY_NEVER ? SMTP_NOTIFY_NEVER : transaction->notify;
        const char *before = " NOTIFY=";
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
            if (notify & (1u << i)) {
                g_string_append(line, before);
                g_string_append(line, names[i]);
                before = ",";
            }
        const char *original = transaction->orcpt ? transaction->orcpt(transaction->data, index, &length) : NULL;
        if (original && length > 0)
            append_orcpt(line, original, length);
    }
    g_string_append_len(line, "\r\n", 2);
}

/* --- may it be sent at all ---------------------------------------------- */

/* Return the refusal to make without asking the server, or NULL; set fates, body and utf8 of the turn. */
static const SmtpRefusal *check(const SmtpClient *client, SmtpTurn *turn)
{
    const SmtpTransaction *transaction = &turn->transaction;
    bool takes_utf8 = client->extensions & SMTP_EXT_SMTPUTF8;
    size_t length = strlen(transaction->sender);
    uint8_t sender = length > 0 ? classify(transaction->sender, length) : FATE_OPEN;
    if (sender == FATE_SYNTAX)
        return &refuse_sender;
    turn->utf8 = transaction->smtputf8 || sender == FATE_UTF8;
    if (turn->utf8 && !takes_utf8)
        return &refuse_utf8;

    turn->body = smtp_body_ref(transaction->body);
    if (smtp_body_8bit(turn->body) && !(client->extensions & SMTP_EXT_8BITMIME)) {
        SmtpBody *seven = transaction->body_7bit ? transaction->body_7bit(transaction->data) : NULL;
        if (!seven)
            return &refuse_8bit;
        smtp_body_unref(turn->body);
        turn->body = seven;
    }
    if (client->size_limit > 0 && smtp_body_wire_size(turn->body) > client->size_limit)
        return &refuse_size;

    /* All recipients are looked at before the first command: MAIL says whether one of them needs SMTPUTF8. */
    bool any = false;
    for (size_t i = 0; i < transaction->count; i++) {
        const char *address = transaction->recipient(transaction->data, i, &length);
        uint8_t fate = classify(address, length);
        if (fate == FATE_UTF8 && takes_utf8) {
            turn->utf8 = true;
            fate = FATE_OPEN;
        }
        turn->fates->data[i] = fate;
        any |= fate == FATE_OPEN;
    }
    return any ? NULL : &refuse_recipients;
}

/* --- reports ------------------------------------------------------------ */

static void report(SmtpClient *client, size_t index, const SmtpResult *result)
{
    SmtpResult told = *result;
    told.accepted = client->turn.taken_rcpt;
    client->turn.fates->data[index] = FATE_REPORTED;
    client->handler->result(client, index, &told, client->data);
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

/* --- writing ------------------------------------------------------------ */

static void flush(SmtpClient *client)
{
    bufferevent_write(client->connection, client->scratch->str, client->scratch->len);
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
                append_rcpt(client, turn, i);
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
    turn->refusal = check(client, turn);
    if (turn->refusal) {
        event_active(client->timer, EV_TIMEOUT, 0); /* results come from the loop: smtp_transaction_refuse() */
        return;
    }
    bool fresh = turn->number == 1 || rested < AHEAD_REST;
    turn->bdat_ahead = uses_bdat(turn) && client->pipelining && fresh && !transaction->careful &&
                       smtp_body_wire_size(turn->body) <= AHEAD_MAX;
    append_mail(client, turn);
    write_ahead(client, turn);
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
    /* It may follow when it needs no word of ours, and is soon sent. */
    if (!uses_bdat(&turn) || check(client, &turn) || smtp_body_wire_size(turn.body) > AHEAD_MAX ||
        memchr(turn.fates->data, FATE_SYNTAX, turn.fates->len) ||
        memchr(turn.fates->data, FATE_UTF8, turn.fates->len)) {
        smtp_transaction_clear(&turn);
        return false;
    }
    turn.bdat_ahead = true;
    turn.behind = true;
    client->transactions++;
    g_string_append(client->scratch, "RSET\r\n");
    append_mail(client, &turn);
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

/* --- replies ------------------------------------------------------------ */

/* Recipients that were never sent are passed over, with their reason. */
static void pass_refused(SmtpClient *client)
{
    for (; client->turn.next_rcpt < client->turn.transaction.count; client->turn.next_rcpt++) {
        uint8_t fate = client->turn.fates->data[client->turn.next_rcpt];
        if (fate != FATE_SYNTAX && fate != FATE_UTF8)
            return;
        const SmtpRefusal *why = fate == FATE_SYNTAX ? &refuse_address : &refuse_address_utf8;
        report(client, client->turn.next_rcpt,
               &(SmtpResult){.verdict = SMTP_NEVER,
                             .phase = SMTP_RCPT,
                             .status = why->status,
                             .text = why->text,
                             .reply = why->text});
    }
}

void smtp_transaction_refuse(SmtpClient *client)
{
    const SmtpRefusal *refusal = g_steal_pointer(&client->turn.refusal);
    if (refusal == &refuse_recipients)
        pass_refused(client);
    smtp_transaction_end(client, &(SmtpResult){.verdict = SMTP_NEVER, .phase = SMTP_MAIL, .status = refusal->status,
                                               .text = refusal->text, .reply = refusal->text});
    smtp_client_rest(client);
}

/* All recipients have their reply: send the message, unless nobody is to get it. What was said ahead has replies to
 * come in any case. */
static void after_recipients(SmtpClient *client)
{
    const SmtpTurn *turn = &client->turn;
    bool data_said = client->pipelining && !uses_bdat(turn) && !turn->data_unsaid;
    bool any = turn->accepted > 0;
    if (!any)
        smtp_transaction_end(client, NULL); /* all were reported one by one */
    if (turn->bdat_ahead) {
        /* The message is on its way, at the end of the output. */
        smtp_client_phase(client, smtp_transaction_sent(client) ? SMTP_DOT : SMTP_BODY);
    } else if (!any && !data_said && turn->mail_accepted) {
        smtp_client_reset(client);
    } else if (!any && !data_said) {
        smtp_client_rest(client);
    } else if (!uses_bdat(turn)) {
        smtp_client_phase(client, SMTP_DATA);
        if (!data_said)
            bufferevent_write(client->connection, "DATA\r\n", 6);
    } else {
        smtp_client_phase(client, SMTP_BODY);
        write_bdat(client, &client->turn);
    }
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
    append_rcpt(client, &client->turn, client->turn.next_rcpt);
    flush(client);
}

static void mail_reply(SmtpClient *client)
{
    SmtpTurn *turn = &client->turn;
    unsigned class = smtp_reply_class(&client->reply);
    if (class == 2) {
        turn->mail_accepted = true;
        next_recipient(client);
        return;
    }
    if (class == 1 || class == 3) {
        smtp_client_end_confused(client);
        return;
    }
    /* Refused, and with it everybody. What was pipelined behind it is answered all the same. */
    g_auto(SmtpVerdictText) judged = {0};
    smtp_client_judge(client, &judged);
    turn->awaited = 0;
    for (size_t i = 0; i < turn->transaction.count; i++)
        if (turn->fates->data[i] == FATE_OPEN)
            turn->awaited++;
    smtp_transaction_end(client, &judged.result);
    if (client->pipelining)
        smtp_client_phase(client, SMTP_RCPT);
    else
        smtp_client_rest(client);
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
        bufferevent_write(client->connection, ".\r\n", 3);
    } else if (smtp_reply_class(&client->reply) < 4) {
        smtp_client_end_confused(client);
    } else {
        g_auto(SmtpVerdictText) judged = {0};
        smtp_client_judge(client, &judged);
        smtp_transaction_end(client, &judged.result);
        if (client->turn.mail_accepted)
            smtp_client_reset(client);
        else
            smtp_client_rest(client);
    }
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
    if (!has_replies(client))
        smtp_transaction_end(client, &judged.result);
    else if (!dot_reply_each(client, &judged.result))
        return;
    /* The transaction is over. After a chunk that was refused the server's state is open (RFC 3030). */
    if (client->turn.out_of_step)
        smtp_client_end_confused(client);
    else if (client->turn.bdat_failed)
        smtp_client_reset(client);
    else
        smtp_client_rest(client);
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
        smtp_client_reset(client);
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
