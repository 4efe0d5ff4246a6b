/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "cli/queues/entry_word.h"
#include "cli/queues/message_text.h"
#include "cli/queues/queue_files.h"
#include "mail/copy.h"

static gboolean headers, body;

typedef struct EntrySearch {
    EntryWord word;
    Queue *queue; /* being searched */
    GArray *hits; /* of Hit */
} EntrySearch;

typedef struct Hit {
    Queue *queue;
    QueueFile file;
} Hit;

static bool match_file(const QueueFile *found, const char *file, void *data)
{
    EntrySearch *search = data;
    (void)file;
    if (found->state == QUEUE_FOREIGN || found->state == QUEUE_WRITING ||
        !entry_word_means(&search->word, &found->name))
        return true;
    Hit hit = {search->queue, *found};
    g_array_append_val(search->hits, hit);
    return true;
}

/* The one entry meant by text. */
static bool search_run(Spool *spool, const char *text, Hit *hit, GError **error)
{
    g_autoptr(GArray) hits = g_array_new(FALSE, FALSE, sizeof(Hit));
    EntrySearch search = {.hits = hits};
    if (!entry_word_parse(text, &search.word, error))
        return false;
    g_auto(GStrv) names = spool_queue_names(spool, error);
    for (size_t i = 0; names && names[i]; i++) {
        search.queue = spool_queue(spool, names[i], error);
        if (!search.queue || !queue_files_each(search.queue, match_file, &search, error))
            return false;
    }
    if (!names)
        return false;
    if (hits->len == 0)
        return fail(error, FAIL_MISSING, "there is no entry %s in any queue", text);
    if (hits->len > 1)
        return fail(error, FAIL_RACE, "%u entries are meant by %s; give more digits, or the whole name", hits->len,
                    text);
    *hit = g_array_index(hits, Hit, 0);
    return true;
}

static json_t *recipients_of(const Entry *entry)
{
    json_t *array = json_array();
    Recipient recipient;
    for (size_t at = 0; entry_next_recipient(entry, at, &recipient); at = recipient.next) {
        g_autofree char *address =
            g_strndup(recipient.address, copy_recipient_read(recipient.address, recipient.length).address_length);
        const char *state = recipient.state == RECIPIENT_DONE      ? "done"
                            : recipient.state == RECIPIENT_BOUNCED ? "bounced"
                                                                   : "todo";
        json_array_append_new(array, json_pack("{so ss}", "address", listing_text(address), "state", state));
    }
    return array;
}

static json_t *describe(const Hit *hit, QueueState state, Entry *entry)
{
    return json_pack("{ss ss ss so so si sI sO}", "queue", queue_name(hit->queue), "name", entry_text(entry), "state",
                     queue_state_text(state), "due", listing_time(entry_name(entry)->due), "arrival",
                     listing_time(entry_arrival(entry)), "crashes", (int)entry_crashes(entry), "size",
                     (json_int_t)entry_message_length(entry), "meta", entry_meta(entry));
}

static void show_text(json_t *object, const Entry *entry)
{
    json_t *meta = json_incref(json_object_get(object, "meta"));
    json_object_del(object, "meta");
    listing_show(object, false);
    json_t *shown = json_pack("{sO}", "meta", meta);
    json_decref(meta);
    listing_show(shown, false);
    g_autoptr(json_t) recipients = recipients_of(entry);
    if (json_array_size(recipients) > 0)
        puts("recipients:");
    for (size_t i = 0; i < json_array_size(recipients); i++) {
        const json_t *one = json_array_get(recipients, i);
        g_autofree char *address = plain_text(json_string_value(json_object_get(one, "address")));
        printf("  %-7s  %s\n", json_string_value(json_object_get(one, "state")), address);
    }
    putchar('\n');
}

static int run_cat(Site *site, int argc, char **argv, GError **error)
{
    Hit hit;
    QueueState state;
    if (headers && body)
        return command_usage(error, "--headers and --body exclude each other");
    Spool *spool = site_spool(site, error);
    if (!spool || !search_run(spool, argv[0], &hit, error))
        return TOOL_LATER;
    g_autoptr(GError) refusal = NULL;
    g_autoptr(Entry) entry = queue_files_open(hit.queue, &hit.file, &state, &refusal);
    if (!entry) {
        if (g_error_matches(refusal, FAIL, FAIL_NEVER))
            refusal->code = FAIL_RACE; /* well asked, but the entry is damaged: 1, not 64 */
        g_propagate_error(error, g_steal_pointer(&refusal));
        return TOOL_LATER;
    }
    g_autoptr(GBytes) message = entry_message(entry);
    if (json_option) {
        gsize size;
        const char *octets = g_bytes_get_data(message, &size);
        g_autofree char *text = g_utf8_make_valid(octets ? octets : "", (gssize)size);
        json_t *object = describe(&hit, state, entry);
        json_object_set_new(object, "recipients", recipients_of(entry));
        json_object_set_new(object, "message", json_string(text));
        listing_show(object, true);
    } else {
        if (!headers && !body)
            show_text(describe(&hit, state, entry), entry);
        message_text_write(message, !body, !headers);
    }
    return TOOL_OK;
}

static const GOptionEntry options[] = {
    {"headers", 0, 0, G_OPTION_ARG_NONE, &headers, "only the header of the message", NULL},
    {"body", 0, 0, G_OPTION_ARG_NONE, &body, "only the body of the message", NULL},
    JSON_OBJECT_OPTION,
    G_OPTION_ENTRY_NULL,
};

const Command queue_cat = {
    .name = "cat",
    .arguments = "ENTRY",
    .summary = "Show one entry: its place, metadata, recipients and message",
    .details = "ENTRY is a name as queue ls shows it, or the first digits (six at least) of its hash.\n"
               "The message is written octet for octet, but on a terminal without control characters.",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run_cat,
};
