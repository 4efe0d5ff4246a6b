/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/backup/reconcile.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/trail/trail.h"
#include "cli/queues/queue_select.h"
#include "lists/keys.h"
#include "lists/posts/trace.h"
#include "lists/unit.h"
#include "mail/copy.h"
#include "store/hosts/restored.h"
#include "store/lists/list.h"
#include "store/posts/held.h"
#include "store/posts/scheduled.h"
#include "switchboard/operate.h"
#include "switchboard/recover.h"

const Column reconcile_columns[] = {
    {"kind", "KIND", COLUMN_TEXT},
    {"list", "LIST", COLUMN_TEXT},
    {"queue", "QUEUE", COLUMN_TEXT},
    {"trace", "TRACE", COLUMN_TEXT},
    {"message_id", "MESSAGE-ID", COLUMN_TEXT},
    {"text", "WHAT", COLUMN_TEXT},
    {NULL, NULL, COLUMN_TEXT},
};

/* A row of what could not be known, or of what was done. text is taken. */
typedef struct ReconcileFinding {
    const char *kind, *list, *queue, *trace, *message_id;
    bool unknown;
} ReconcileFinding;

static void tell(Reconcile *reconcile, const ReconcileFinding *finding, char *text)
{
    g_autofree char *owned = text;
    reconcile->unknown += finding->unknown;
    listing_row(reconcile->listing,
                json_pack("{ss so so so so ss sb}", "kind", finding->kind, "list", listing_text(finding->list), "queue",
                          listing_text(finding->queue), "trace", listing_text(finding->trace), "message_id",
                          listing_text(finding->message_id), "text", owned, "unknown", (int)finding->unknown));
}

static ReconcileFinding finding_of(const char *kind, Entry *entry)
{
    return (ReconcileFinding){.kind = kind,
                              .list = *entry_list(entry) ? entry_list(entry) : NULL,
                              .queue = queue_name(entry_queue(entry)),
                              .trace = entry_trace(entry),
                              .message_id = meta_string(entry_meta(entry), KEY_MESSAGE_ID, NULL)};
}

/* Call it for each entry of the spool that can be read, in whatever state. False: it failed. */
typedef bool EachEntry(void *data, const QueueTarget *target, Entry *entry, GError **error);
static bool each_entry(Spool *spool, EachEntry *each, void *data, GError **error)
{
    g_auto(GStrv) names = spool_queue_names(spool, error);
    g_autoptr(GArray) targets = names ? queue_select_targets(spool, names, 0, NULL, error) : NULL;
    for (guint at = 0; targets && at < targets->len; at++) {
        QueueTarget *target = &g_array_index(targets, QueueTarget, at);
        g_autoptr(Entry) entry = queue_files_open(target->queue, &target->file, &target->file.state, NULL);
        if (entry && !each(data, target, entry, error))
            return false;
    }
    return targets != NULL;
}

/* ---- deliveries since a moment ---- */

/*
 * Read from the trail (base/trail/trail.h) for a spool that was restored to how it was then. The trail is often on
 * another disk than the spool, so it knows what the spool has forgotten. It lacks up to three seconds before a process
 * that wrote it was killed.
 */
typedef struct SentSince {
    /* The trace of a mail -> set of addresses, in lower case. For these, delivery has ended (sent or refused) since the
     * moment or up to ten minutes before. A letter of our own may have the trace of the post that it is about, so
     * letters are apart. */
    GHashTable *posts, *letters;
    GHashTable *taken; /* List-Id -> how many posts it took after the moment, accepted or held (GUINT_TO_POINTER) */
    GPtrArray *held;   /* lines (of char *) about posts that were held after the moment */
    int64_t last;      /* time of the last line, us; 0: the trail has none after the moment */
} SentSince;

typedef struct Reading {
    SentSince *sent;
    int64_t moment;
} Reading;

static void note(GHashTable *mails, const char *trace, const char *line)
{
    GHashTable *addresses = g_hash_table_lookup(mails, trace);
    g_auto(GStrv) recipients = trace_line_recipients(line);
    if (!addresses) {
        addresses = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_hash_table_insert(mails, g_strdup(trace), addresses);
    }
    for (char **recipient = recipients; recipient && *recipient; recipient++)
        g_hash_table_add(addresses, g_ascii_strdown(*recipient, -1));
}

/* A server's reply is in the trail before the spool has what follows from it. So attempts from shortly before the
 * moment count, too: what is still to do for the same mail and address was done then. */
#define BEFORE (10 * INT64_C(60) * G_USEC_PER_SEC)

static void look(const TrailLine *line, void *data)
{
    const Reading *reading = data;
    SentSince *sent = reading->sent;
    g_autofree char *stamp = g_strndup(line->text, TRACE_LINE_STAMP);
    g_autoptr(GDateTime) date = g_date_time_new_from_iso8601(stamp, NULL);
    int64_t time = date ? g_date_time_to_unix(date) * G_USEC_PER_SEC + g_date_time_get_microsecond(date) : 0;
    if (time < reading->moment - BEFORE)
        return;
    if (time > reading->moment)
        sent->last = MAX(sent->last, time);
    const char *program = line->text + TRACE_LINE_STAMP + 1;
    const char *fate = strstr(line->text, "> relay=");
    const char *status = fate ? strstr(fate, " status=") : NULL;
    if (g_str_has_prefix(program, "out[") && status &&
        (g_str_has_prefix(status, " status=sent") || g_str_has_prefix(status, " status=bounced"))) {
        /* A line about the queue retry does not say which of both it is. */
        g_autofree char *queue = trace_line_value(line->text, "queue"), *trace = g_strndup(line->trace, TRACE_DIGITS);
        if (g_strcmp0(queue, NOTICE_QUEUE) != 0)
            note(sent->posts, trace, line->text);
        if (g_strcmp0(queue, "out") != 0)
            note(sent->letters, trace, line->text);
    }
    if (time <= reading->moment || !g_str_has_prefix(program, "in["))
        return;
    bool held = strstr(line->text, " result=hold") != NULL;
    if (held)
        g_ptr_array_add(sent->held, g_strdup(line->text));
    char *list = held || strstr(line->text, " result=accept") ? trace_line_value(line->text, "list") : NULL;
    if (list)
        g_hash_table_insert(sent->taken, list,
                            GUINT_TO_POINTER(GPOINTER_TO_UINT(g_hash_table_lookup(sent->taken, list)) + 1));
}

/* Fill *sent from the trail in this directory; clear it also after false. moment is in us. FAIL_LATER: the trail cannot
 * be read. */
static bool sent_since_read(SentSince *sent, const char *directory, int64_t moment, GError **error)
{
    GDestroyNotify unref = (GDestroyNotify)g_hash_table_unref;
    *sent = (SentSince){.posts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, unref),
                        .letters = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, unref),
                        .taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                        .held = g_ptr_array_new_with_free_func(g_free)};
    Reading reading = {.sent = sent, .moment = moment};
    return trail_find(directory, NULL, look, &reading, NULL, error);
}

static void sent_since_clear(SentSince *sent)
{
    g_clear_pointer(&sent->posts, g_hash_table_unref);
    g_clear_pointer(&sent->letters, g_hash_table_unref);
    g_clear_pointer(&sent->taken, g_hash_table_unref);
    g_clear_pointer(&sent->held, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SentSince, sent_since_clear)

/* Has delivery of the mail with this trace to the address ended? letter: it is a letter of our own, and no post. */
static bool sent_since_has(const SentSince *sent, const char *trace, bool letter, const char *address, size_t length)
{
    GHashTable *addresses = g_hash_table_lookup(letter ? sent->letters : sent->posts, trace);
    g_autofree char *key = addresses ? g_ascii_strdown(address, (gssize)length) : NULL;
    return key && g_hash_table_contains(addresses, key);
}

/* Return the number of addresses for which delivery of the post with this trace has ended. */
static unsigned sent_since_count(const SentSince *sent, const char *trace)
{
    GHashTable *addresses = g_hash_table_lookup(sent->posts, trace);
    return addresses ? g_hash_table_size(addresses) : 0;
}

/* ---- the spool is older ---- */

typedef struct OldSpool {
    Reconcile *reconcile;
    Operate *operate;
    SentSince sent;
    int64_t moment;
    GHashTable *traces; /* of all entries, owned */
    GError *fault;      /* of an entry that could not be moved */
} OldSpool;

static void moved(void *data, void *token, const GError *error)
{
    OldSpool *old = data;
    (void)token;
    if (error && !old->fault)
        old->fault = g_error_copy(error);
}

static bool hold(OldSpool *old, Entry *entry, const ReconcileFinding *finding, char *why, GError **error)
{
    tell(old->reconcile, finding, why);
    return operate_move(old->operate, entry, operate_draft_hold(entry), NULL, error);
}

/* Where a trail is, do not send again to whom it was sent. */
static bool settle_outgoing(OldSpool *old, Entry *entry, GError **error)
{
    ReconcileFinding unknown = finding_of("unknown", entry), gone = finding_of("sent", entry);
    g_autoptr(GArray) done = g_array_new(FALSE, FALSE, sizeof(size_t));
    bool letter = meta_string(entry_meta(entry), KEY_PRIORITY, NULL) != NULL;
    unsigned left = 0;
    Recipient recipient;
    unknown.unknown = true;
    if (old->sent.last == 0 || entry_recipients_length(entry) == 0)
        return hold(old, entry, &unknown, g_strdup("whether it was sent since is not known; it was put into hold"),
                    error);
    for (size_t at = 0; entry_next_recipient(entry, at, &recipient); at = recipient.next) {
        if (recipient.state != RECIPIENT_TODO)
            continue;
        if (sent_since_has(&old->sent, entry_trace(entry), letter, recipient.address,
                           copy_recipient_read(recipient.address, recipient.length).address_length))
            g_array_append_val(done, recipient.offset);
        else
            left++;
    }
    if (done->len > 0)
        tell(old->reconcile, &gone,
             g_strdup_printf("it went to %u recipients since, and does not go to them again; %u are left", done->len,
                             left));
    if (done->len > 0 && left == 0)
        return operate_move(old->operate, entry, NULL, NULL, error);
    return (done->len == 0 ||
            (entry_mark(entry, (const size_t *)(const void *)done->data, done->len, RECIPIENT_DONE, error) &&
             entry_sync_marks(entry, error))) &&
           operate_put_back(old->operate, entry, error);
}

static bool settle_by_effect(OldSpool *old, Entry *entry, GError **error)
{
    static const char *const unjudged[] = {"in", "pipeline", NULL};
    bool before;
    int64_t number;
    ReconcileFinding finding = finding_of("worked-on", entry);
    g_autofree char *effect = name_effect(queue_name(entry_queue(entry)), entry_name(entry)->hash);
    finding.unknown = true;
    if (!store_find_effect(old->reconcile->store, effect, &before, &number, error))
        return false;
    unsigned sent = sent_since_count(&old->sent, entry_trace(entry));
    /* A post that was not judged had gone to nobody; of a digest, the posts may have. */
    if (!before && !(sent > 0 && g_strv_contains(unjudged, queue_name(entry_queue(entry)))))
        return operate_put_back(old->operate, entry, error);
    return hold(old, entry, &finding,
                sent > 0
                    ? g_strdup_printf("it was worked on since, and went to %u recipients; whether that are all is "
                                      "not known; it was put into hold",
                                      sent)
                    : g_strdup("it was worked on since; whether anybody got it is not known; it was put into hold"),
                error);
}

static bool settle_entry(void *data, const QueueTarget *target, Entry *seen, GError **error)
{
    static const char *const by_effect[] = {"in", "pipeline", "digest", "command", NULL};
    static const char *const outgoing[] = {"out", "retry", NOTICE_QUEUE, "virgin", NULL};
    OldSpool *old = data;
    const char *queue = queue_name(target->queue);
    g_hash_table_add(old->traces, g_strdup(entry_trace(seen)));
    bool effect = g_strv_contains(by_effect, queue), out = g_strv_contains(outgoing, queue);
    if ((!effect && !out) || (target->file.state != QUEUE_READY && target->file.state != QUEUE_WAITING))
        return true;
    Entry *entry = operate_claim(old->operate, target->queue, &target->file.name, false, error);
    return entry && (effect ? settle_by_effect(old, entry, error) : settle_outgoing(old, entry, error));
}

/* A post of which the spool has nothing. */
static bool tell_missing(const RestoredPost *post, void *data)
{
    OldSpool *old = data;
    if (g_hash_table_contains(old->traces, post->trace))
        return true;
    unsigned sent = sent_since_count(&old->sent, post->trace);
    g_autofree char *time = clock_text(post->seen_at);
    tell(old->reconcile,
         &(ReconcileFinding){.kind = "taken",
                             .list = post->list_id,
                             .trace = post->trace,
                             .message_id = post->message_id,
                             .unknown = true},
         sent > 0 ? g_strdup_printf("it was taken at %s and went to %u recipients; whether that are all is not known",
                                    time, sent)
                  : g_strdup_printf("it was taken at %s; whether anybody got it is not known", time));
    return true;
}

static bool settle_spool(OldSpool *old, GError **error)
{
    Reconcile *reconcile = old->reconcile;
    g_auto(GStrv) names = spool_queue_names(reconcile->spool, error);
    for (char **name = names; name && *name; name++) {
        RecoverReport report = {0};
        Queue *queue = spool_queue(reconcile->spool, *name, error);
        if (!queue || !recover_slice(queue, (Slice){0, 1}, false, &report, error))
            return false;
    }
    if (!names || !unit_settle(reconcile->store, reconcile->spool, true, error))
        return false;
    old->operate = operate_open(reconcile->spool, true, moved, old, error);
    bool settled = old->operate && each_entry(reconcile->spool, settle_entry, old, error) &&
                   operate_flush(old->operate, error) && operate_end(old->operate, error);
    g_clear_pointer(&old->operate, operate_free);
    if (settled && old->fault)
        return fail_with(error, &old->fault);
    return settled && restored_posts(reconcile->store, old->moment, tell_missing, old, error);
}

/* Deliveries leave no row in the database: it may look as old as the spool where only the trail tells of more. */
bool reconcile_old_spool(Reconcile *reconcile, int64_t moment, bool later, GError **error)
{
    int64_t newest;
    const char *trail = config_string(reconcile->config, "trail", "directory");
    OldSpool old = {.reconcile = reconcile,
                    .moment = moment,
                    .traces = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    bool settled = restored_newest(reconcile->store, &newest, error) &&
                   sent_since_read(&old.sent, trail, moment, error) &&
                   ((!later && newest <= moment && old.sent.last == 0) || settle_spool(&old, error));
    sent_since_clear(&old.sent);
    g_hash_table_unref(old.traces);
    g_clear_error(&old.fault);
    return settled;
}

/* ---- the database is older ---- */

typedef struct OldStore {
    Reconcile *reconcile;
    const SentSince *sent; /* NULL: the trail is not asked */
    GHashTable *numbers;  /* List-Id -> the greatest number of its posts in the spool (int64_t *) */
    GHashTable *entries;  /* List-Id -> how many entries are of it (unsigned) */
    GHashTable *accepted; /* traces of posts that were accepted */
} OldStore;

static bool look_at_entry(void *data, const QueueTarget *target, Entry *entry, GError **error)
{
    OldStore *old = data;
    const char *list = entry_list(entry);
    int64_t number = meta_integer(entry_meta(entry), KEY_POST_ID, 0);
    (void)error;
    if (number > 0 || strcmp(queue_name(target->queue), "pipeline") == 0)
        g_hash_table_add(old->accepted, g_strdup(entry_trace(entry)));
    if (!*list)
        return true;
    guint count = GPOINTER_TO_UINT(g_hash_table_lookup(old->entries, list));
    g_hash_table_insert(old->entries, g_strdup(list), GUINT_TO_POINTER(count + 1));
    const int64_t *most = g_hash_table_lookup(old->numbers, list);
    if (!most || *most < number)
        g_hash_table_insert(old->numbers, g_strdup(list), g_memdup2(&number, sizeof number));
    return true;
}

static bool settle_list(OldStore *old, const char *list, int64_t number, GError **error)
{
    bool raised;
    ReconcileFinding finding = {.kind = "number", .list = list};
    g_autoptr(GError) fault = NULL;
    if (restored_raise_number(old->reconcile->store, list, number + 1, &raised, &fault)) {
        if (raised)
            tell(old->reconcile, &finding,
                 g_strdup_printf("it had a post %" PRId64 ", so the next one gets a number behind that", number));
        return true;
    }
    if (!g_error_matches(fault, FAIL, FAIL_MISSING))
        return fail_with(error, &fault);
    finding.kind = "list";
    finding.unknown = true;
    tell(old->reconcile, &finding,
         g_strdup_printf("the database does not know the list; the spool has %u entries of it",
                         GPOINTER_TO_UINT(g_hash_table_lookup(old->entries, list))));
    return true;
}

static bool settle_lists(OldStore *old, GError **error)
{
    GHashTableIter all;
    gpointer id, count;
    /* Posts that a list took since, by the trail, had the next numbers; that some numbers are left out does no harm. */
    if (old->sent)
        g_hash_table_iter_init(&all, old->sent->taken);
    while (old->sent && g_hash_table_iter_next(&all, &id, &count)) {
        g_autoptr(GError) fault = NULL;
        g_autoptr(List) list = list_by_id(old->reconcile->store, id, &fault);
        if (!list && !g_error_matches(fault, FAIL, FAIL_MISSING))
            return fail_with(error, &fault);
        int64_t number = (list ? list->post_id - 1 : 0) + GPOINTER_TO_UINT(count);
        const int64_t *most = g_hash_table_lookup(old->numbers, id);
        if (list && (!most || *most < number))
            g_hash_table_insert(old->numbers, g_strdup(id), g_memdup2(&number, sizeof number));
    }
    g_autoptr(GList) lists = g_list_sort(g_hash_table_get_keys(old->numbers), (GCompareFunc)strcmp);
    for (const GList *at = lists; at; at = at->next)
        if (!settle_list(old, at->data, *(const int64_t *)g_hash_table_lookup(old->numbers, at->data), error))
            return false;
    return true;
}

typedef struct Gone {
    const OldStore *old;
    GArray *numbers; /* of int64_t: posts that went to their lists */
} Gone;

static bool look_at_held(const Held *held, void *data)
{
    Gone *gone = data;
    g_autoptr(json_t) meta = held->meta ? meta_parse(held->meta, strlen(held->meta), NULL) : NULL;
    const char *trace = meta ? meta_string(meta, META_TRACE, NULL) : NULL;
    const SentSince *sent = gone->old->sent;
    bool in_spool = trace && g_hash_table_contains(gone->old->accepted, trace);
    if (!trace || (!in_spool && !(sent && sent_since_count(sent, trace) > 0)))
        return true;
    tell(gone->old->reconcile,
         &(ReconcileFinding){.kind = "decided", .list = held->list_id, .trace = trace, .message_id = held->message_id},
         g_strdup_printf("the post held as %" PRId64 " was accepted later, as the %s shows, and is not held any more",
                         held->number, in_spool ? "spool" : "trail"));
    g_array_append_val(gone->numbers, held->number);
    return true;
}

static bool look_at_scheduled(const Scheduled *post, void *data)
{
    Gone *gone = data;
    g_autoptr(json_t) meta = post->meta ? meta_parse(post->meta, strlen(post->meta), NULL) : NULL;
    const char *trace = meta ? meta_string(meta, META_TRACE, NULL) : NULL;
    const SentSince *sent = gone->old->sent;
    const bool in_spool = trace && g_hash_table_contains(gone->old->accepted, trace);
    ReconcileFinding finding = {
        .kind = "scheduled", .list = post->list_id, .trace = trace, .message_id = post->message_id};
    if (in_spool || (trace && sent && sent_since_count(sent, trace) > 0)) {
        tell(gone->old->reconcile, &finding,
             g_strdup_printf("the scheduled post %" PRId64
                             " was sent later, as the %s shows, and does not wait any more",
                             post->number, in_spool ? "spool" : "trail"));
        g_array_append_val(gone->numbers, post->number);
    } else if (sent && post->due_at <= clock_now()) {
        g_autofree char *due = clock_text(post->due_at);
        finding.unknown = true;
        tell(gone->old->reconcile, &finding,
             g_strdup_printf("the scheduled post %" PRId64
                             " was due at %s; the site sends it when it starts, unless it "
                             "is dropped before",
                             post->number, due));
    }
    return true;
}

/* Remove held and scheduled posts that have gone to their lists: they must not go again. */
static bool settle_posts(OldStore *old, GError **error)
{
    Store *store = old->reconcile->store;
    g_autoptr(GArray) accepted = g_array_new(FALSE, FALSE, sizeof(int64_t));
    g_autoptr(GArray) sent = g_array_new(FALSE, FALSE, sizeof(int64_t));
    Gone held = {old, accepted}, scheduled = {old, sent};
    bool fine = held_each(store, NULL, look_at_held, &held, error);
    for (guint at = 0; fine && at < accepted->len; at++)
        fine = held_remove(store, g_array_index(accepted, int64_t, at), error);
    fine = fine && scheduled_each(store, NULL, look_at_scheduled, &scheduled, error);
    for (guint at = 0; fine && at < sent->len; at++)
        fine = scheduled_remove(store, g_array_index(sent, int64_t, at), error);
    return fine;
}

bool reconcile_old_store(Reconcile *reconcile, int64_t moment, GError **error)
{
    g_autoptr(GHashTable) numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(GHashTable) entries = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) accepted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    OldStore old = {.reconcile = reconcile, .numbers = numbers, .entries = entries, .accepted = accepted};
    g_auto(SentSince) sent = {0};
    const char *trail = config_string(reconcile->config, "trail", "directory");
    if (moment != 0 && !sent_since_read(&sent, trail, moment, error))
        return false;
    old.sent = moment != 0 ? &sent : NULL;
    if (!each_entry(reconcile->spool, look_at_entry, &old, error) || !settle_lists(&old, error) ||
        !settle_posts(&old, error))
        return false;
    if (moment == 0)
        return true;
    /* Posts that were held since are in no copy. */
    g_autofree char *time = clock_text(moment);
    for (guint at = 0; at < sent.held->len; at++) {
        const char *line = sent.held->pdata[at];
        g_autofree char *list = trace_line_value(line, "list"), *id = trace_line_value(line, "message-id");
        g_autofree char *trace = g_strndup(strstr(line, ": ") + 2, TRACE_DIGITS);
        tell(reconcile,
             &(ReconcileFinding){.kind = "held", .list = list, .trace = trace, .message_id = id, .unknown = true},
             g_strdup("it was held since; the post and what was decided about it are not in the database"));
    }
    tell(reconcile, &(ReconcileFinding){.kind = "database", .unknown = true},
         g_strdup_printf("what was changed since %s (members, settings, requests, held posts, digests) is not in it",
                         time));
    return true;
}
