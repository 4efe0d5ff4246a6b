/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/delivery.h"

#include <string.h>
#include <sys/socket.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/keys.h"
#include "mail/mime/downgrade.h"

/* Bytes of a recipient line, for estimates as long as none was read. */
#define LINE_ESTIMATE 24

void delivery_address(const Delivery *delivery, Recipient *recipient)
{
    if (delivery->content.plan)
        recipient->length = copy_recipient_read(recipient->address, recipient->length).address_length;
}

bool delivery_next(Delivery *delivery, Recipient *recipient)
{
    while (!delivery->exhausted && entry_next_recipient(delivery->entry, delivery->cursor, recipient)) {
        delivery->cursor = recipient->next;
        if (recipient->state != RECIPIENT_TODO)
            continue;
        delivery_address(delivery, recipient);
        return true;
    }
    delivery->exhausted = true;
    return false;
}

const char *delivery_domain(const Recipient *recipient, size_t *length)
{
    const char *end = recipient->address + recipient->length;
    const char *at = memrchr(recipient->address, '@', recipient->length);
    const char *domain = at ? at + 1 : end;
    *length = (size_t)(end - domain);
    return domain;
}

/* Read the envelope sender and the message. What was read is cleared by the caller, also when this fails. */
static bool read_content(Content *content, Entry *entry, const GPtrArray *keys, GError **error)
{
    json_t *meta = entry_meta(entry);
    const char *copies = meta_string(meta, KEY_COPIES, NULL);
    content->message = entry_message(entry);
    content->sender = meta_string(meta, KEY_ENVELOPE_SENDER, NULL);
    if (!content->sender)
        return fail(error, FAIL_NEVER, "the entry has no envelope sender (metadata \"" KEY_ENVELOPE_SENDER "\")");
    content->smtputf8 = meta_bool(meta, KEY_SMTPUTF8);
    content->xverp = meta_string(meta, KEY_XVERP, NULL);
    content->keys = keys;
    content->trace = entry_trace(entry);
    copy_sign_read(meta, &content->sign);
    size_t length;
    const void *octets = g_bytes_get_data(content->message, &length);
    content->long_lines = bytes_long_line(octets, length);
    if (!copies) {
        content->body = smtp_body_new(content->message);
        return true;
    }
    content->plan = copy_plan_new(copies, length, error);
    if (!content->plan)
        return false;
    /* The body is cut where copies differ. Where each copy is signed the first cut is for the signatures. */
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
    content->body = smtp_body_new_cut(content->message, (const size_t *)(void *)cuts->data, cuts->len);
    return true;
}

static void content_clear(Content *content)
{
    g_clear_pointer(&content->plan, copy_plan_free);
    g_clear_pointer(&content->body, smtp_body_unref);
    g_clear_pointer(&content->seven, smtp_body_unref);
    g_clear_pointer(&content->lines, smtp_body_unref);
    g_clear_pointer(&content->message, g_bytes_unref);
}

Delivery *delivery_new(Entry *entry, unsigned source, const GPtrArray *keys, GError **error)
{
    const json_t *meta = entry_meta(entry);
    Delivery *delivery = g_new0(Delivery, 1);
    if (!read_content(&delivery->content, entry, keys, error)) {
        content_clear(&delivery->content);
        g_free(delivery);
        return NULL;
    }
    delivery->entry = entry;
    delivery->source = source;
    const char *family = meta_string(meta, KEY_FAMILY, "");
    delivery->family = strcmp(family, "ipv4") == 0 ? AF_INET : strcmp(family, "ipv6") == 0 ? AF_INET6 : AF_UNSPEC;
    const char *at = strrchr(delivery->content.sender, '@');
    delivery->sender_domain = at ? at + 1 : "";
    delivery->favoured = meta_string(meta, KEY_PRIORITY, NULL) != NULL;
    delivery->claimed = clock_now();
    delivery->queued = clock_steady() - MAX(delivery->claimed - entry_arrival(entry), 0);
    delivery->held.data = delivery;
    delivery->jobs = g_ptr_array_new_with_free_func(g_free);
    delivery->doubts = (unsigned)CLAMP(meta_integer(meta, KEY_DOUBTS, 0), 0, G_MAXINT);
    return delivery;
}

static void leave_places(Delivery *delivery)
{
    for (guint i = 0; delivery->places && i < delivery->places->len; i++)
        g_array_index(delivery->places, Place, i).destination->load.holders--;
    g_clear_pointer(&delivery->places, g_array_unref);
}

void delivery_wait_for(Delivery *delivery, Destination *destination, int64_t due, bool tried)
{
    if (delivery->scattered)
        return;
    if (!delivery->places)
        delivery->places = g_array_new(FALSE, FALSE, sizeof(Place));
    for (guint i = 0; i < delivery->places->len; i++) {
        Place *place = &g_array_index(delivery->places, Place, i);
        if (place->destination != destination)
            continue;
        place->due = MAX(place->due, due);
        place->tried |= tried;
        return;
    }
    if (delivery->places->len == PLACES_MAX) {
        delivery->scattered = true;
        leave_places(delivery);
        return;
    }
    Place place = {destination, due, tried};
    g_array_append_val(delivery->places, place);
    destination->load.holders++;
}

const Place *delivery_place(const Delivery *delivery, const Destination *destination)
{
    for (guint i = 0; delivery->places && i < delivery->places->len; i++) {
        const Place *place = &g_array_index(delivery->places, Place, i);
        if (place->destination == destination)
            return place;
    }
    return NULL;
}

static void add_offset(GHashTable **set, size_t offset)
{
    if (!*set)
        *set = g_hash_table_new(NULL, NULL);
    g_hash_table_add(*set, GSIZE_TO_POINTER(offset));
}

void delivery_lost(Delivery *delivery, size_t offset, bool in_doubt)
{
    add_offset(&delivery->lost, offset);
    if (in_doubt)
        add_offset(&delivery->doubtful, offset);
}

void delivery_spare(Delivery *delivery, size_t offset)
{
    add_offset(&delivery->spared, offset);
}

bool delivery_spared(const Delivery *delivery, size_t offset)
{
    return delivery->spared && g_hash_table_contains(delivery->spared, GSIZE_TO_POINTER(offset));
}

bool delivery_blameless(const Delivery *delivery, size_t offset)
{
    return delivery->doubts > 0 ||
           (delivery->lost && g_hash_table_contains(delivery->lost, GSIZE_TO_POINTER(offset)));
}

void delivery_free(Delivery *delivery)
{
    if (!delivery)
        return;
    leave_places(delivery);
    g_clear_pointer(&delivery->lost, g_hash_table_unref);
    g_clear_pointer(&delivery->spared, g_hash_table_unref);
    g_clear_pointer(&delivery->doubtful, g_hash_table_unref);
    g_clear_pointer(&delivery->parts, g_array_unref);
    g_ptr_array_unref(delivery->jobs);
    content_clear(&delivery->content);
    entry_free(delivery->entry);
    g_free(delivery->last_reply);
    g_free(delivery->halted_status);
    g_free(delivery->halted_text);
    g_free(delivery->halted_reply);
    g_free(delivery);
}

bool delivery_over(const Delivery *delivery)
{
    return (delivery->exhausted || delivery->withdrawn) && delivery->batches == 0;
}

size_t delivery_unread(const Delivery *delivery)
{
    if (delivery->exhausted || delivery->withdrawn)
        return 0;
    size_t line = delivery->read > 0 ? MAX(delivery->cursor / delivery->read, 5) : LINE_ESTIMATE;
    return (entry_recipients_length(delivery->entry) - delivery->cursor) / line + 1;
}

/* ---- the envelope sender and the message ---- */

/* ---- work on what a stranger wrote ---- */

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

/* ---- a copy for one ---- */

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
static void make_copy(Content *content, Batch *batch)
{
    CopyRecipient recipient = read_line(batch);
    smtp_body_unref(batch->body);
    g_free(batch->sender);
    batch->sender = recipient.sender_length > 0 ? g_strndup(recipient.sender, recipient.sender_length) : NULL;
    charge(batch);
    if (copy_plan_holes(content->plan) == 0) {
        batch->body = smtp_body_ref(content->body);
        discharge(batch);
        return;
    }
    g_autoptr(GArray) values = copy_fill(content->plan, &recipient);
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
    batch->body = smtp_body_new_copy(content->body, (const SmtpFill *)(void *)fills->data);
    discharge(batch);
}

/* ---- for servers that take no 8-bit bytes, or no long lines ---- */

/* Bytes that were converted, with signatures of what they are now. */
static SmtpBody *sign_converted(Content *content, GBytes *seven)
{
    if (!content->sign.signing.domain)
        return smtp_body_new(seven);
    content->sign.seal.now = clock_now();
    g_autoptr(GBytes) whole = dkim_keys_sign(content->keys, &content->sign.signing, seven, content->trace);
    return smtp_body_new(whole);
}

static GBytes *convert(GBytes *message, bool seven)
{
    g_autoptr(GBytes) short_lines = downgrade_lines(message);
    return seven ? downgrade_to_7bit(short_lines) : g_steal_pointer(&short_lines);
}

/* The body of the batch with lines that are short enough, and of bytes below 128 where the server asks for that. All
 * recipients share it where their copies do not differ. */
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
    if (*shared)
        return smtp_body_ref(*shared);
    g_autoptr(GBytes) bare = g_bytes_ref(content->message);
    if (content->sign.octets > 0) { /* the message as it was before the pipeline signed it */
        size_t length;
        const guint8 *data = g_bytes_get_data(content->message, &length);
        g_autoptr(Message) message = message_new(content->message);
        size_t place = dkim_keys_place(message), end = place + MIN(content->sign.octets, length - place);
        GByteArray *octets = g_byte_array_sized_new((guint)length);
        g_byte_array_append(octets, data, (guint)place);
        g_byte_array_append(octets, data + end, (guint)(length - end));
        g_bytes_unref(bare);
        bare = g_byte_array_free_to_bytes(octets);
    }
    g_autoptr(GBytes) converted = convert(bare, seven);
    *shared = converted == bare ? smtp_body_ref(content->body) : sign_converted(content, converted);
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

void delivery_describe(Batch *batch, SmtpTransaction *transaction)
{
    Content *content = &batch->delivery->content;
    if (content->plan)
        make_copy(content, batch);
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

void delivery_ask_reports(const Batch *batch, SmtpTransaction *transaction)
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
