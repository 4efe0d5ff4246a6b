/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/lmtp/entries.h"

#include <inttypes.h>

#include "base/clock.h"
#include "mail/list_address.h"
#include "mail/message.h"
#include "runners/keys.h"
#include "switchboard/draft.h"
#include "switchboard/meta.h"

/* What all entries of a transaction share. */
typedef struct Shared {
    const LmtpTransaction *transaction;
    const char *peer;
    char *message_id;
    GBytes *head, *body;
} Shared;

static const char *queue_of(ListAddressTo to)
{
    switch (to) {
    case LIST_ADDRESS_POSTING:
    case LIST_ADDRESS_OWNER:
        return "in";
    case LIST_ADDRESS_BOUNCES:
        return "bounces";
    default:
        return "command";
    }
}

static void read_message(Shared *shared, const char *hostname)
{
    g_autoptr(Message) message = message_new(shared->transaction->message);
    shared->message_id = message_id(message);
    if (shared->message_id) {
        shared->body = g_bytes_ref(shared->transaction->message);
        return;
    }
    shared->message_id = g_strdup_printf("%" PRId64 ".%08x@%s", clock_unique(), g_random_int(), hostname);
    g_autofree char *field = g_strdup_printf("<%s>", shared->message_id);
    message_prepend(message, "Message-ID", field);
    shared->head = message_head(message);
    shared->body = message_body(message);
}

static Draft *make_draft(const Shared *shared, const LmtpRecipient *recipient)
{
    const LmtpTransaction *transaction = shared->transaction;
    const ListAddress *address = recipient->data;
    json_t *meta = json_object();
    meta_set_integer(meta, META_ARRIVAL, clock_unique());
    meta_set_string(meta, META_LIST, address->list_id);
    meta_set_string(meta, KEY_SENDER, transaction->sender);
    meta_set_string(meta, KEY_RECIPIENT, recipient->address);
    meta_set_string(meta, KEY_TO, list_address_text(address->to));
    if (address->detail)
        meta_set_string(meta, KEY_DETAIL, address->detail);
    meta_set_string(meta, KEY_PEER, shared->peer);
    meta_set_string(meta, KEY_MESSAGE_ID, shared->message_id);
    if (transaction->smtputf8)
        meta_set_bool(meta, KEY_SMTPUTF8, true);
    if (transaction->eight_bit)
        meta_set_bool(meta, KEY_BODY_8BIT, true);
    Draft *draft = draft_new(queue_of(address->to), meta);
    if (shared->head)
        draft_add_message(draft, shared->head);
    draft_add_message(draft, shared->body);
    draft_name(draft); /* hashes here, while the committing thread waits for the disk */
    return draft;
}

Entries *entries_new(const LmtpTransaction *transaction, const char *peer, const char *hostname)
{
    guint recipients = transaction->recipients->len;
    Entries *entries = g_new0(Entries, 1);
    entries->group = g_new0(Intake, recipients);
    entries->of = g_new0(size_t, recipients);
    Shared shared = {.transaction = transaction, .peer = peer};
    read_message(&shared, hostname);
    g_autoptr(GHashTable) seen = recipients > 1 ? g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL) : NULL;
    for (guint i = 0; i < recipients; i++) {
        const LmtpRecipient *recipient = lmtp_recipient(transaction, i);
        entries->of[i] = entries->count;
        if (seen) {
            char *folded = g_ascii_strdown(recipient->address, -1);
            void *before;
            if (g_hash_table_lookup_extended(seen, folded, NULL, &before)) {
                entries->of[i] = GPOINTER_TO_SIZE(before);
                g_free(folded);
                continue;
            }
            g_hash_table_insert(seen, folded, GSIZE_TO_POINTER(entries->count));
        }
        entries->group[entries->count++].draft = make_draft(&shared, recipient);
    }
    g_free(shared.message_id);
    g_clear_pointer(&shared.head, g_bytes_unref);
    g_bytes_unref(shared.body);
    return entries;
}

void entries_free(Entries *entries)
{
    if (!entries)
        return;
    for (size_t i = 0; i < entries->count; i++) {
        draft_free(entries->group[i].draft);
        g_clear_error(&entries->group[i].error);
    }
    g_free(entries->group);
    g_free(entries->of);
    g_free(entries);
}
