/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/lmtp/entries.h"

#include <inttypes.h>

#include "base/clock.h"
#include "lists/keys.h"
#include "mail/list_address.h"
#include "mail/message.h"
#include "mail/mime/partial.h"
#include "switchboard/draft.h"
#include "switchboard/meta.h"

/* A message that passed more hosts is going in circles (RFC 5321 6.3: at least 100). */
#define HOPS_MAX 120
#define LOOPS "554 5.4.6 The message has more than 120 Received fields: it is going in circles"

/* TransactionParts holds the values that all entries of a transaction share. */
typedef struct TransactionParts {
    const LmtpTransaction *transaction;
    const char *peer;
    const EntriesSite *site;
    char *message_id;
    GBytes *head, *body;
    const Draft *first; /* NULL: none yet */
    Partial partial;
    bool is_partial, loops;
} TransactionParts;

static const char *queue_of(ListAddressTo to)
{
    switch (to) {
    case LIST_ADDRESS_POSTING:
    case LIST_ADDRESS_OWNER:
        return "in";
    case LIST_ADDRESS_BOUNCES:
        return "bounces";
    case LIST_ADDRESS_SITE:
        return "virgin";
    default:
        return "command";
    }
}

static void read_message(TransactionParts *shared)
{
    g_autoptr(Message) message = message_new(shared->transaction->message);
    unsigned hops = 0;
    for (size_t at = 0; hops <= HOPS_MAX && message_find(message, "Received", &at); at++)
        hops++;
    shared->loops = hops > HOPS_MAX;
    shared->is_partial = partial_read(message, &shared->partial);
    shared->message_id = message_id_brief(message);
    if (shared->message_id) {
        shared->body = g_bytes_ref(shared->transaction->message);
        return;
    }
    shared->message_id = g_strdup_printf("%" PRId64 ".%08x@%s", clock_unique(), g_random_int(),
                                         shared->site->hostname);
    g_autofree char *field = g_strdup_printf("<%s>", shared->message_id);
    message_prepend(message, "Message-ID", field);
    shared->head = message_head(message);
    shared->body = message_body(message);
}

/* key is that of the set when it is a part to be joined, else NULL. */
static Draft *make_draft(TransactionParts *shared, const LmtpRecipient *recipient, const char *key)
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
    if (key)
        meta_set_string(meta, META_SHARD, key);
    if (address->to == LIST_ADDRESS_SITE)
        meta_set_string(meta, KEY_ENVELOPE_SENDER, transaction->sender);
    Draft *draft = draft_new(key ? "defragment" : queue_of(address->to), meta);
    if (address->to == LIST_ADDRESS_SITE) {
        const char *const owner[] = {shared->site->site_owner, NULL};
        draft_set_addresses(draft, g_strdupv((char **)owner));
    }
    if (shared->first) {
        draft_share_message(draft, shared->first);
    } else {
        if (shared->head)
            draft_add_message(draft, shared->head);
        draft_add_message(draft, shared->body);
        shared->first = draft;
    }
    draft_name(draft); /* hashes here, while the committing thread waits for the disk */
    return draft;
}

/* Whether the recipient is refused, or gets an entry, which may be a part to be joined with others. Parts are only
 * joined for the list itself, not for its owners. */
static void add_entry(Entries *entries, TransactionParts *shared, guint place)
{
    const LmtpRecipient *recipient = lmtp_recipient(shared->transaction, place);
    const ListAddress *address = recipient->data;
    uint64_t most, size = g_bytes_get_size(shared->transaction->message);
    g_autoptr(GError) error = NULL;
    FragmentAnswer answer = {0};
    if (shared->loops)
        answer.refusal = g_strdup(LOOPS);
    else if (!lists_size_limit(shared->site->lists, address, &most, &error))
        answer.refusal = g_strdup(ENTRIES_NO_DATABASE);
    else if (most > 0 && size > most)
        answer.refusal = g_strdup(ENTRIES_TOO_LARGE);
    if (!answer.refusal && shared->is_partial && address->to == LIST_ADDRESS_POSTING) {
        FragmentOffer offer = {address->list_id, partial_sender(&shared->partial, shared->transaction->sender),
                               &shared->partial, size};
        if (!fragments_decide(shared->site->fragments, &offer, &answer, &error))
            answer.refusal = g_strdup(ENTRIES_NO_DATABASE);
    }
    entries->refusals[place] = answer.refusal;
    if (answer.refusal)
        entries->of[place] = ENTRIES_NONE;
    else
        entries->group[entries->count++].draft = make_draft(shared, recipient, answer.key);
    g_free(answer.key);
}

Entries *entries_new(const LmtpTransaction *transaction, const char *peer, const EntriesSite *site)
{
    guint recipients = transaction->recipients->len;
    Entries *entries = g_new0(Entries, 1);
    entries->group = g_new0(Intake, recipients);
    entries->of = g_new0(size_t, recipients);
    entries->refusals = g_new0(char *, recipients);
    entries->recipients = recipients;
    TransactionParts shared = {.transaction = transaction, .peer = peer, .site = site};
    read_message(&shared);
    g_autoptr(GHashTable) seen = recipients > 1 ? g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL) : NULL;
    for (guint i = 0; i < recipients; i++) {
        const LmtpRecipient *recipient = lmtp_recipient(transaction, i);
        entries->of[i] = entries->count;
        g_autofree char *folded = seen ? g_ascii_strdown(recipient->address, -1) : NULL;
        void *before;
        if (seen && g_hash_table_lookup_extended(seen, folded, NULL, &before)) {
            entries->of[i] = GPOINTER_TO_SIZE(before);
            continue;
        }
        add_entry(entries, &shared, i);
        if (seen && entries->of[i] != ENTRIES_NONE)
            g_hash_table_insert(seen, g_steal_pointer(&folded), GSIZE_TO_POINTER(entries->of[i]));
    }
    partial_clear(&shared.partial);
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
    for (size_t i = 0; i < entries->recipients; i++)
        g_free(entries->refusals[i]);
    g_free(entries->refusals);
    g_free(entries->group);
    g_free(entries->of);
    g_free(entries);
}
