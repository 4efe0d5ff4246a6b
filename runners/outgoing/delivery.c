/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/delivery.h"

#include <glib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/trail/trail.h"
#include "lists/keys.h"
#include "mail/mime/downgrade.h"

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

/* --- the envelope sender and the message --------------------------------- */

/* Between these two libraries read the bytes: should the process die of them, the entry is charged with the crash. A
 * disk that takes no crash count holds up no mail. */
static void charge(const Batch *batch, bool begins)
{
    Entry *entry = batch->delivery->entry;
    g_autoptr(GError) error = NULL;
    if (!(begins ? entry_begin_work(entry, &error) : entry_end_work(entry, &error)))
        log_warn("%s %s", entry_trace(entry), error->message);
}

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
    charge(batch, true);
    if (copy_plan_holes(content->plan) == 0) {
        batch->body = smtp_body_ref(content->body);
        charge(batch, false);
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
    charge(batch, false);
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
    charge(batch, true);
    SmtpBody *body = make_converted(batch, true);
    charge(batch, false);
    return body;
}

static const char *recipient_of(void *data, size_t index, size_t *length)
{
    const Batch *batch = data;
    *length = batch->recipients[index].length;
    return batch->recipients[index].address;
}

void delivery_describe(Batch *batch, bool asks_reports, SmtpTransaction *transaction)
{
    Content *content = &batch->delivery->content;
    if (content->plan)
        make_copy(content, batch);
    if (content->long_lines) {
        charge(batch, true);
        SmtpBody *body = make_converted(batch, false);
        charge(batch, false);
        smtp_body_unref(batch->body);
        batch->body = body;
    }
    *transaction = (SmtpTransaction){
        .count = batch->count,
        .recipient = recipient_of,
        .data = batch,
        .careful = batch->careful,
        .sender = batch->sender ? batch->sender : content->sender,
        .body = batch->body ? batch->body : content->body,
        .body_7bit = body_7bit,
        .smtputf8 = content->smtputf8,
        .xverp = content->xverp,
    };
    if (!asks_reports)
        return;
    /* Servers that know DSN (RFC 3461) are to send back failures alone and without the text, as letters about the entry
     * of this trace and the address that a member gave. The author of the post has no say in it: his mail has reached
     * the list. Mail without a sender is to cause no report. */
    if (!*transaction->sender) {
        transaction->notify = SMTP_NOTIFY_NEVER;
        return;
    }
    transaction->notify = SMTP_NOTIFY_FAILURE;
    transaction->ret = SMTP_RET_HDRS;
    transaction->envid = entry_trace(batch->delivery->entry);
    transaction->orcpt = transaction->recipient;
}

/* --- batches --------------------------------------------------------------- */

Batch *batch_new(struct Delivery *delivery, struct Nexthop *nexthop, size_t room)
{
    Batch *batch = g_new0(Batch, 1);
    batch->delivery = delivery;
    batch->nexthop = nexthop;
    batch->room = room;
    batch->recipients = g_new(Recipient, room);
    batch->link.data = batch;
    return batch;
}

static void forget_fates(Batch *batch)
{
    for (guint i = 0; batch->fates && i < batch->fates->len; i++) {
        Fate *fate = &g_array_index(batch->fates, Fate, i);
        g_free((char *)fate->result.status);
        g_free((char *)fate->result.text);
        g_free((char *)fate->result.reply);
    }
    if (batch->fates)
        g_array_set_size(batch->fates, 0);
    g_clear_pointer(&batch->relay, g_free);
    g_clear_pointer(&batch->host, g_free);
}

void batch_free(Batch *batch)
{
    if (!batch)
        return;
    forget_fates(batch);
    if (batch->fates)
        g_array_unref(batch->fates);
    g_free(batch->fate_of);
    g_free(batch->recipients);
    g_free(batch->sender);
    g_free(batch->avoid);
    smtp_body_unref(batch->body);
    g_free(batch);
}

void batch_begin(Batch *batch)
{
    forget_fates(batch);
    if (!batch->fates) {
        batch->fates = g_array_new(FALSE, FALSE, sizeof(Fate));
        batch->fate_of = g_new(uint32_t, batch->count);
    }
    memset(batch->fate_of, 0xff, batch->count * sizeof(uint32_t));
    batch->unstarted = false;
    batch->behind = false;
    batch->other_host = false;
    batch->connect_us = 0;
    batch->conn_use = 0;
}

void batch_set_fate(Batch *batch, size_t index, const SmtpResult *result)
{
    guint last = batch->fates->len;
    const SmtpResult *before = last > 0 ? &g_array_index(batch->fates, Fate, last - 1).result : NULL;
    if (!before || before->verdict != result->verdict || strcmp(before->status, result->status) != 0 ||
        strcmp(before->text, result->text) != 0) {
        Fate fate = {.result = *result};
        fate.result.status = g_strdup(result->status);
        fate.result.text = g_strdup(result->text);
        fate.result.reply = g_strdup(result->reply);
        g_array_append_val(batch->fates, fate);
        last++;
    }
    g_array_index(batch->fates, Fate, last - 1).count++;
    batch->fate_of[index] = last - 1;
    batch->unstarted |= result->unstarted;
    batch->behind |= result->behind;
}

void batch_set_rest(Batch *batch, const SmtpResult *result)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->fate_of[i] == BATCH_NO_FATE)
            batch_set_fate(batch, i, result);
}

static Batch *another(const Batch *batch, size_t room)
{
    Batch *rest = batch_new(batch->delivery, batch->nexthop, room);
    rest->job = batch->job;
    rest->careful = batch->careful;
    rest->unsettled = batch->unsettled;
    rest->unconnected = batch->unconnected;
    rest->avoid = g_strdup(batch->avoid);
    return rest;
}

Batch *batch_cut(Batch *batch, size_t most)
{
    g_assert(most > 0 && most < batch->count);
    Batch *rest = another(batch, batch->count - most);
    for (size_t i = most; i < batch->count; i++)
        batch_add(rest, &batch->recipients[i]);
    batch->count = batch->room = most;
    return rest;
}

Batch *batch_split(Batch *batch)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < batch->count; i++)
        count += batch_fate(batch, i)->again;
    if (count == 0)
        return NULL;
    Batch *rest = another(batch, count);
    for (size_t i = 0; i < batch->count; i++) {
        if (batch_fate(batch, i)->again) {
            batch_add(rest, &batch->recipients[i]);
            continue;
        }
        batch->recipients[kept] = batch->recipients[i];
        batch->fate_of[kept++] = batch->fate_of[i];
    }
    for (guint i = 0; i < batch->fates->len; i++)
        if (g_array_index(batch->fates, Fate, i).again)
            g_array_index(batch->fates, Fate, i).count = 0;
    batch->count = batch->room = kept;
    return rest;
}

/* --- how long mail waits --------------------------------------------------- */

int64_t backoff_delay(const Backoff *backoff, int64_t age_us, double chance)
{
    int64_t delay = CLAMP(age_us, backoff->min_us, MAX(backoff->min_us, backoff->max_us)), over = 0;
    for (size_t at = 0; at < backoff->count; at++) {
        delay = backoff->steps[at];
        over += delay;
        if (age_us < over)
            break;
    }
    return delay + (int64_t)((double)delay * backoff->jitter / 100 * chance);
}

int64_t backoff_longest(const Backoff *backoff)
{
    int64_t longest = backoff->count > 0 ? 0 : MAX(backoff->min_us, backoff->max_us);
    for (size_t at = 0; at < backoff->count; at++)
        longest = MAX(longest, backoff->steps[at]);
    return longest + (int64_t)((double)longest * backoff->jitter / 100);
}

/* --- the log --------------------------------------------------------------- */

static const char *const statuses[] = {[SMTP_SENT] = "sent", [SMTP_LATER] = "deferred", [SMTP_NEVER] = "bounced"};

static void add_seconds(GString *text, int64_t interval)
{
    double seconds = (double)MAX(interval, 0) / CLOCK_SECOND;
    g_string_append_printf(text, seconds >= 100 ? "%.0f" : seconds >= 10 ? "%.1f" : "%.2f", seconds);
}

/* A line of the log in the making: all but who it is about is the same for all recipients of one fate. */
typedef struct ReportLine {
    const Fate *fate;
    GString *text;
    size_t head; /* bytes before whom */
    char *tail;
} ReportLine;

static void line_begin(ReportLine *line, const Batch *batch, const char *delays, const Fate *fate)
{
    const Entry *entry = batch->delivery->entry;
    char use[24] = "", repeat[24] = "";
    unsigned doubts = batch->delivery->doubts;
    if (batch->conn_use > 1)
        g_snprintf(use, sizeof(use), " conn_use=%u", batch->conn_use);
    if (doubts > 0 && batch->conn_use > 0)
        g_snprintf(repeat, sizeof(repeat), " repeat=%u", doubts);
    line->fate = fate;
    g_string_printf(line->text, "%s list=%s queue=%s ", entry_trace(entry), entry_list(entry),
                    queue_name(entry_queue(entry)));
    line->head = line->text->len;
    g_free(line->tail);
    line->tail = g_strdup_printf(" relay=%s%s%s %s dsn=%s status=%s%s (%s)", batch->relay ? batch->relay : "none", use,
                                 repeat, delays, fate->result.status, statuses[fate->result.verdict],
                                 fate->result.in_doubt ? " doubt=may_have_been_delivered" : "", fate->result.text);
}

static void line_end(ReportLine *line)
{
    g_string_append(line->text, line->tail);
    log_info_text(line->text->str);
    g_string_truncate(line->text, line->head);
}

void report_batch(const Batch *batch, bool every_recipient)
{
    const Delivery *delivery = batch->delivery;
    int64_t now = clock_now(), arrival = entry_arrival(delivery->entry);
    int64_t transmission = batch->finished - batch->begun;
    g_autoptr(GString) text = g_string_new("delay=");
    add_seconds(text, now - arrival);
    g_string_append(text, " delays=");
    add_seconds(text, delivery->claimed - arrival);
    g_string_append_c(text, '/');
    add_seconds(text, now - delivery->claimed - transmission - batch->connect_us);
    g_string_append_c(text, '/');
    add_seconds(text, batch->connect_us);
    g_string_append_c(text, '/');
    add_seconds(text, transmission);
    const char *delays = text->str;
    ReportLine line = {.text = g_string_sized_new(500)};

    /* The trail has all of them, whatever the log has: one line for neighbours that share a fate. */
    for (size_t i = 0; i < batch->count;) {
        const Fate *fate = batch_fate(batch, i);
        const char *before = "to=<";
        line_begin(&line, batch, delays, fate);
        for (; i < batch->count && batch_fate(batch, i) == fate; i++) {
            g_string_append(line.text, before);
            g_string_append_len(line.text, batch->recipients[i].address, (gssize)batch->recipients[i].length);
            before = ">,<";
        }
        g_string_append_printf(line.text, ">%s", line.tail);
        trail_note(line.text->str);
    }
    line.fate = NULL; /* the next line begins anew */

    log_gather(true);
    for (guint i = 0; !every_recipient && i < batch->fates->len; i++) {
        const Fate *fate = &g_array_index(batch->fates, Fate, i);
        if (fate->count <= 1)
            continue;
        line_begin(&line, batch, delays, fate);
        g_string_append_printf(line.text, "nrcpt=%zu", fate->count);
        line_end(&line);
    }
    for (size_t i = 0; i < batch->count; i++) {
        const Fate *fate = batch_fate(batch, i);
        if (!every_recipient && fate->count > 1)
            continue;
        if (fate != line.fate)
            line_begin(&line, batch, delays, fate);
        g_string_append_len(line.text, "to=<", 4);
        g_string_append_len(line.text, batch->recipients[i].address, (gssize)batch->recipients[i].length);
        g_string_append_c(line.text, '>');
        line_end(&line);
    }
    log_gather(false);
    g_string_free(line.text, TRUE);
    g_free(line.tail);
}

void report_deferral(const Delivery *delivery, size_t recipients, const char *reason)
{
    GString *delay = g_string_new(NULL);
    add_seconds(delay, clock_now() - entry_arrival(delivery->entry));
    log_info("%s list=%s queue=%s nrcpt=%zu relay=none delay=%s dsn=4.4.1 status=deferred (%s)",
             entry_trace(delivery->entry), entry_list(delivery->entry), queue_name(entry_queue(delivery->entry)),
             recipients, delay->str, reason);
    g_string_free(delay, TRUE);
}

