/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The join (D4): the last part's child is the whole, and it takes the others. */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/keys.h"
#include "runners/defragment/defragment.h"

#define DEPTH_MAX 1

/* The parts as they are read. */
typedef struct Gathered {
    GPtrArray *octets; /* of GBytes, in order */
    GArray *others;    /* of EntryName: to be taken */
    bool smtputf8;
    int64_t depth, size;
    unsigned lost;
} Gathered;

static void add_entry(Gathered *gathered, Entry *entry)
{
    GBytes *octets = entry_message(entry);
    gathered->size += (int64_t)g_bytes_get_size(octets);
    g_ptr_array_add(gathered->octets, octets);
    gathered->smtputf8 |= meta_bool(entry_meta(entry), KEY_SMTPUTF8);
    gathered->depth = MAX(gathered->depth, meta_integer(entry_meta(entry), KEY_DEPTH, 0));
}

/* Where the whole goes: to `in`, or here again when it is itself a part. Its metadata is that of the last part, as far
 * as it is true of the whole. */
static void add_whole(Part *part, const Gathered *gathered)
{
    static const char *const of_part[] = {META_ORDINAL, META_SHARD,      META_FAULT,   KEY_DEPTH,
                                          KEY_LEFT,     KEY_LEFT_REASON, KEY_SMTPUTF8, KEY_BODY_8BIT};
    guint parts = gathered->octets->len;
    g_autofree char *date = clock_rfc5322(part->now);
    g_autofree char *trace = g_strdup_printf("by %s (Listrunner, joined from %u parts) id %s;\r\n\t%s",
                                             part->own->host, parts, entry_trace(part->entry), date);
    g_autoptr(GPtrArray) whole = partial_join((GBytes *const *)gathered->octets->pdata, parts, trace);
    g_autoptr(Message) head = message_new(whole->pdata[0]);
    json_t *meta = json_deep_copy(entry_meta(part->entry));
    for (size_t i = 0; i < G_N_ELEMENTS(of_part); i++)
        json_object_del(meta, of_part[i]);
    g_autofree char *id = message_id_brief(head);
    if (!id) {
        id = g_strdup_printf("%.32s@%s", part->key, part->own->host);
        g_autofree char *field = g_strdup_printf("<%s>", id);
        message_prepend(head, "Message-ID", field);
    }
    meta_set_string(meta, KEY_MESSAGE_ID, id);
    if (gathered->smtputf8)
        meta_set_bool(meta, KEY_SMTPUTF8, true);
    g_auto(Partial) nested = {0};
    const char *queue = "in";
    if (partial_read(head, &nested)) {
        if (!nested.fault && gathered->depth < DEPTH_MAX) {
            g_autofree char *key = partial_set_key(
                part->list->list_id, partial_sender(&nested, part->sender), nested.id);
            meta_set_string(meta, META_SHARD, key);
            meta_set_integer(meta, KEY_DEPTH, gathered->depth + 1);
            queue = DEFRAGMENT_QUEUE;
        } else {
            meta_set_string(meta, KEY_LEFT, LEFT_REFUSED);
            meta_set_string(meta, KEY_LEFT_REASON, "The message was joined from parts, and is again only a part.");
        }
    }
    g_autoptr(GBytes) octets = message_head(head);
    if (bytes_8bit_of(octets))
        meta_set_bool(meta, KEY_BODY_8BIT, true);
    Draft *draft = draft_new(queue, meta);
    draft_add_message(draft, octets);
    draft_add_message(draft, whole->pdata[1]);
    outcome_add(part->outcome, draft);
    part_log(part, "result=joined parts=%u size=%zu to=%s message-id=<%s>", parts, draft_message_length(draft), queue,
             meta_string(meta, KEY_MESSAGE_ID, ""));
}

bool join_set(Part *part, const FragmentSet *set, bool *done, GError **error)
{
    Defragment *own = part->own;
    g_autoptr(GPtrArray) octets = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_autoptr(GArray) others = g_array_new(FALSE, FALSE, sizeof(EntryName));
    Gathered gathered = {.octets = octets, .others = others};
    *done = false;
    g_autoptr(GPtrArray) rows = fragment_parts(own->store, part->key, error);
    if (!rows)
        return false;
    for (guint i = 0; i < rows->len; i++) {
        const FragmentPart *row = rows->pdata[i];
        bool ours = strcmp(row->entry, part->name) == 0;
        EntryName name = {0};
        Entry *entry = ours ? part->entry : NULL;
        if (!ours && (!name_hash_parse(row->entry, name.hash) ||
                      !runner_find(own->runner, name.hash, set->expires_at, &entry, error)))
            return false;
        if (entry)
            add_entry(&gathered, entry);
        if (entry && !ours)
            g_array_append_val(others, name);
        if (!entry) {
            gathered.lost++;
            part_log(part, "result=lost (part %" PRId64 ", entry %s, is not in the queue any more)", row->number,
                     row->entry);
            if (!fragment_remove(own->store, part->key, row, error))
                return false;
        }
        runner_progress(own->runner);
    }
    if (gathered.lost > 0) /* a set that was thought joined, and lost a part before, is open again */
        return set->state == FRAGMENT_OPEN ||
               fragment_end(own->store, part->key, &(FragmentEnd){.state = FRAGMENT_OPEN}, error);
    const FragmentEnd joined = {.state = FRAGMENT_JOINED, .time = part->now, .joined_by = part->name};
    if (!fragment_end(own->store, part->key, &joined, error))
        return false;
    add_whole(part, &gathered);
    for (guint i = 0; i < others->len; i++)
        runner_take(own->runner, part->outcome, g_array_index(others, EntryName, i).hash);
    Join *made = g_new0(Join, 1);
    *made = (Join){.key = g_strdup(set->key), .outcome = part->outcome};
    g_ptr_array_add(own->joins, made);
    own->counted = false;
    return *done = true;
}
