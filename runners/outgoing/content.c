/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * This makes the content that a batch sends: the envelope sender and the message, the same for all recipients or made
 * for one from the pieces of mail/copy.h.
 */
#include "runners/outgoing/content.h"

#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/keys.h"
#include "mail/mime/downgrade.h"
#include "runners/outgoing/delivery.h"

/* The body with its cuts where copies differ. Where each copy is signed the first cut is for the signatures. */
static SmtpBody *make_pattern(const Content *content)
{
    g_autoptr(GArray) cuts = g_array_new(FALSE, FALSE, sizeof(size_t));
    size_t holes = copy_plan_holes(content->plan);
    if (content->sign.signing.domain && holes > 0) {
        g_autoptr(Message) message = message_new(content->message);
        size_t place = MIN(dkim_keys_place(message), copy_plan_offset(content->plan, 0)); /* cuts are in order */
        g_array_append_val(cuts, place);
    }
    for (size_t hole = 0; hole < holes; hole++) {
        size_t offset = copy_plan_offset(content->plan, hole);
        g_array_append_val(cuts, offset);
    }
    return smtp_body_new_cut(content->message, (const size_t *)(void *)cuts->data, cuts->len);
}

bool content_init(Content *content, Entry *entry, const GPtrArray *keys, GError **error)
{
    json_t *meta = entry_meta(entry);
    const char *copies = meta_string(meta, KEY_COPIES, NULL);
    g_autoptr(GBytes) message = entry_message(entry);
    content->sender = meta_string(meta, KEY_ENVELOPE_SENDER, NULL);
    if (!content->sender)
        return fail(error, FAIL_NEVER, "the entry has no envelope sender (metadata \"" KEY_ENVELOPE_SENDER "\")");
    content->smtputf8 = meta_bool(meta, KEY_SMTPUTF8);
    content->xverp = meta_string(meta, KEY_XVERP, NULL);
    if (copies) {
        content->plan = copy_plan_new(copies, g_bytes_get_size(message), error);
        if (!content->plan)
            return false;
    }
    content->message = g_steal_pointer(&message);
    content->keys = keys;
    content->trace = entry_trace(entry);
    copy_sign_read(meta, &content->sign);
    size_t length;
    const void *octets = g_bytes_get_data(content->message, &length);
    content->long_lines = bytes_long_line(octets, length);
    content->body = content->plan ? make_pattern(content) : smtp_body_new(content->message);
    return true;
}

void content_clear(Content *content)
{
    g_clear_pointer(&content->plan, copy_plan_free);
    g_clear_pointer(&content->body, smtp_body_unref);
    g_clear_pointer(&content->seven, smtp_body_unref);
    g_clear_pointer(&content->lines, smtp_body_unref);
    g_clear_pointer(&content->message, g_bytes_unref);
}

void content_address(const Content *content, Recipient *recipient)
{
    if (content->plan)
        recipient->length = copy_recipient_read(recipient->address, recipient->length).address_length;
}

/* --- work on what a stranger wrote ---------------------------------------- */

/* Between these two libraries read the bytes: should the process die of them, the entry is charged with the crash. A
 * disk that takes no crash count holds up no mail. */
static void charge(const Batch *batch)
{
    g_autoptr(GError) error = NULL;
    if (!entry_begin_work(batch->delivery->entry, &error))
        log_warn("%s %s", entry_trace(batch->delivery->entry), error->message);
}

static void discharge(const Batch *batch)
{
    g_autoptr(GError) error = NULL;
    if (!entry_end_work(batch->delivery->entry, &error))
        log_warn("%s %s", entry_trace(batch->delivery->entry), error->message);
}

/* --- a copy for one ------------------------------------------------------- */

/* The line again as it stands in the entry, of which the batch has only the address. */
static CopyRecipient read_line(const Batch *batch)
{
    Recipient recipient;
    entry_next_recipient(batch->delivery->entry, batch->recipients[0].offset, &recipient);
    return copy_recipient_read(recipient.address, recipient.length);
}

static GBytes *whole_copy(const Content *content, const GArray *fills)
{
    g_autoptr(GByteArray) octets = g_byte_array_new();
    size_t length, done = 0;
    const guint8 *data = g_bytes_get_data(content->message, &length);
    for (guint at = 0; at < fills->len; at++) {
        const CopyFill *fill = &g_array_index(fills, CopyFill, at);
        g_byte_array_append(octets, data + done, (guint)(fill->offset - done));
        g_byte_array_append(octets, (const guint8 *)fill->text, (guint)fill->length);
        done = fill->offset;
    }
    g_byte_array_append(octets, data + done, (guint)(length - done));
    return g_byte_array_free_to_bytes(g_steal_pointer(&octets));
}

/* The body is made of the pattern and of what is the copy's own: a copy that is signed is whole in memory only while
 * its signatures are made, however many copies are under way. */
static SmtpBody *make_copy(Content *content, const CopyRecipient *recipient)
{
    if (copy_plan_holes(content->plan) == 0)
        return smtp_body_ref(content->body);
    g_autoptr(GArray) values = copy_fill(content->plan, recipient);
    g_autoptr(GArray) fills = g_array_sized_new(FALSE, FALSE, sizeof(SmtpFill), values->len + 1);
    g_autofree char *fields = NULL;
    if (content->sign.signing.domain) {
        g_autoptr(GBytes) octets = whole_copy(content, values);
        content->sign.seal.now = clock_now();
        fields = dkim_keys_fields(content->keys, &content->sign.signing, octets, content->trace);
        SmtpFill fill = {fields, strlen(fields)};
        g_array_append_val(fills, fill);
    }
    for (guint at = 0; at < values->len; at++) {
        const CopyFill *value = &g_array_index(values, CopyFill, at);
        SmtpFill fill = {value->text, value->length};
        g_array_append_val(fills, fill);
    }
    return smtp_body_new_copy(content->body, (const SmtpFill *)(void *)fills->data);
}

static void prepare_copy(Content *content, Batch *batch)
{
    CopyRecipient recipient = read_line(batch);
    smtp_body_unref(batch->body);
    g_free(batch->sender);
    charge(batch);
    batch->body = make_copy(content, &recipient);
    discharge(batch);
    batch->sender = recipient.sender_length > 0 ? g_strndup(recipient.sender, recipient.sender_length) : NULL;
}

/* --- for servers that take no 8-bit bytes, or no long lines ---------------- */

/* The message as it was before the pipeline signed it. */
static GBytes *message_without_signatures(const Content *content)
{
    size_t length;
    const guint8 *data = g_bytes_get_data(content->message, &length);
    if (content->sign.octets == 0)
        return g_bytes_ref(content->message);
    g_autoptr(Message) message = message_new(content->message);
    size_t place = dkim_keys_place(message), end = place + MIN(content->sign.octets, length - place);
    GByteArray *octets = g_byte_array_sized_new((guint)length);
    g_byte_array_append(octets, data, (guint)place);
    g_byte_array_append(octets, data + end, (guint)(length - end));
    return g_byte_array_free_to_bytes(octets);
}

/* Bytes that were converted, with signatures of what they are now. */
static SmtpBody *sign_converted(Content *content, GBytes *seven)
{
    if (!content->sign.signing.domain)
        return smtp_body_new(seven);
    content->sign.seal.now = clock_now();
    g_autoptr(GBytes) whole = dkim_keys_sign(content->keys, &content->sign.signing, seven, content->trace);
    return smtp_body_new(whole);
}

/* A message whose lines are short enough, and of bytes below 128 where the server asks for that. */
static GBytes *convert(GBytes *message, bool seven)
{
    g_autoptr(GBytes) short_lines = downgrade_lines(message);
    return seven ? downgrade_to_7bit(short_lines) : g_steal_pointer(&short_lines);
}

/* The body of the batch, converted. All recipients share it where their copies do not differ. */
static SmtpBody *make_converted(const Batch *batch, bool seven)
{
    Content *content = &batch->delivery->content;
    if (content->plan && copy_plan_holes(content->plan) > 0) {
        CopyRecipient recipient = read_line(batch);
        g_autoptr(GArray) fills = copy_fill(content->plan, &recipient);
        g_autoptr(GBytes) copy = whole_copy(content, fills), converted = convert(copy, seven);
        return sign_converted(content, converted);
    }
    SmtpBody **shared = seven ? &content->seven : &content->lines;
    if (!*shared) {
        g_autoptr(GBytes) bare = message_without_signatures(content), converted = convert(bare, seven);
        *shared = converted == bare ? smtp_body_ref(content->body) : sign_converted(content, converted);
    }
    return smtp_body_ref(*shared);
}

static SmtpBody *body_7bit(void *data)
{
    const Batch *batch = data;
    charge(batch);
    SmtpBody *body = make_converted(batch, true);
    discharge(batch);
    return body;
}

void content_describe(Batch *batch, SmtpTransaction *transaction)
{
    Content *content = &batch->delivery->content;
    if (content->plan)
        prepare_copy(content, batch);
    if (content->long_lines) {
        charge(batch);
        SmtpBody *body = make_converted(batch, false);
        discharge(batch);
        smtp_body_unref(batch->body);
        batch->body = body;
    }
    transaction->sender = batch->sender ? batch->sender : content->sender;
    transaction->body = batch->body ? batch->body : content->body;
    transaction->body_7bit = body_7bit;
    transaction->smtputf8 = content->smtputf8;
    transaction->xverp = content->xverp;
}

void content_ask_reports(const Batch *batch, SmtpTransaction *transaction)
{
    if (!*transaction->sender) {
        transaction->notify = SMTP_NOTIFY_NEVER;
        return;
    }
    transaction->notify = SMTP_NOTIFY_FAILURE;
    transaction->ret = SMTP_RET_HDRS;
    transaction->envid = entry_trace(batch->delivery->entry);
    transaction->orcpt = transaction->recipient;
}
