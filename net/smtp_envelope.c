/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/smtp_client_internal.h"

#include <idn2.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mailbox.h"

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

/* RFC 6533, section 3: an address in UTF-8 where only ASCII may stand. */
static void append_utf8_xtext(GString *to, const char *text, size_t length)
{
    for (const char *end = text + length; text < end; text = g_utf8_next_char(text)) {
        gunichar character = g_utf8_get_char(text);
        if (character < 33 || character > 126 || character == '+' || character == '=' || character == '\\')
            g_string_append_printf(to, "\\x{%X}", character);
        else
            g_string_append_c(to, (char)character);
    }
}

static void append_mail_dsn(GString *to, const SmtpTransaction *transaction)
{
    if (transaction->ret != SMTP_RET_UNSET)
        g_string_append(to, transaction->ret == SMTP_RET_FULL ? " RET=FULL" : " RET=HDRS");
    if (!transaction->envid || !*transaction->envid)
        return;
    size_t before = to->len;
    g_string_append(to, " ENVID=");
    size_t start = to->len;
    append_xtext(to, transaction->envid, strlen(transaction->envid));
    if (to->len - start > ENVID_MAX)
        g_string_truncate(to, before);
}

static void append_notify(GString *to, unsigned notify)
{
    static const char *const names[] = {"NEVER", "SUCCESS", "FAILURE", "DELAY"};
    const char *before = " NOTIFY=";
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (!(notify & (1u << i)))
            continue;
        g_string_append(to, before);
        g_string_append(to, names[i]);
        before = ",";
        if (1u << i == SMTP_NOTIFY_NEVER)
            return;
    }
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
    else
        append_utf8_xtext(to, address, length);
    if (to->len - before > ORCPT_MAX)
        g_string_truncate(to, before);
}

/* --- commands ----------------------------------------------------------- */

void smtp_envelope_mail(SmtpClient *client, const SmtpTurn *turn)
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
    if (client->extensions & SMTP_EXT_DSN)
        append_mail_dsn(line, transaction);
    g_string_append(line, "\r\n");
}

void smtp_envelope_rcpt(SmtpClient *client, const SmtpTurn *turn, size_t index)
{
    const SmtpTransaction *transaction = &turn->transaction;
    GString *line = client->scratch;
    size_t length;
    const char *address = transaction->recipient(transaction->data, index, &length);
    g_string_append_len(line, "RCPT TO:<", 9);
    append_address(line, address, length);
    g_string_append_c(line, '>');
    if (client->extensions & SMTP_EXT_DSN) {
        append_notify(line, transaction->notify);
        const char *original = transaction->orcpt ? transaction->orcpt(transaction->data, index, &length) : NULL;
        if (original && length > 0)
            append_orcpt(line, original, length);
    }
    g_string_append_len(line, "\r\n", 2);
}

/* --- may it be sent at all ---------------------------------------------- */

/* The body that this server can take, in turn->body; false when there is none. */
static bool choose_body(const SmtpClient *client, SmtpTurn *turn)
{
    SmtpTransaction *transaction = &turn->transaction;
    turn->body = smtp_body_ref(transaction->body);
    if (!smtp_body_8bit(turn->body) || (client->extensions & SMTP_EXT_8BITMIME))
        return true;
    SmtpBody *seven = transaction->body_7bit ? transaction->body_7bit(transaction->data) : NULL;
    if (!seven)
        return false;
    smtp_body_unref(turn->body);
    turn->body = seven;
    return true;
}

/* Looks at all recipients before the first command is sent; true when at least one can be sent. */
static bool classify_all(const SmtpClient *client, SmtpTurn *turn)
{
    const SmtpTransaction *transaction = &turn->transaction;
    bool offered = client->extensions & SMTP_EXT_SMTPUTF8;
    bool any = false;
    for (size_t i = 0; i < transaction->count; i++) {
        size_t length;
        const char *address = transaction->recipient(transaction->data, i, &length);
        uint8_t fate = classify(address, length);
        if (fate == FATE_UTF8 && offered) {
            turn->utf8 = true;
            fate = FATE_OPEN;
        }
        turn->fates->data[i] = fate;
        any |= fate == FATE_OPEN;
    }
    return any;
}

const SmtpRefusal *smtp_envelope_check(const SmtpClient *client, SmtpTurn *turn)
{
    const SmtpTransaction *transaction = &turn->transaction;
    size_t length = strlen(transaction->sender);
    uint8_t sender = length > 0 ? classify(transaction->sender, length) : FATE_OPEN;
    if (sender == FATE_SYNTAX)
        return &refuse_sender;
    turn->utf8 = transaction->smtputf8 || sender == FATE_UTF8;
    if (turn->utf8 && !(client->extensions & SMTP_EXT_SMTPUTF8))
        return &refuse_utf8;
    if (!choose_body(client, turn))
        return &refuse_8bit;
    if (client->size_limit > 0 && smtp_body_wire_size(turn->body) > client->size_limit)
        return &refuse_size;
    return classify_all(client, turn) ? NULL : &smtp_refuse_recipients;
}
