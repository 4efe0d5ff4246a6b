/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/queues/queue_select.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "cli/command.h"
#include "lists/keys.h"
#include "mail/copy.h"
#include "store/lists/list.h"

char **queue_select_queues, *queue_select_list, *queue_select_sender, *queue_select_recipient, *queue_select_trace;

void queue_select_list_id(char **list)
{
    char *at = *list ? strrchr(*list, '@') : NULL;
    if (at)
        *at = '.';
    if (*list) {
        char *lower = g_ascii_strdown(*list, -1);
        g_free(*list);
        *list = lower;
    }
}

bool queue_select_list_known(Site *site, const char *list, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    Store *store = list ? site_store(site, false, NULL) : NULL;
    g_autoptr(List) found = store ? list_by_id(store, list, &refusal) : NULL;
    if (!g_error_matches(refusal, FAIL, FAIL_MISSING))
        return true;
    return fail_with(error, &refusal);
}

bool queue_select_by_content(void)
{
    return queue_select_list || queue_select_sender || queue_select_recipient || queue_select_trace;
}

bool queue_select_given(int count)
{
    return count > 0 || queue_select_queues || queue_select_by_content();
}

/* A word, and how many entries it was found to mean. */
typedef struct Sought {
    EntryWord word;
    unsigned meant;
} Sought;

typedef struct SelectedRows {
    Queue *queue;
    Sought *sought; /* beginnings of hashes first, then whole names in order */
    int count, digits;
    GArray *targets;
} SelectedRows;

static int compare_sought(const void *a, const void *b)
{
    const EntryWord *one = &((const Sought *)a)->word, *other = &((const Sought *)b)->word;
    if (one->digits || other->digits)
        return !one->digits - !other->digits;
    return name_compare(&one->name, &other->name);
}

/* Whole names, of which there may be thousands, are not looked through one by one. */
static bool is_named(const SelectedRows *gather, const EntryName *name)
{
    int low = gather->digits, high = gather->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (name_compare(&gather->sought[middle].word.name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    int first = low;
    while (low < gather->count && name_compare(&gather->sought[low].word.name, name) == 0)
        gather->sought[low++].meant++;
    return low > first;
}

static bool gather_file(const QueueFile *found, const char *file, void *data)
{
    (void)file;
    SelectedRows *gather = data;
    if (found->state == QUEUE_FOREIGN || found->state == QUEUE_WRITING)
        return true;
    bool wanted = gather->count == 0 || is_named(gather, &found->name);
    for (int i = 0; i < gather->digits; i++)
        if (entry_word_means(&gather->sought[i].word, &found->name)) {
            gather->sought[i].meant++;
            wanted = true;
        }
    QueueTarget target = {gather->queue, *found};
    if (wanted)
        g_array_append_val(gather->targets, target);
    return true;
}

static gint compare(gconstpointer a, gconstpointer b)
{
    const QueueTarget *one = a, *other = b;
    int order = strcmp(queue_name(one->queue), queue_name(other->queue));
    return order ? order : name_compare(&one->file.name, &other->file.name);
}

GArray *queue_select_targets(Spool *spool, char *const *queues, int count, char **words, GError **error)
{
    g_autofree Sought *sought = g_new0(Sought, count + 1);
    g_autoptr(GArray) targets = g_array_new(FALSE, FALSE, sizeof(QueueTarget));
    SelectedRows gather = {.sought = sought, .count = count, .targets = targets};
    for (int i = 0; i < count; i++) {
        if (!entry_word_parse(words[i], &sought[i].word, error))
            return NULL;
        gather.digits += sought[i].word.digits != NULL;
    }
    qsort(sought, (size_t)count, sizeof *sought, compare_sought);
    for (; *queues; queues++) {
        gather.queue = spool_queue(spool, *queues, error);
        if (!gather.queue || !queue_files_each(gather.queue, gather_file, &gather, error))
            return NULL;
    }
    for (const Sought *each = sought; each < sought + count; each++) {
        if (each->meant == 1)
            continue;
        if (each->meant == 0)
            fail(error, FAIL_MISSING, "there is no entry %s in these queues", each->word.text);
        else
            fail(error, FAIL_RACE, "%u entries are meant by %s; give more digits, or the whole name", each->meant,
                 each->word.text);
        return NULL;
    }
    g_array_sort(targets, compare);
    return g_steal_pointer(&targets);
}

static bool fits_pattern(const char *pattern, const char *text, size_t length)
{
    g_autofree char *lower = g_ascii_strdown(pattern, -1);
    g_autofree char *folded = g_ascii_strdown(text, (gssize)length);
    g_autofree char *valid = g_utf8_make_valid(folded, -1);
    return g_pattern_match_simple(lower, valid);
}

bool queue_select_fits(Entry *entry)
{
    const char *posting = meta_string(entry_meta(entry), KEY_SENDER, NULL);
    const char *envelope = meta_string(entry_meta(entry), KEY_ENVELOPE_SENDER, posting ? posting : "");
    const char *given = meta_string(entry_meta(entry), KEY_RECIPIENT, NULL); /* where none stands in the entry */
    if ((queue_select_list && strcmp(entry_list(entry), queue_select_list) != 0) ||
        (queue_select_trace && strcmp(entry_trace(entry), queue_select_trace) != 0))
        return false;
    if (queue_select_sender && strcmp(queue_select_sender, "<>") == 0 && *envelope)
        return false;
    if (queue_select_sender && strcmp(queue_select_sender, "<>") != 0 &&
        !fits_pattern(queue_select_sender, envelope, strlen(envelope)) &&
        !(posting && fits_pattern(queue_select_sender, posting, strlen(posting))))
        return false;
    if (!queue_select_recipient)
        return true;
    Recipient recipient;
    for (size_t at = 0; entry_next_recipient(entry, at, &recipient); at = recipient.next)
        if (recipient.state == RECIPIENT_TODO &&
            fits_pattern(queue_select_recipient, recipient.address,
                         copy_recipient_read(recipient.address, recipient.length).address_length))
            return true;
    return entry_recipients_length(entry) == 0 && given && fits_pattern(queue_select_recipient, given, strlen(given));
}
