/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/claim.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "switchboard/corrupt_internal.h"
#include "switchboard/index_internal.h"
#include "switchboard/recover.h"
#include "switchboard/suffix_internal.h"

/* After which an entry that the system could not read is tried again. */
#define UNREADABLE_DELAY (60 * CLOCK_SECOND)
/* So far a due time may lie ahead before anybody asks why; one that a fresh entry has is off its arrival by less than
 * FRESH, which is for names that were taken. */
#define AHEAD (CLOCK_SECOND / 10)
#define FRESH 1000
/* How often a directory that is gone is looked for where no event tells. */
#define GONE_LOOK CLOCK_SECOND
/* After which claims are tried again when the system refused to rename one (the disk is full). */
#define REFUSED_PAUSE (10 * CLOCK_SECOND)

struct Inbox {
    Queue *queue;
    Slice slice;
    size_t left_in_hand;
    Index index;
    Index ahead;     /* entries that are ready though their due time lies ahead, since the clock was set back */
    bool put_off;    /* Wakeup */
    int64_t offset;  /* of the wall clock from the monotonic one, as last seen */
    int64_t now;     /* the wall clock when names were last looked at */
    int watch;       /* inotify, or -1: the directory is listed every poll_us */
    int spool_watch; /* in it: which queue directories come and go */
    QueuePlace place;
    bool must_look;  /* whether the directory is still there */
    int64_t poll_us;
    int64_t listed;  /* monotonic time of the last listing */
    bool must_list;  /* the kernel dropped events, or the index ran dry before its horizon */
    size_t octets;   /* inbox_bound_octets() */
    int64_t longest; /* inbox_bound_wait() */
    int64_t paused_until; /* monotonic: a rename was refused, and nothing is claimed before */
    GArray *left;         /* hashes, sorted, of what was there at a start without all queue directories; else NULL */
    bool complete;        /* they are all there now */
};

static void watch_directory(Inbox *inbox)
{
    inbox->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", queue_fd(inbox->queue));
    g_autofree char *above = g_strdup_printf("/proc/self/fd/%d", spool_fd(queue_spool(inbox->queue)));
    if (inbox->watch >= 0)
        inbox->spool_watch = inotify_add_watch(inbox->watch, above, IN_CREATE | IN_DELETE | IN_MOVE | IN_ONLYDIR);
    if (inbox->spool_watch >= 0 && inotify_add_watch(inbox->watch, path, IN_MOVED_TO | IN_ONLYDIR) >= 0)
        return;
    log_warn("queue %s: inotify is refused (%s); the directory is listed every %" PRId64 " ms instead",
             queue_name(inbox->queue), g_strerror(errno), inbox->poll_us / 1000);
    if (inbox->watch >= 0)
        close(inbox->watch);
    inbox->watch = -1;
}

/* Whether somebody wanted the entry to wait until its due time. The name of one that nobody put off has its arrival
 * there, which orders it among others and is no reason to wait: it lies ahead when the clock was set back. */
static bool was_put_off(const Inbox *inbox, const char *file, const EntryName *name)
{
    int64_t arrival;
    g_autoptr(GError) error = NULL;
    if (inbox->put_off)
        return true;
    if (entry_read_arrival(inbox->queue, file, &arrival, &error))
        return name->due < arrival || name->due >= arrival + FRESH;
    if (!g_error_matches(error, FAIL, FAIL_MISSING)) /* else it was taken away meanwhile */
        log_warn("queue %s: %s; the entry waits until the time in its name", queue_name(inbox->queue), error->message);
    return true;
}

static bool is_left(const Inbox *inbox, const uint8_t *hash)
{
    return inbox->left && g_array_binary_search(inbox->left, hash, name_hash_compare, NULL);
}

static void note_left(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    (void)queue;
    (void)file;
    (void)rest;
    Inbox *inbox = data;
    if (slice_owns(inbox->slice, name->hash))
        g_array_append_vals(inbox->left, name->hash, 1);
}

static bool recover(Inbox *inbox, GError **error)
{
    RecoverReport report = {0};
    GError *fault = NULL;
    if (!recover_slice(inbox->queue, inbox->slice, false, &report, &fault)) {
        if (!report.missing) {
            g_propagate_error(error, fault);
            return false;
        }
        /* While the directory of a queue is gone, nobody knows which of the entries that are here have children there.
         * They wait until it is back; those that come later have none, and are worked on. */
        g_autoptr(GError) why = fault;
        inbox->left = g_array_new(FALSE, FALSE, HASH_SIZE);
        if (!queue_visit(inbox->queue, note_left, inbox, error))
            return false;
        g_array_sort(inbox->left, name_hash_compare);
        log_error("%s; what is here (entries: %u) waits until then, and only new mail is worked on", why->message,
                  inbox->left->len);
        return true;
    }
    if (report.rolled_forward || report.rolled_back || report.preserved || report.completed || report.strays)
        log_info("queue %s: recovered: %u completed, %u put back, %u set aside, %u taken in, %u strays",
                 queue_name(inbox->queue), report.rolled_forward, report.rolled_back, report.preserved,
                 report.completed, report.strays);
    inbox->left_in_hand = report.rolled_back;
    return true;
}

/* Takes a ready entry of this slice into the index. */
static void consider(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    (void)queue;
    Inbox *inbox = data;
    if (strcmp(rest, SUFFIX_READY) != 0 || !slice_owns(inbox->slice, name->hash) || is_left(inbox, name->hash))
        return;
    bool far = name->due - inbox->longest > inbox->now; /* put off by a clock that was ahead */
    bool fresh = name->due > inbox->now + AHEAD && !far && !was_put_off(inbox, file, name);
    index_add(fresh || far ? &inbox->ahead : &inbox->index, name);
}

/* Takes one back that was due already, or would have been. */
static void keep(Inbox *inbox, const EntryName *name)
{
    index_add(name->due > clock_now() ? &inbox->ahead : &inbox->index, name);
}

static void reset(Inbox *inbox)
{
    index_reset(&inbox->index);
    index_reset(&inbox->ahead);
    inbox->now = clock_now();
}

static bool list_directory(Inbox *inbox, GError **error)
{
    reset(inbox);
    if (!queue_visit(inbox->queue, consider, inbox, error))
        return false;
    inbox->must_list = false;
    inbox->listed = clock_monotonic();
    return true;
}

Wakeup wakeup_configured(const Config *config)
{
    return (Wakeup){.polls = g_strcmp0(config_string(config, "spool", "wakeup"), "poll") == 0,
                    .poll_us = config_duration(config, "spool", "poll_interval")};
}

Inbox *inbox_open(Spool *spool, const char *name, Slice slice, Wakeup wakeup, GError **error)
{
    Queue *queue = spool_queue(spool, name, error);
    if (!queue)
        return NULL;
    g_autoptr(Inbox) inbox = g_new0(Inbox, 1);
    inbox->queue = queue;
    inbox->slice = slice;
    inbox->watch = inbox->spool_watch = -1;
    inbox->poll_us = wakeup.poll_us > 0 ? wakeup.poll_us : CLOCK_SECOND;
    inbox->octets = SIZE_MAX;
    inbox->longest = INT64_MAX;
    inbox->put_off = wakeup.put_off;
    index_init(&inbox->index, INBOX_INDEX_MAX);
    index_init(&inbox->ahead, INBOX_INDEX_MAX);
    if (!recover(inbox, error))
        return NULL;
    if (!wakeup.polls)
        watch_directory(inbox);
    if (!list_directory(inbox, error))
        return NULL;
    return g_steal_pointer(&inbox);
}

void inbox_free(Inbox *inbox)
{
    if (!inbox)
        return;
    if (inbox->watch >= 0)
        close(inbox->watch);
    index_clear(&inbox->index);
    index_clear(&inbox->ahead);
    g_clear_pointer(&inbox->left, g_array_unref);
    g_free(inbox);
}

size_t inbox_left_in_hand(const Inbox *inbox)
{
    return inbox->left_in_hand;
}

Queue *inbox_queue(const Inbox *inbox)
{
    return inbox->queue;
}

int inbox_fd(const Inbox *inbox)
{
    return inbox->watch;
}

static void read_events(Inbox *inbox)
{
    char buffer[64 * 1024] __attribute__((aligned(__alignof__(struct inotify_event))));
    EntryName name;
    const char *rest;
    ssize_t got;
    inbox->now = clock_now();
    while ((got = read(inbox->watch, buffer, sizeof buffer)) > 0)
        for (char *at = buffer; at < buffer + got;) {
            const struct inotify_event *event = (const struct inotify_event *)at;
            if (event->mask & (IN_Q_OVERFLOW | IN_IGNORED))
                inbox->must_list = inbox->must_look = true;
            else if (event->wd == inbox->spool_watch)
                inbox->must_look |= inbox->left ||
                                    (event->len > 0 && strcmp(event->name, queue_name(inbox->queue)) == 0);
            else if (event->len > 0 && name_parse(event->name, &name, &rest))
                consider(inbox, inbox->queue, event->name, &name, rest);
            at += sizeof *event + event->len;
        }
}

/* Nothing is claimed while the directory is gone, although its descriptor may still lead to it. */
static void look_for_directory(Inbox *inbox)
{
    g_autoptr(GError) fault = NULL;
    QueuePlace before = inbox->place;
    inbox->place = queue_place(inbox->queue, &fault);
    inbox->must_look = false;
    inbox->listed = clock_monotonic();
    if (inbox->place == before)
        return;
    if (inbox->place == QUEUE_HERE)
        log_info("queue %s: its directory is back", queue_name(inbox->queue));
    else if (inbox->place == QUEUE_GONE)
        log_error("%s; until then nothing is taken from the queue", fault->message);
    else
        log_warn("queue %s: another directory is in the place of its own", queue_name(inbox->queue));
    reset(inbox);
    inbox->must_list = inbox->place == QUEUE_HERE;
}

static bool is_partial(const Index *index)
{
    return index->horizon != INT64_MAX;
}

bool inbox_needs_start(const Inbox *inbox)
{
    return inbox->place == QUEUE_REPLACED || inbox->complete;
}

bool inbox_refresh(Inbox *inbox, GError **error)
{
    bool waited = clock_monotonic() >= inbox->listed + (inbox->watch >= 0 ? GONE_LOOK : inbox->poll_us);
    if (inbox->watch >= 0)
        read_events(inbox);
    else if (waited)
        inbox->must_list = inbox->must_look = true;
    if (inbox->left && (inbox->must_look || (inbox->watch < 0 && waited))) {
        g_auto(GStrv) missing = spool_missing_queues(queue_spool(inbox->queue), NULL);
        inbox->complete = missing && !*missing;
    }
    if (inbox->must_look || (inbox->place != QUEUE_HERE && waited))
        look_for_directory(inbox);
    if (inbox->place != QUEUE_HERE)
        return true;
    /* Entries that were due are not, once the clock was set back: they are looked at anew. */
    int64_t offset = clock_now() - clock_monotonic();
    inbox->must_list |= offset < inbox->offset - AHEAD;
    inbox->offset = offset;
    if ((is_partial(&inbox->index) && index_length(&inbox->index) == 0) ||
        (is_partial(&inbox->ahead) && index_length(&inbox->ahead) == 0))
        inbox->must_list = true;
    return !inbox->must_list || list_directory(inbox, error);
}

static int64_t pause_left(const Inbox *inbox)
{
    int64_t left = inbox->paused_until > 0 ? inbox->paused_until - clock_monotonic() : 0;
    return MAX(left, 0);
}

int64_t inbox_wait(const Inbox *inbox, int64_t now)
{
    int64_t wait = -1;
    const EntryName *first = index_first(&inbox->index);
    if (inbox->place != QUEUE_HERE) {
        wait = inbox->listed + GONE_LOOK - clock_monotonic();
        return MAX(wait, 1); /* 0 would say that there is work */
    }
    if (inbox->must_list)
        return 0;
    if (index_first(&inbox->ahead) || (first && first->due <= now))
        return pause_left(inbox);
    if (first)
        wait = first->due - now;
    else if (is_partial(&inbox->index))
        wait = MAX(inbox->index.horizon - now, 0);
    if (inbox->watch < 0) {
        int64_t listing = inbox->listed + inbox->poll_us - clock_monotonic(); /* MAX would look at the clock twice */
        listing = MAX(listing, 0);
        wait = wait < 0 ? listing : MIN(wait, listing);
    }
    return wait;
}

size_t inbox_backlog(const Inbox *inbox, int64_t now, int64_t *oldest)
{
    const EntryName *first = index_first(&inbox->index);
    if (oldest)
        *oldest = first && first->due <= now ? first->due : index_first(&inbox->ahead) ? now : 0;
    return index_due(&inbox->index, now) + index_length(&inbox->ahead);
}

/* T4. */
bool inbox_release_name(Inbox *inbox, const EntryName *name, int64_t due, GError **error)
{
    EntryName ready = *name;
    char claimed[FILE_NAME_SIZE];
    suffix_file(name, SUFFIX_CLAIMED, claimed);
    if (due > 0)
        ready.due = due;
    if (!suffix_publish(inbox->queue, &ready, claimed, error))
        return false;
    if (inbox->watch < 0 && due > 0) /* no event will tell */
        index_add(&inbox->index, &ready);
    else if (inbox->watch < 0)
        keep(inbox, &ready);
    return true;
}

static bool next_due(Inbox *inbox, int64_t now, EntryName *name)
{
    const EntryName *first = index_first(&inbox->index), *ahead = index_first(&inbox->ahead);
    if ((!ahead && (!first || first->due > now)) || pause_left(inbox) > 0)
        return false;
    *name = ahead ? *ahead : *first; /* it came before the clock was set back */
    index_remove_first(ahead ? &inbox->ahead : &inbox->index);
    return true;
}

size_t inbox_pick(Inbox *inbox, size_t limit, GArray *claims)
{
    int64_t now = clock_now();
    size_t picked = 0;
    Claim claim = {.queue = inbox->queue};
    for (; picked < limit && next_due(inbox, now, &claim.name); picked++)
        g_array_append_val(claims, claim);
    return picked;
}

void claim_begin(Claim *claim)
{
    char ready[FILE_NAME_SIZE], claimed[FILE_NAME_SIZE];
    suffix_file(&claim->name, SUFFIX_READY, ready);
    suffix_file(&claim->name, SUFFIX_CLAIMED, claimed);
    claim->renamed = fs_rename_new(queue_fd(claim->queue), ready, claimed, &claim->fault);
    if (claim->renamed)
        claim->entry = entry_open_begin(claim->queue, claimed, true, &claim->fault);
}

void claim_make(Claim *claim)
{
    if (claim->entry && !entry_open_end(claim->entry, &claim->fault))
        g_clear_pointer(&claim->entry, entry_free);
}

bool inbox_take(Inbox *inbox, Claim *claim, GPtrArray *entries, GError **error)
{
    if (claim->entry) {
        g_ptr_array_add(entries, g_steal_pointer(&claim->entry));
        return true;
    }
    const char *queue = queue_name(claim->queue);
    g_autoptr(GError) fault = g_steal_pointer(&claim->fault);
    bool later = g_error_matches(fault, FAIL, FAIL_LATER), never = g_error_matches(fault, FAIL, FAIL_NEVER);
    if (g_error_matches(fault, FAIL, FAIL_MISSING))
        return true; /* an operator was faster, or it was known twice */
    if (claim->renamed && never) { /* it is damaged */
        log_error("queue %s: %s", queue, fault->message);
        return corrupt_set_aside(inbox->queue, &hand_runner, &claim->name, error);
    }
    if (claim->renamed) { /* it cannot be read now, and waits, so that those behind it go on */
        log_error("queue %s: %s; it is tried again in %" PRId64 " s", queue, fault->message,
                  UNREADABLE_DELAY / CLOCK_SECOND);
        return inbox_release_name(inbox, &claim->name, clock_now() + UNREADABLE_DELAY, error);
    }
    if (never) {
        log_error("queue %s: %s; it stays there", queue, fault->message);
        return true;
    }
    if (!later) {
        g_propagate_prefixed_error(error, g_steal_pointer(&fault), "queue %s: ", queue);
        return false;
    }
    keep(inbox, &claim->name); /* it is as it was; the next would fare like it */
    if (pause_left(inbox) == 0) { /* else another was refused before */
        log_error("queue %s: %s; no entry is taken for %" PRId64 " s", queue, fault->message,
                  REFUSED_PAUSE / CLOCK_SECOND);
        inbox->paused_until = clock_monotonic() + REFUSED_PAUSE;
    }
    return true;
}

void inbox_bound_octets(Inbox *inbox, size_t octets)
{
    inbox->octets = octets;
}

void inbox_bound_wait(Inbox *inbox, int64_t longest)
{
    inbox->longest = longest;
    inbox->must_list = true;
}

bool inbox_claim(Inbox *inbox, size_t limit, bool durable, GPtrArray *entries, GError **error)
{
    int64_t now = clock_now();
    guint before = entries->len, counted = before;
    size_t octets = 0;
    bool sound = true;
    Claim claim = {.queue = inbox->queue};
    while (sound && entries->len - before < limit && octets < inbox->octets && next_due(inbox, now, &claim.name)) {
        claim_begin(&claim);
        claim_make(&claim);
        sound = inbox_take(inbox, &claim, entries, error);
        for (; counted < entries->len; counted++)
            octets += entry_message_length(entries->pdata[counted]);
    }
    if (durable && entries->len > before && !fs_sync_dir(queue_fd(inbox->queue), sound ? error : NULL)) {
        if (sound)
            g_prefix_error(error, "queue %s: ", queue_name(inbox->queue));
        return false;
    }
    return sound;
}

/* One try; *entry stays NULL when there is no such ready entry. */
static bool claim_known(Inbox *inbox, const EntryName *name, Entry **entry, GError **error)
{
    g_autoptr(GPtrArray) claimed = g_ptr_array_new();
    Claim claim = {.queue = inbox->queue, .name = *name};
    claim_begin(&claim);
    if (!claim.renamed && g_error_matches(claim.fault, FAIL, FAIL_LATER)) { /* it is there */
        g_propagate_prefixed_error(error, claim.fault, "queue %s: ", queue_name(inbox->queue));
        return false;
    }
    claim_make(&claim);
    if (!inbox_take(inbox, &claim, claimed, error))
        return false;
    if (claimed->len > 0)
        *entry = claimed->pdata[0];
    return true;
}

/* A search of the directory for one hash. */
typedef struct HashSearch {
    const uint8_t *hash;
    GArray *found; /* of EntryName */
} HashSearch;

static void search_file(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    (void)queue;
    (void)file;
    HashSearch *search = data;
    if (strcmp(rest, SUFFIX_READY) == 0 && memcmp(name->hash, search->hash, HASH_SIZE) == 0)
        g_array_append_val(search->found, *name);
}

static void find_known(const Index *index, const uint8_t *hash, GArray *found)
{
    for (guint i = 0; i < index->heap->len; i++) {
        const EntryName *known = &g_array_index(index->heap, EntryName, i);
        if (memcmp(known->hash, hash, HASH_SIZE) == 0)
            g_array_append_val(found, *known);
    }
}

Entry *inbox_claim_hash(Inbox *inbox, const uint8_t hash[HASH_SIZE], int64_t due, GError **error)
{
    Entry *entry = NULL;
    EntryName name = {.due = due};
    memcpy(name.hash, hash, HASH_SIZE);
    if (is_left(inbox, hash)) {
        fail(error, FAIL_LATER, "queue %s: its entries wait for a queue directory that is gone",
             queue_name(inbox->queue));
        return NULL;
    }
    if (!claim_known(inbox, &name, &entry, error) || entry)
        return entry;
    if (inbox->watch >= 0)
        read_events(inbox);
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(EntryName));
    find_known(&inbox->index, hash, found);
    find_known(&inbox->ahead, hash, found);
    HashSearch search = {hash, found};
    bool partly = inbox->must_list || is_partial(&inbox->index) || is_partial(&inbox->ahead);
    if (partly && !queue_visit(inbox->queue, search_file, &search, error))
        return NULL;
    for (guint i = 0; i < found->len && !entry; i++)
        if (!claim_known(inbox, &g_array_index(found, EntryName, i), &entry, error))
            return NULL;
    return entry;
}

bool inbox_release(Inbox *inbox, Entry *entry, int64_t due, GError **error)
{
    EntryName name = *entry_name(entry);
    entry_free(entry);
    return inbox_release_name(inbox, &name, due, error);
}

bool inbox_preserve(Inbox *inbox, Entry *entry, GError **error)
{
    EntryName name = *entry_name(entry);
    entry_free(entry);
    char claimed[FILE_NAME_SIZE];
    suffix_file(&name, SUFFIX_CLAIMED, claimed);
    return suffix_preserve(inbox->queue, &name, claimed, error);
}
