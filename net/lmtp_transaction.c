/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The envelope: parameters, recipients, and the memory that they hold. */
#include <string.h>

#include "net/lmtp_internal.h"

#define DIGITS_MAX 18

bool lmtp_number_read(const char *text, uint64_t *number)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > DIGITS_MAX || text[digits])
        return false;
    *number = g_ascii_strtoull(text, NULL, 10);
    return true;
}

/* One parameter of MAIL; NULL, or the refusal. */
static const char *mail_parameter(LmtpSession *session, const char *keyword, const char *value)
{
    LmtpTransaction *transaction = session->transaction;
    if (g_ascii_strcasecmp(keyword, "SIZE") == 0) {
        if (!value || !lmtp_number_read(value, &session->announced))
            return "501 5.5.4 SIZE wants a number of octets";
    } else if (g_ascii_strcasecmp(keyword, "BODY") == 0) {
        if (value && g_ascii_strcasecmp(value, "8BITMIME") == 0)
            transaction->eight_bit = true;
        else if (!value || g_ascii_strcasecmp(value, "7BIT") != 0)
            return "501 5.5.4 BODY wants 7BIT or 8BITMIME";
    } else if (g_ascii_strcasecmp(keyword, "SMTPUTF8") == 0) {
        if (value)
            return "501 5.5.4 SMTPUTF8 takes no value";
        transaction->smtputf8 = true;
    } else {
        return "555 5.5.4 This MAIL parameter is not supported";
    }
    return NULL;
}

const char *lmtp_mail_parameters(LmtpSession *session, const char *text)
{
    for (;;) {
        g_autofree char *keyword = NULL, *value = NULL;
        if (!lmtp_parameter_read(&text, &keyword, &value))
            return "501 5.5.4 Malformed parameter";
        if (!keyword)
            return NULL;
        const char *refusal = mail_parameter(session, keyword, value);
        if (refusal)
            return refusal;
    }
}

const char *lmtp_address_refusal(const char *address, bool smtputf8)
{
    if (g_str_is_ascii(address))
        return NULL;
    if (!smtputf8)
        return "553 5.6.7 An address beyond ASCII needs SMTPUTF8 at MAIL";
    return g_utf8_validate(address, -1, NULL) ? NULL : "553 5.6.7 The address is not UTF-8";
}

LmtpTransaction *lmtp_transaction_new(LmtpServer *server, char *sender)
{
    LmtpTransaction *transaction = g_new0(LmtpTransaction, 1);
    transaction->server = server;
    transaction->sender = sender;
    transaction->recipients = g_array_new(FALSE, TRUE, sizeof(LmtpRecipient));
    return transaction;
}

static void free_data(const LmtpServer *server, LmtpRecipient *recipient)
{
    if (server->handler->free_recipient && recipient->data)
        server->handler->free_recipient(recipient->data);
}

void lmtp_transaction_free(LmtpTransaction *transaction)
{
    if (!transaction)
        return;
    LmtpServer *server = transaction->server;
    server->memory -= transaction->envelope + transaction->content;
    server->envelopes -= transaction->envelope;
    for (unsigned i = 0; i < transaction->recipients->len; i++) {
        LmtpRecipient *recipient = lmtp_recipient(transaction, i);
        free_data(server, recipient);
        g_free(recipient->address);
        g_free(recipient->reply);
    }
    g_array_unref(transaction->recipients);
    g_clear_pointer(&transaction->message, g_bytes_unref);
    g_free(transaction->sender);
    g_free(transaction);
}

static bool has_memory(const LmtpServer *server, size_t recipient)
{
    const LmtpLimits *limits = &server->limits;
    return server->memory + recipient <= limits->memory && server->envelopes + recipient <= limits->memory / 2;
}

const char *lmtp_transaction_add(LmtpSession *session, char *address)
{
    LmtpServer *server = session->server;
    LmtpTransaction *transaction = session->transaction;
    LmtpRecipient recipient = {.address = address};
    size_t size = sizeof recipient + strlen(address) + 1;
    const char *refusal = NULL;
    if (transaction->recipients->len >= server->limits.recipients)
        refusal = "452 4.5.3 Too many recipients";
    else if (!has_memory(server, size))
        refusal = LMTP_NO_MEMORY;
    else
        refusal = server->handler->recipient(session, &recipient, server->data);
    size += recipient.size;
    if (!refusal && !has_memory(server, size)) {
        free_data(server, &recipient);
        refusal = LMTP_NO_MEMORY;
    }
    if (refusal) {
        g_free(address);
        return refusal;
    }
    g_array_append_val(transaction->recipients, recipient);
    transaction->envelope += size;
    server->envelopes += size;
    server->memory += size;
    return NULL;
}
