/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/finish.h"

#include <inttypes.h>
#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/keys.h"
#include "lists/site/canary.h"
#include "mail/bounce/dsn.h"
#include "mail/loop_mark.h"
#include "mail/text/notice.h"
#include "runners/outgoing/delivery.h"
#include "runners/outgoing/judge.h"
#include "runners/outgoing/reader.h"
#include "runners/outgoing/transport.h"
#include "switchboard/fault.h"
#include "switchboard/intake.h"
#include "switchboard/meta.h"

/* Whether an offset is in a set of them (delivery.h). */
static bool is_in(GHashTable *set, size_t offset)
{
    return set && g_hash_table_contains(set, GSIZE_TO_POINTER(offset));
}

/* The recipient failed only because the connection was lost: in this attempt, or in one before (doubts). */
static bool is_blameless(const Delivery *delivery, size_t offset)
{
    return delivery->doubts > 0 || is_in(delivery->lost, offset);
}

/* --- bounces --------------------------------------------------------------- */

/* Well below META_MAX, JSON escapes included. */
#define BOUNCE_OCTETS_MAX (META_MAX / 8)
#define BOUNCE_RECIPIENTS_MAX 1000
#define REPLY_MAX 500

/*
 * Recipients that were refused for good are reported to the runner bounces: entries for its queue hold the failures in
 * metadata (KEY_FAILURES, lists/keys.h) and the header of the message. The name of such an entry follows from the
 * delivered entry and the recipients, so that storing it again after a crash is noticed (intake.h, `once`). A
 * BounceMaker is made for a delivery, gets each refused recipient, and is ended. Both adding and ending may return a
 * draft.
 */

/* Gather failures of one delivery, and make a draft whenever they are as many as the metadata of one entry may hold. */
typedef struct BounceMaker {
    Delivery *delivery;
    json_t *failures, *lost;
    char *lost_reply;   /* of the first of those */
    size_t octets;      /* an estimate of the size of failures, in bytes */
    GChecksum *names;   /* over the entry's name and the recipients' addresses, for the name of the draft */
    GArray *offsets;    /* of size_t: the recipients gathered so far, by their places in the entry */
} BounceMaker;

/* One draft, and the recipients whose failures it reports. */
typedef struct BounceDraft {
    Delivery *delivery; /* borrowed */
    Draft *draft;
    GArray *offsets; /* of size_t: the places of these recipients in the entry */
} BounceDraft;

typedef struct Failure {
    const char *status;
    const char *reply;
    const char *relay; /* the server that said so; NULL: none did */
    const char *phase; /* what the reply was to (fate_phase()) */
    bool unasked;      /* it was given up because of us, or of our relay */
} Failure;

static void copy_key(json_t *to, json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);
    if (value)
        json_object_set(to, key, value);
}

static bool was_reached(const Delivery *delivery)
{
    Recipient recipient;
    bool before = delivery->doubts > 0 || meta_bool(entry_meta(delivery->entry), KEY_REACHED);
    if (before || delivery->sent > 0 || delivery->lost)
        return true;
    for (size_t offset = 0; entry_next_recipient(delivery->entry, offset, &recipient); offset = recipient.next)
        if (recipient.state == RECIPIENT_DONE)
            return true;
    return false;
}

static bool is_of_post(const Delivery *delivery)
{
    const json_t *meta = entry_meta(delivery->entry);
    return *entry_list(delivery->entry) && meta_integer(meta, KEY_POST_ID, 0) > 0 &&
           meta_integer(meta, KEY_BLOCK, -1) >= 0;
}

/* It is a post of a list, and certainly none of its recipients in this entry, and in those that this one comes from,
 * has got it. */
static bool bounce_is_unreached(const Delivery *delivery)
{
    return is_of_post(delivery) && !was_reached(delivery);
}

/* Note in the metadata of an entry made from the delivery's how many recipients it was for, or that some of them may
 * have been reached. */
static void bounce_keep_block(const Delivery *delivery, json_t *meta)
{
    if (!is_of_post(delivery) || meta_bool(meta, KEY_REACHED))
        return;
    if (was_reached(delivery)) {
        meta_set_bool(meta, KEY_REACHED, true);
        json_object_del(meta, KEY_BLOCK_OF);
        json_object_del(meta, KEY_BLOCK_SIZE);
        return;
    }
    if (meta_string(meta, KEY_BLOCK_OF, NULL))
        return;
    char of[HASH_DIGITS + 1];
    json_int_t count = 0;
    Recipient recipient;
    for (size_t offset = 0; entry_next_recipient(delivery->entry, offset, &recipient); offset = recipient.next)
        count++;
    name_hash_format(entry_name(delivery->entry)->hash, of);
    meta_set_string(meta, KEY_BLOCK_OF, of);
    meta_set_integer(meta, KEY_BLOCK_SIZE, count);
}

static void begin_gathering(BounceMaker *maker)
{
    maker->failures = json_array();
    maker->lost = json_array();
    maker->octets = 0;
    maker->offsets = g_array_new(FALSE, FALSE, sizeof(size_t));
    maker->names = g_checksum_new(G_CHECKSUM_SHA1);
    g_checksum_update(maker->names, entry_name(maker->delivery->entry)->hash, HASH_SIZE);
}

static BounceMaker *bounce_maker_new(Delivery *delivery)
{
    BounceMaker *maker = g_new0(BounceMaker, 1);
    maker->delivery = delivery;
    begin_gathering(maker);
    return maker;
}

/* Make the entry of the failures so far. Its name is the same if this is done again: the due time and the ordinal are
 * part of it. */
static BounceDraft *cut_draft(BounceMaker *maker)
{
    static const char *const kept[] = {META_LIST,   META_ARRIVAL,        KEY_MESSAGE_ID,
                                       KEY_POST_ID, KEY_ENVELOPE_SENDER, KEY_PRIORITY};
    static const char *const kept_of_block[] = {KEY_BLOCK,    KEY_BLOCK_MOST, KEY_BLOCKS,
                                                KEY_BLOCK_OF, KEY_BLOCK_SIZE, KEY_SENDER};
    Entry *entry = maker->delivery->entry;
    json_t *meta = json_object();
    json_t *from = entry_meta(entry);
    char of[HASH_DIGITS + 1];
    name_hash_format(entry_name(entry)->hash, of);
    for (size_t at = 0; at < G_N_ELEMENTS(kept); at++)
        copy_key(meta, from, kept[at]);
    meta_set_string(meta, META_TRACE, entry_trace(entry));
    uint8_t digest[HASH_SIZE];
    gsize digest_size = sizeof(digest);
    g_checksum_get_digest(maker->names, digest, &digest_size);
    int64_t ordinal = 0;
    for (int i = 0; i < 6; i++) /* 48 bits are exact in every JSON reader */
        ordinal = ordinal << 8 | digest[i];
    meta_set_integer(meta, META_ORDINAL, ordinal);
    meta_set_string(meta, KEY_TO, TO_BOUNCES);
    meta_set_string(meta, KEY_OF, of);
    meta_set_integer(meta, KEY_WRITING, (int64_t)g_random_int() << 16 | (g_random_int() & 0xffff));
    if (json_array_size(maker->failures) > 0)
        json_object_set(meta, KEY_FAILURES, maker->failures);
    if (json_array_size(maker->lost) > 0) {
        json_object_set(meta, KEY_LOST, maker->lost);
        meta_set_string(meta, KEY_LOST_REPLY, maker->lost_reply);
    }
    if (bounce_is_unreached(maker->delivery)) {
        for (size_t at = 0; at < G_N_ELEMENTS(kept_of_block); at++)
            copy_key(meta, from, kept_of_block[at]);
        bounce_keep_block(maker->delivery, meta);
    }
    g_clear_pointer(&maker->failures, json_decref);
    g_clear_pointer(&maker->lost, json_decref);
    g_clear_pointer(&maker->names, g_checksum_free);

    /* Of the message goes its header, up to and with the empty line. */
    g_autoptr(GBytes) message = entry_message(entry);
    size_t length;
    const char *octets = g_bytes_get_data(message, &length);
    const char *end = length > 0 ? memmem(octets, length, "\r\n\r\n", 4) : NULL;
    g_autoptr(GBytes) header = g_bytes_new_from_bytes(message, 0, end ? (size_t)(end - octets) + 4 : length);
    BounceDraft *bounce = g_new0(BounceDraft, 1);
    bounce->delivery = maker->delivery;
    bounce->draft = draft_new(BOUNCES_QUEUE, meta);
    bounce->offsets = g_steal_pointer(&maker->offsets);
    draft_add_message(bounce->draft, header);
    draft_set_due(bounce->draft, entry_arrival(entry));
    return bounce;
}

/* Add a recipient. Returns the draft of all gathered recipients, this one included, when it is full; it is the
 * caller's. NULL: there is room for more. */
static BounceDraft *bounce_maker_add(BounceMaker *maker, const Recipient *recipient, const Failure *failure)
{
    g_autofree char *address = g_strndup(recipient->address, recipient->length);
    g_autofree char *reply = g_utf8_make_valid(failure->reply, MIN((gssize)strlen(failure->reply), REPLY_MAX));
    if (failure->unasked) {
        json_array_append_new(maker->lost, json_string(address));
        if (!maker->lost_reply)
            maker->lost_reply = g_strdup(reply);
    } else {
        json_t *object = json_object();
        meta_set_string(object, "address", address);
        meta_set_string(object, "status", failure->status);
        meta_set_string(object, "reply", reply);
        if (failure->relay)
            meta_set_string(object, "relay", failure->relay);
        meta_set_string(object, "phase", failure->phase);
        json_array_append_new(maker->failures, object);
    }
    g_checksum_update(maker->names, (const guchar *)address, (gssize)recipient->length + 1);
    g_array_append_val(maker->offsets, recipient->offset);
    maker->octets += recipient->length + strlen(reply) + 100;
    if (maker->octets < BOUNCE_OCTETS_MAX && maker->offsets->len < BOUNCE_RECIPIENTS_MAX)
        return NULL;
    BounceDraft *full = cut_draft(maker);
    begin_gathering(maker);
    return full;
}

/* Free the maker, and return the draft of the recipients that are left; it is the caller's. NULL: none are left. */
static BounceDraft *bounce_maker_end(BounceMaker *maker)
{
    BounceDraft *last = maker->offsets && maker->offsets->len > 0 ? cut_draft(maker) : NULL;
    json_decref(maker->failures);
    json_decref(maker->lost);
    g_free(maker->lost_reply);
    if (maker->offsets)
        g_array_unref(maker->offsets);
    g_clear_pointer(&maker->names, g_checksum_free);
    g_free(maker);
    return last;
}

static void bounce_draft_free(BounceDraft *bounce)
{
    if (!bounce)
        return;
    draft_free(bounce->draft);
    g_array_unref(bounce->offsets);
    g_free(bounce);
}

/* --- marks ----------------------------------------------------------------- */

static bool mark(Marks *marks, Delivery *delivery, const GArray *offsets, char state, GError **error)
{
    if (offsets->len == 0)
        return true;
    if (!delivery->dirty)
        g_ptr_array_add(marks->dirty, delivery);
    delivery->dirty = true;
    return entry_mark(delivery->entry, (const size_t *)offsets->data, offsets->len, state, error);
}

static void add_bounce(Marks *marks, BounceDraft *bounce)
{
    if (bounce)
        g_ptr_array_add(marks->bounces, bounce);
}

static void add_offset(GHashTable **set, size_t offset)
{
    if (!*set)
        *set = g_hash_table_new(NULL, NULL);
    g_hash_table_add(*set, GSIZE_TO_POINTER(offset));
}

void marks_lost(Delivery *delivery, size_t offset, bool in_doubt)
{
    add_offset(&delivery->lost, offset);
    if (in_doubt)
        add_offset(&delivery->doubtful, offset);
}

bool marks_batch(Marks *marks, const Batch *batch, GError **error)
{
    Delivery *delivery = batch->delivery;
    const Destination *destination = batch->nexthop->destination;
    g_autoptr(GArray) sent = g_array_new(FALSE, FALSE, sizeof(size_t));
    BounceMaker *maker = bounce_maker_new(delivery);
    for (size_t i = 0; i < batch->count; i++) {
        const Recipient *recipient = &batch->recipients[i];
        const Fate *fate = batch_fate(batch, i);
        if (fate->result.verdict == SMTP_SENT) {
            g_array_append_val(sent, recipient->offset);
        } else if (fate->result.verdict == SMTP_NEVER) {
            /* LMTP answers to the end of data for each recipient. */
            const char *phase = fate->result.phase == SMTP_DOT && destination->lmtp ? "rcpt" : fate_phase(fate);
            add_bounce(marks, bounce_maker_add(
                                  maker, recipient,
                                  &(Failure){fate->result.status, fate->result.reply, batch->relay, phase, false}));
        } else {
            bool broke_off = fate->result.connection && fate->result.code == 0 && fate->result.phase >= SMTP_MAIL;
            delivery->deferred++;
            if (destination->own && refusal_is_ours(fate))
                add_offset(&delivery->spared, recipient->offset);
            if (broke_off)
                marks_lost(delivery, recipient->offset, fate->result.in_doubt);
        }
    }
    delivery->sent += sent->len;
    add_bounce(marks, bounce_maker_end(maker));
    return mark(marks, delivery, sent, RECIPIENT_DONE, error);
}

bool marks_store_bounces(Marks *marks, Spool *spool, GError **error)
{
    size_t count = marks->bounces->len;
    if (count == 0)
        return true;
    g_autofree Intake *group = g_new0(Intake, count);
    for (size_t i = 0; i < count; i++)
        group[i].draft = ((BounceDraft *)marks->bounces->pdata[i])->draft;
    intake_store(spool, group, count, true);
    bool sound = true;
    for (size_t i = 0; i < count; i++) {
        const BounceDraft *bounce = marks->bounces->pdata[i];
        g_autoptr(GError) fault = group[i].error;
        if (fault) {
            log_error("%s list=%s queue=" BOUNCES_QUEUE
                      " %u refusals cannot be stored, delivery will be tried again: %s",
                      entry_trace(bounce->delivery->entry), entry_list(bounce->delivery->entry), bounce->offsets->len,
                      fault->message);
            bounce->delivery->deferred += bounce->offsets->len;
            continue;
        }
        bounce->delivery->refused += bounce->offsets->len;
        sound = sound && mark(marks, bounce->delivery, bounce->offsets, RECIPIENT_BOUNCED, error);
    }
    g_ptr_array_set_size(marks->bounces, 0);
    return sound;
}

/* Take a delivery out of the next sync, before it is freed. */
static void marks_forget(Marks *marks, Delivery *delivery)
{
    if (delivery->dirty)
        g_ptr_array_remove_fast(marks->dirty, delivery);
    delivery->dirty = false;
}

static void add_to_group(Marks *marks, int fd, bool directory)
{
    FsSync member = {.fd = fd, .directory = directory};
    g_array_append_val(marks->group, member);
}

void marks_sync_begin(Marks *marks)
{
    g_array_set_size(marks->group, 0);
    for (guint i = 0; i < marks->dirty->len; i++) {
        Delivery *delivery = marks->dirty->pdata[i];
        delivery->dirty = false;
        add_to_group(marks, entry_fd(delivery->entry), false);
    }
    for (guint i = 0; i < marks->directories->len; i++)
        add_to_group(marks, queue_fd(marks->directories->pdata[i]), true);
    g_ptr_array_set_size(marks->dirty, 0);
    g_ptr_array_set_size(marks->directories, 0);
    if (marks->group->len > 0)
        marks->syncing = fs_sync_begin((FsSync *)(void *)marks->group->data, marks->group->len);
}

bool marks_sync_end(Marks *marks, GError **error)
{
    FsSyncing *syncing = g_steal_pointer(&marks->syncing);
    return !syncing || fs_sync_end(syncing, &marks->took, error);
}

bool marks_sync(Marks *marks, GError **error)
{
    marks_sync_begin(marks);
    return marks_sync_end(marks, error);
}

/* --- letters to the owners ------------------------------------------------- */

/* Recipients that are named; the others are counted. */
#define NAMED_MAX 100

/* A report, for whom it is. */
typedef struct WarningReport {
    const Warning *warning;
    const Delivery *delivery;
    bool given_up; /* only those whose transactions broke off; else all who are left */
    int64_t now;
} WarningReport;

/* It is the post of a list, by somebody. */
static bool has_poster(const Delivery *delivery)
{
    return *entry_list(delivery->entry) && *delivery->content.sender &&
           *meta_string(entry_meta(delivery->entry), KEY_SENDER, "");
}

bool warning_due(const Warning *warning, const Delivery *delivery, int64_t now)
{
    return warning->after_us > 0 && now - entry_arrival(delivery->entry) >= warning->after_us &&
           !meta_bool(entry_meta(delivery->entry), KEY_WARNED) && has_poster(delivery);
}

static char *delivery_status(const WarningReport *report, const GPtrArray *addresses)
{
    const Delivery *delivery = report->delivery;
    g_autofree DsnRecipient *recipients = g_new0(DsnRecipient, addresses->len + 1);
    for (guint at = 0; at < addresses->len; at++)
        recipients[at] = (DsnRecipient){.address = addresses->pdata[at],
                                        .delayed = !report->given_up,
                                        .status = "4.4.7",
                                        .reply = delivery->last_reply};
    int64_t arrival = entry_arrival(delivery->entry);
    return dsn_delivery_status(&(Dsn){.reporting_host = report->warning->host,
                                      .arrival = arrival,
                                      .last_attempt = report->now,
                                      .retry_until = arrival + report->warning->lifetime_us,
                                      .recipients = recipients,
                                      .count = addresses->len});
}

/* In the largest unit of which there are two. */
static char *span(int64_t time)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
    size_t unit = 0;
    while (unit + 1 < G_N_ELEMENTS(units) && time < 2 * units[unit].seconds * CLOCK_SECOND)
        unit++;
    int64_t count = MAX(time, 0) / (units[unit].seconds * CLOCK_SECOND);
    return g_strdup_printf("%" PRId64 " %s%s", count, units[unit].name, count == 1 ? "" : "s");
}

/* addresses: those that are named, of all the count who are concerned. */
static char *text_for_people(const WarningReport *report, const GPtrArray *addresses, size_t count)
{
    const Delivery *delivery = report->delivery;
    const char *list = entry_list(delivery->entry);
    g_autofree char *waited = span(report->now - entry_arrival(delivery->entry));
    g_autofree char *lifetime = span(report->warning->lifetime_us);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text,
                           "Subject: %s: mail of list %s\n\n"
                           "A message of the list %s could not be delivered to %zu of its recipients\n"
                           "for %s. ",
                           report->given_up ? "Not delivered" : "Delayed", list, list, count, waited);
    if (report->given_up)
        g_string_append(text,
                        "It is not tried again. The connection was lost each time before the\n"
                        "server acknowledged the message, so some may have got it. This is not counted\n"
                        "against the members. The log names the server; the message itself may be\n"
                        "what it cannot take.\n");
    else
        g_string_append_printf(text,
                               "It is tried until it is %s old; nothing needs to be\n"
                               "done about the message.\n",
                               lifetime);
    g_string_append_printf(text, "\nThe last answer was:\n  %s\n\nRecipients:\n",
                           delivery->last_reply ? delivery->last_reply : "none");
    for (guint at = 0; at < addresses->len; at++)
        g_string_append_printf(text, "  %s\n", (const char *)addresses->pdata[at]);
    if (count > addresses->len)
        g_string_append_printf(text, "  and %zu more\n", count - addresses->len);
    return g_string_free(text, FALSE);
}

Draft *warning_draft(const Warning *warning, const Delivery *delivery, bool given_up, GHashTable *held, int64_t now)
{
    WarningReport report = {warning, delivery, given_up, now};
    size_t count = 0; /* all whom it concerns; as many as are named stand in addresses */
    g_autoptr(GPtrArray) addresses = g_ptr_array_new_with_free_func(g_free);
    Recipient recipient;
    for (size_t offset = 0; entry_next_recipient(delivery->entry, offset, &recipient); offset = recipient.next) {
        if (recipient.state != RECIPIENT_TODO || is_in(held, recipient.offset) ||
            (given_up && !is_blameless(delivery, recipient.offset)) || ++count > NAMED_MAX)
            continue;
        delivery_address(delivery, &recipient);
        g_ptr_array_add(addresses, g_strndup(recipient.address, recipient.length));
    }
    if (given_up && (count == 0 || !has_poster(delivery)))
        return NULL;
    const char *list = entry_list(delivery->entry), *at = strrchr(delivery->content.sender, '@');
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, list);
    meta_set_string(meta, META_TRACE, entry_trace(delivery->entry));
    meta_set_integer(meta, META_ARRIVAL, now);
    meta_set_string(meta, KEY_TO, TO_OWNER);
    meta_set_string(meta, KEY_SENDER, "");
    Draft *draft = draft_new("in", meta);

    /* "test.example.com" with the sender test-bounces@example.com: test-owner@example.com. */
    const char *host = at ? at + 1 : "";
    size_t name = strlen(list) > strlen(host) ? strlen(list) - strlen(host) - 1 : strlen(list);
    g_autofree char *owner = g_strdup_printf("%.*s-owner@%s", (int)name, list, host);
    g_autofree char *status = delivery_status(&report, addresses);
    g_autofree char *text = text_for_people(&report, addresses, count);
    g_autofree char *id = notice_id(given_up ? "failed" : "delayed", warning->host);
    meta_set_string(draft_meta(draft), KEY_RECIPIENT, owner);
    meta_set_string(draft_meta(draft), KEY_MESSAGE_ID, id);
    g_autoptr(GPtrArray) pieces = notice_compose(&(Notice){.from_name = "Mail delivery",
                                                           .from = owner,
                                                           .to = owner,
                                                           .text = text,
                                                           .id = id,
                                                           .date = now,
                                                           .attach = NOTICE_HEADER,
                                                           .about = delivery->content.message,
                                                           .delivery_status = status});
    /* The warning has been where the message has been that it is about. */
    g_autoptr(Message) message = message_new(delivery->content.message);
    size_t index = 0;
    const Field *field = message_find(message, LOOP_MARK_FIELD, &index);
    g_autoptr(GBytes) mark = field ? g_bytes_new(field->text, field->length) : NULL;
    if (mark)
        draft_add_message(draft, mark);
    for (guint i = 0; i < pieces->len; i++)
        draft_add_message(draft, pieces->pdata[i]);
    return draft;
}

/* Bounces entries stored at a time when a whole entry expires. */
#define EXPIRE_GROUP 16
/* Before an entry that cannot be shunted is tried again. */
#define SHUNT_DELAY (60 * CLOCK_SECOND)

/* --- recipients who are left over, by what they wait for ------------------- */

typedef struct RetryPart {
    const Backoff *law;  /* the back-off of their transport; NULL: they wait for place */
    const Place *place;  /* the destination that they wait for, and until when; NULL: none */
    bool doubt;          /* nobody knows whether they got it */
} RetryPart;

/* Return what was noted for the destination (delivery_wait_for()); NULL when nothing was. */
static const Place *place_of(const Delivery *delivery, const Destination *destination)
{
    for (guint i = 0; delivery->places && i < delivery->places->len; i++) {
        const Place *place = &g_array_index(delivery->places, Place, i);
        if (place->destination == destination)
            return place;
    }
    return NULL;
}

/* Set *destination to where the mail of a recipient goes; NULL: that is not known. Return its transport; NULL: it has
 * none. */
static const Transport *route(const RetryLaws *laws, const Delivery *delivery, Recipient recipient,
                              const Destination **destination)
{
    size_t length;
    delivery_address(delivery, &recipient);
    const char *domain = delivery_domain(&recipient, &length);
    const Transport *transport = routes_look(laws->routes, domain, length);
    if (!transport)
        transport = delivery->chosen;
    *destination = transport ? transport_place(transport, domain, length, delivery->sender_domain)
                             : NULL;
    return transport;
}

static RetryPart part_of(const RetryLaws *laws, const Delivery *delivery, Recipient recipient)
{
    bool doubt = is_in(delivery->doubtful, recipient.offset);
    const Destination *destination;
    const Transport *transport = route(laws, delivery, recipient, &destination);
    const Place *place = destination ? place_of(delivery, destination) : NULL;
    if (place && !doubt)
        return (RetryPart){.place = place};
    const Backoff *law = transport && laws->varied ? transport->backoff : laws->standard;
    return (RetryPart){.law = law, .doubt = doubt};
}

static bool same_part(const RetryPart *one, const RetryPart *other)
{
    return one->law == other->law && one->place == other->place && one->doubt == other->doubt;
}

/* The parts (of RetryPart, whose pointers are borrowed; g_array_unref); there is at least one. */
static GArray *parts_of(const RetryLaws *laws, const Delivery *delivery)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(RetryPart));
    bool differ = laws->varied || delivery->places || delivery->doubtful;
    Recipient recipient;
    for (size_t offset = 0; differ && entry_next_recipient(delivery->entry, offset, &recipient);
         offset = recipient.next) {
        if (recipient.state != RECIPIENT_TODO)
            continue;
        RetryPart part = part_of(laws, delivery, recipient);
        guint at = 0;
        while (at < all->len && !same_part(&g_array_index(all, RetryPart, at), &part))
            at++;
        if (at == all->len)
            g_array_append_val(all, part);
    }
    RetryPart standard = {.law = laws->standard};
    if (all->len == 0)
        g_array_append_val(all, standard);
    return all;
}

/* When the recipients of a part are tried again. Mails that this host sends to itself are not tried for long. */
static int64_t due_of(const Finish *finish, const RetryPart *part, const Delivery *delivery)
{
    int64_t now = clock_now(), arrival = entry_arrival(delivery->entry);
    int64_t due = part->place ? MAX(part->place->due, now)
                              : now + backoff_delay(part->law, now - arrival, g_random_double());
    due = MIN(due, now + finish->longest_us);
    return canary_is_list(entry_list(delivery->entry)) ? MIN(due, arrival + finish->canary_us) : due;
}

/* Walks the recipients of one part. */
typedef struct RetryWalk {
    const RetryLaws *laws;
    RetryPart wanted;
    const Delivery *delivery;
    size_t offset;
    GString *line;
} RetryWalk;

static const char *next_line(void *data, GError **error)
{
    (void)error;
    RetryWalk *walk = data;
    Recipient recipient;
    while (entry_next_recipient(walk->delivery->entry, walk->offset, &recipient)) {
        walk->offset = recipient.next;
        if (recipient.state != RECIPIENT_TODO)
            continue;
        RetryPart part = part_of(walk->laws, walk->delivery, recipient);
        if (!same_part(&part, &walk->wanted))
            continue;
        g_string_truncate(walk->line, 0);
        g_string_append_len(walk->line, recipient.address, (gssize)recipient.length);
        return walk->line->str;
    }
    return NULL;
}

static void walk_free(gpointer data)
{
    RetryWalk *walk = data;
    g_string_free(walk->line, TRUE);
    g_free(walk);
}

void finish_init(Finish *finish)
{
    Marks *marks = &finish->marks;
    marks->dirty = g_ptr_array_new();
    marks->bounces = g_ptr_array_new_with_free_func((GDestroyNotify)bounce_draft_free);
    marks->directories = g_ptr_array_new();
    marks->group = g_array_new(FALSE, FALSE, sizeof(FsSync));
    for (int i = 0; i < SOURCES; i++) {
        finish->outcomes[i] = g_ptr_array_new();
        finish->deliveries[i] = g_ptr_array_new();
    }
}

void finish_clear(Finish *finish)
{
    g_ptr_array_unref(finish->marks.dirty);
    g_ptr_array_unref(finish->marks.bounces);
    g_ptr_array_unref(finish->marks.directories);
    g_array_unref(finish->marks.group);
    for (int i = 0; i < SOURCES; i++) {
        g_ptr_array_unref(finish->outcomes[i]);
        g_ptr_array_unref(finish->deliveries[i]);
    }
    g_free(finish->steps);
}

/* --- what becomes of an entry ---------------------------------------------- */

/* When the system, and no server, is why it waits. */
static int64_t next_due(const Finish *finish, const Delivery *delivery)
{
    return due_of(finish, &(RetryPart){.law = &finish->backoff}, delivery);
}

/* Write the last line of an attempt: the numbers of recipients sent, bounced and deferred, its result, and as `to` the
 * queue that the entry went to, "-" when it ended. */
static void report_end(const Delivery *delivery, const char *to, const char *result)
{
    log_info("%s list=%s queue=%s to=%s sent=%zu bounced=%zu deferred=%zu result=%s", entry_trace(delivery->entry),
             entry_list(delivery->entry), queue_name(entry_queue(delivery->entry)), to, delivery->sent,
             delivery->refused, delivery->deferred,
             result);
}

/* The entry waits again in its own queue. Its directory needs no sync: a power cut that undoes this leaves the entry
 * claimed, with its marks, and it is put back once more (R4). */
static bool wait_again(Finish *finish, Delivery *delivery, int64_t due, GError **error)
{
    bool dirty = delivery->dirty;
    marks_forget(&finish->marks, delivery);
    if (dirty && !entry_sync_marks(delivery->entry, error))
        return false;
    Inbox *inbox = finish->inboxes[delivery->source];
    Entry *entry = g_steal_pointer(&delivery->entry);
    delivery_free(delivery);
    return inbox_release(inbox, entry, due, error);
}

bool finish_put_back(Finish *finish, Delivery *delivery, GError **error)
{
    return wait_again(finish, delivery, 0, error);
}

/* The outcome is borrowed: what the entry becomes may be added. */
static Outcome *end(Finish *finish, Delivery *delivery)
{
    marks_forget(&finish->marks, delivery);
    Outcome *outcome = outcome_new(delivery->entry);
    g_ptr_array_add(finish->outcomes[delivery->source], outcome);
    g_ptr_array_add(finish->deliveries[delivery->source], delivery);
    return outcome;
}

/* The destination calls the entry back when there is room, unless it was refused there. */
static void note_parked(const Place *place, unsigned source, const EntryName *name, int64_t arrival)
{
    Parked parked = {.source = source, .due = name->due, .arrival = arrival};
    if (place->tried)
        return;
    memcpy(parked.hash, name->hash, sizeof parked.hash);
    parked_add(&place->destination->load.parked, &parked, clock_now());
}

/* Some are left over, and not for too long. Each group of recipients that wait for one thing becomes an entry, or all
 * wait again in this one. letter: goes out with the rest; consumed; or NULL. */
static bool defer(Finish *finish, Delivery *delivery, Draft *letter, GError **error)
{
    g_autoptr(GArray) parts = parts_of(&finish->laws, delivery);
    const RetryPart *first = &g_array_index(parts, RetryPart, 0);
    bool warned = warning_due(&finish->warning, delivery, clock_now());
    bool untried = first->place && delivery->deferred == 0;
    if (!warned && !letter && parts->len == 1 && !first->doubt && (delivery->source == SOURCE_RETRY || untried)) {
        int64_t due = due_of(finish, first, delivery);
        EntryName name = *entry_name(delivery->entry);
        name.due = due;
        if (first->place)
            note_parked(first->place, delivery->source, &name, entry_arrival(delivery->entry));
        if (!untried)
            report_end(delivery, RETRY_QUEUE, "deferred");
        return wait_again(finish, delivery, due, error);
    }
    Outcome *outcome = end(finish, delivery);
    delivery->parts = g_array_ref(parts);
    for (guint i = 0; i < parts->len; i++) {
        const RetryPart *part = &g_array_index(parts, RetryPart, i);
        Draft *retry = draft_from_entry(RETRY_QUEUE, delivery->entry);
        json_t *meta = draft_meta(retry);
        meta_set_integer(meta, KEY_ATTEMPTS, meta_integer(meta, KEY_ATTEMPTS, 0) + 1);
        if (delivery->last_reply)
            meta_set_string(meta, KEY_LAST_REPLY, delivery->last_reply);
        if (delivery->last_phase)
            meta_set_string(meta, KEY_LAST_PHASE, delivery->last_phase);
        if (delivery->doubts > 0 || part->doubt)
            meta_set_integer(meta, KEY_DOUBTS, delivery->doubts + part->doubt);
        bounce_keep_block(delivery, meta);
        draft_set_due(retry, due_of(finish, part, delivery));
        if (warned)
            meta_set_bool(meta, KEY_WARNED, true);
        if (parts->len > 1) { /* the delivery outlives the draft, as its outcome does */
            RetryWalk *walk = g_new0(RetryWalk, 1);
            *walk = (RetryWalk){.laws = &finish->laws, .wanted = *part, .delivery = delivery,
                                .line = g_string_new(NULL)};
            draft_set_recipients(retry, next_line, walk, walk_free);
        }
        outcome_add(outcome, retry);
    }
    /* A warning and the entries that know of it appear together or not at all. */
    if (warned)
        outcome_add(outcome, warning_draft(&finish->warning, delivery, false, NULL, clock_now()));
    if (letter)
        outcome_add(outcome, letter);
    return true;
}

/* Bounces from the recipient at *offset on, at most a group of them; *offset is moved. Of recipients who are not
 * charged it says only that nobody got the post, when that may be so; else their places go to quiet. */
static void gather_expired(Finish *finish, Delivery *delivery, size_t *offset, GArray *quiet)
{
    bool forced = meta_bool(entry_meta(delivery->entry), KEY_EXPIRE), unreached = bounce_is_unreached(delivery);
    const char *last = delivery->last_reply;
    if (!last)
        last = meta_string(entry_meta(delivery->entry), KEY_LAST_REPLY, "delivery was tried for too long");
    const char *phase = delivery->last_phase;
    if (!phase)
        phase = meta_string(entry_meta(delivery->entry), KEY_LAST_PHASE, "rcpt");
    BounceMaker *maker = bounce_maker_new(delivery);
    Recipient recipient;
    while (finish->marks.bounces->len < EXPIRE_GROUP && entry_next_recipient(delivery->entry, *offset, &recipient)) {
        *offset = recipient.next;
        if (recipient.state != RECIPIENT_TODO)
            continue;
        const Destination *destination;
        route(&finish->laws, delivery, recipient, &destination);
        bool held = destination && destination->suspended && !forced;
        /* The site's own mail has no member who could be charged: its sender is told. A scattered delivery does not
         * remember for which destinations it waits. */
        bool waits = destination && (delivery->scattered ? destination->deaths > 0
                                                         : place_of(delivery, destination) != NULL);
        bool ours = destination && (destination->suspended || (destination->own && waits));
        bool spared = *entry_list(delivery->entry) && (ours || is_in(delivery->spared, recipient.offset) ||
                                                       is_blameless(delivery, recipient.offset));
        delivery->parked += held;
        if (spared && !unreached && !held)
            g_array_append_val(quiet, recipient.offset);
        if (held || (spared && !unreached))
            continue;
        delivery_address(delivery, &recipient);
        Failure failure = {"4.4.7", last, NULL, phase, spared};
        add_bounce(&finish->marks, bounce_maker_add(maker, &recipient, &failure));
    }
    add_bounce(&finish->marks, bounce_maker_end(maker));
}

/* The last attempt was made: everybody who is left is bounced, a group at a time; between groups it may be time to
 * leave, and the rest is bounced by who comes after us. Who waits for a destination that the operator has suspended
 * waits on. Members whose transactions broke off are not charged with it; the list's owners are told of them. */
static bool expire(Finish *finish, Delivery *delivery, GError **error)
{
    report_end(delivery, BOUNCES_QUEUE, "expired");
    /* The letter is not about those who wait for a destination that the operator has suspended. */
    g_autoptr(GHashTable) held = meta_bool(entry_meta(delivery->entry), KEY_EXPIRE) ? NULL
                                                                                   : g_hash_table_new(NULL, NULL);
    bool told = held && (delivery->lost || delivery->doubts > 0);
    Recipient recipient;
    for (size_t at = 0; told && entry_next_recipient(delivery->entry, at, &recipient); at = recipient.next) {
        const Destination *destination;
        route(&finish->laws, delivery, recipient, &destination);
        if (destination && destination->suspended)
            g_hash_table_add(held, GSIZE_TO_POINTER(recipient.offset));
    }
    g_autoptr(Draft) letter = warning_draft(&finish->warning, delivery, true, held, clock_now());
    g_autoptr(GArray) quiet = g_array_new(FALSE, FALSE, sizeof(size_t));
    delivery->deferred = delivery->parked = 0; /* counts those again that cannot be stored */
    size_t offset = 0;
    bool left = true;
    while (left && !(child_stopping() && offset > 0)) {
        gather_expired(finish, delivery, &offset, quiet);
        if (!marks_store_bounces(&finish->marks, finish->spool, error))
            return false;
        left = offset < entry_recipients_length(delivery->entry);
    }
    if (left || delivery->deferred > 0)
        return wait_again(finish, delivery, left ? 0 : next_due(finish, delivery), error);
    /* Recipients who are given up without a bounce do not wait on with the others. */
    if (delivery->parked > 0)
        return entry_mark(delivery->entry, (const size_t *)quiet->data, quiet->len, RECIPIENT_BOUNCED, error) &&
               defer(finish, delivery, g_steal_pointer(&letter), error);
    for (guint i = 0; i < delivery->jobs->len; i++)
        transport_given_up(((const Job *)delivery->jobs->pdata[i])->transport, delivery);
    Outcome *outcome = end(finish, delivery);
    if (letter)
        outcome_add(outcome, g_steal_pointer(&letter));
    return true;
}

static bool end_attempt(Finish *finish, Delivery *delivery, GError **error)
{
    if (delivery->deferred == 0 && delivery->parked == 0) {
        /* The last block of a post that nobody was left for is told of: without it nobody can know whether the others,
         * which are full, are all. */
        const json_t *meta = entry_meta(delivery->entry);
        if (bounce_is_unreached(delivery) && entry_recipients_length(delivery->entry) == 0 &&
            (meta_integer(meta, KEY_BLOCK, 0) > 0 || meta_integer(meta, KEY_BLOCKS, 0) > 1) &&
            !meta_integer(meta, KEY_BLOCK_MOST, 0)) {
            BounceMaker *maker = bounce_maker_new(delivery);
            add_bounce(&finish->marks, cut_draft(maker));
            bounce_draft_free(bounce_maker_end(maker));
        }
        if (!marks_store_bounces(&finish->marks, finish->spool, error))
            return false;
        end(finish, delivery);
        return true;
    }
    int64_t age = clock_now() - entry_arrival(delivery->entry);
    if (canary_is_list(entry_list(delivery->entry)) && age >= finish->canary_us) {
        report_end(delivery, "-", "dropped");
        end(finish, delivery);
        return true;
    }
    /* All who are left may wait for destinations that the operator has suspended. */
    bool held = delivery->places && delivery->places->len > 0 && delivery->deferred == 0 && !delivery->scattered;
    for (guint i = 0; held && i < delivery->places->len; i++)
        held = g_array_index(delivery->places, Place, i).destination->suspended;
    bool old = backoff_expired(&finish->backoff, age);
    if (meta_bool(entry_meta(delivery->entry), KEY_EXPIRE) || (old && !held))
        return expire(finish, delivery, error);
    return defer(finish, delivery, NULL, error);
}

/* A hop that could not be made: the entry keeps its marks and its place. */
static bool settle_failure(Finish *finish, Delivery *delivery, const GError *why, GError **error)
{
    Inbox *inbox = finish->inboxes[delivery->source];
    bool later = why->code != FAIL_NEVER;
    log_error("%s list=%s queue=%s %s: %s", entry_trace(delivery->entry), entry_list(delivery->entry),
              queue_name(inbox_queue(inbox)), later ? "cannot be moved on and waits" : "is preserved", why->message);
    if (!entry_sync_marks(delivery->entry, error))
        return false;
    int64_t due = next_due(finish, delivery);
    Entry *entry = g_steal_pointer(&delivery->entry);
    return later ? inbox_release(inbox, entry, due, error) : inbox_preserve(inbox, entry, error);
}

static bool commit_source(Finish *finish, int source, GError **error)
{
    GPtrArray *outcomes = finish->outcomes[source];
    GPtrArray *deliveries = finish->deliveries[source];
    if (outcomes->len == 0)
        return true;
    if (!hop_commit(finish->hop, (Outcome **)outcomes->pdata, outcomes->len, error))
        return false;
    bool sound = true;
    for (guint i = 0; i < outcomes->len; i++) {
        Outcome *outcome = outcomes->pdata[i];
        Delivery *delivery = deliveries->pdata[i];
        bool moved = outcome->drafts->len > 0;
        if (outcome->error) {
            outcome->parent = NULL; /* the delivery's again */
            sound = sound && settle_failure(finish, delivery, outcome->error, error);
        } else {
            report_end(delivery, moved ? RETRY_QUEUE : "-", moved ? "deferred" : "done");
            /* Destinations call back the entries that the delivery has become. Those of another process's slice come
             * when they are due. */
            for (guint at = 0; delivery->parts && at < delivery->parts->len; at++) {
                const RetryPart *part = &g_array_index(delivery->parts, RetryPart, at);
                const EntryName *name = draft_name(outcome->drafts->pdata[at]);
                if (part->place && slice_owns(finish->slice, name->hash))
                    note_parked(part->place, SOURCE_RETRY, name, entry_arrival(delivery->entry));
            }
            finish->done++;
            /* The next sync makes its removal durable: should it come back, its marks might be missing. */
            Queue *queue = entry_queue(delivery->entry);
            if (!moved && !g_ptr_array_find(finish->marks.directories, queue, NULL))
                g_ptr_array_add(finish->marks.directories, queue);
            delivery->entry = NULL; /* the outcome's */
        }
        outcome_free(outcome);
        delivery_free(delivery);
    }
    g_ptr_array_set_size(outcomes, 0);
    g_ptr_array_set_size(deliveries, 0);
    return sound;
}

bool finish_over(Finish *finish, GQueue *over, GError **error)
{
    if (!marks_store_bounces(&finish->marks, finish->spool, error))
        return false;
    Delivery *delivery;
    while ((delivery = g_queue_pop_head(over)) != NULL) {
        /* A delivery that was parked is parked again next time. A command finds the entry by its name alone. */
        bool back = delivery->withdrawn && (delivery->asked || delivery->deferred == 0);
        if (back ? !finish_put_back(finish, delivery, error) : !end_attempt(finish, delivery, error))
            return false;
    }
    for (int source = 0; source < SOURCES; source++)
        if (!commit_source(finish, source, error))
            return false;
    return true;
}

bool finish_shunt(Finish *finish, Entry *entry, unsigned source, const GError *why, GError **error)
{
    const char *from = queue_name(entry_queue(entry));
    g_autoptr(GError) gone = NULL;
    if (!spool_target(finish->spool, SHUNT_QUEUE, &gone)) {
        log_error("%s list=%s queue=%s result=later (%s; it cannot be shunted: %s)", entry_trace(entry),
                  entry_list(entry), from, why->message, gone->message);
        return inbox_release(finish->inboxes[source], entry, clock_now() + SHUNT_DELAY, error);
    }
    log_error("%s list=%s queue=%s to=" SHUNT_QUEUE " result=shunt (%s)", entry_trace(entry), entry_list(entry), from,
              why->message);
    Draft *draft = draft_from_entry(SHUNT_QUEUE, entry);
    fault_set(draft, entry, "out", why->message);
    g_autoptr(Outcome) outcome = outcome_new(entry);
    outcome_add(outcome, draft);
    Outcome *batch[] = {outcome};
    if (!hop_commit(finish->hop, batch, 1, error))
        return false;
    finish->done++;
    if (!outcome->error)
        return true;
    log_error("%s queue=%s cannot be shunted (%s); it is preserved there", entry_trace(entry), from,
              outcome->error->message);
    g_ptr_array_set_size(outcome->drafts, 0);
    return inbox_preserve(finish->inboxes[source], g_steal_pointer(&outcome->parent), error);
}
