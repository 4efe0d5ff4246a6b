/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/scheduler.h"

#include "base/clock.h"

/* Between the ranks of jobs, for those that will stand between them. */
#define RANK_GAP (UINT64_C(1) << 24)
/* Jobs that are looked at for one that may preempt, and peers of such a job. */
#define CANDIDATES_MAX 5000
#define CANDIDATE_PEERS_MAX 32
#define LOOK_AGAIN CLOCK_SECOND
#define LOOK_SOON (CLOCK_SECOND / 20)

void scheduler_init(Scheduler *scheduler, const SchedulerSettings *settings)
{
    *scheduler = (Scheduler){.settings = *settings,
                             .ready = g_sequence_new(NULL),
                             .asleep = g_sequence_new(NULL),
                             .alive = g_hash_table_new(NULL, NULL)};
    g_queue_init(&scheduler->jobs);
    g_queue_init(&scheduler->changed);
}

void scheduler_clear(Scheduler *scheduler)
{
    g_sequence_free(scheduler->ready);
    g_sequence_free(scheduler->asleep);
    g_hash_table_unref(scheduler->alive);
}

/* --- orders ------------------------------------------------------------- */

static gint compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static gint compare_peers(gconstpointer a, gconstpointer b, gpointer data)
{
    (void)data;
    return compare_numbers(((const Peer *)a)->job->rank, ((const Peer *)b)->job->rank);
}

static gint compare_ready(gconstpointer a, gconstpointer b, gpointer data)
{
    (void)data;
    const Destination *one = a;
    const Destination *other = b;
    gint order = compare_numbers(one->queue.first->rank, other->queue.first->rank);
    return order ? order : compare_numbers(one->queue.turn, other->queue.turn);
}

static gint compare_asleep(gconstpointer a, gconstpointer b, gpointer data)
{
    (void)data;
    return compare_numbers((uint64_t)((const Destination *)a)->queue.wake_at,
                           (uint64_t)((const Destination *)b)->queue.wake_at);
}

static Peer *first_peer(const Destination *destination)
{
    return g_sequence_get(g_sequence_get_begin_iter(destination->queue.peers));
}

static void unlist(GSequenceIter **place)
{
    if (*place)
        g_sequence_remove(*place);
    *place = NULL;
}

/* Put the destination where it belongs: among those with room, those whose time comes, or neither. */
static void look(Scheduler *scheduler, Destination *destination, int64_t now)
{
    int64_t wake_at = 0;
    bool waits = destination->queue.peers && !g_sequence_is_empty(destination->queue.peers);
    bool ready = waits && destination_room(destination, now, &wake_at);
    if (!waits)
        wake_at = destination->dead_until; /* it comes back to life though nothing waits */
    Job *first = waits ? first_peer(destination)->job : NULL;
    if (ready && destination->queue.ready && g_sequence_get_length(scheduler->ready) == 1) {
        destination->queue.first = first; /* nobody else: its place is right */
        return;
    }
    unlist(&destination->queue.ready);
    unlist(&destination->queue.asleep);
    destination->queue.first = first;
    destination->queue.wake_at = wake_at;
    if (ready)
        destination->queue.ready = g_sequence_insert_sorted(scheduler->ready, destination, compare_ready, NULL);
    else if (wake_at > 0)
        destination->queue.asleep = g_sequence_insert_sorted(scheduler->asleep, destination, compare_asleep, NULL);
}

static void look_at_changed(Scheduler *scheduler, int64_t now)
{
    for (GList *link; (link = g_queue_pop_head_link(&scheduler->changed)) != NULL;) {
        Destination *destination = link->data;
        destination->queue.changed = false;
        look(scheduler, destination, now);
    }
}

int64_t scheduler_wake(Scheduler *scheduler, int64_t now)
{
    look_at_changed(scheduler, now);
    for (;;) {
        GSequenceIter *first = g_sequence_get_begin_iter(scheduler->asleep);
        if (g_sequence_iter_is_end(first))
            return 0;
        Destination *destination = g_sequence_get(first);
        if (destination->queue.wake_at > now)
            return destination->queue.wake_at;
        if (destination_dead(destination) && destination->dead_until <= now)
            destination_revive(destination);
        look(scheduler, destination, now);
        if (destination->queue.asleep && destination->queue.wake_at <= now)
            return now + 1; /* rounding: a moment later */
    }
}

/* --- jobs --------------------------------------------------------------- */

/* job is in the list; gives it a rank between its neighbours', or new ranks to all, in the same order: so whatever is
 * sorted by them stays so. */
static void give_rank(Scheduler *scheduler, Job *job)
{
    const GList *prev = job->link.prev, *next = job->link.next;
    uint64_t before = prev ? ((const Job *)prev->data)->rank : 0, rank = 0;
    uint64_t after = next ? ((const Job *)next->data)->rank : before + 2 * RANK_GAP;
    if (after - before >= 2) {
        job->rank = before + (after - before) / 2;
        return;
    }
    for (GList *link = scheduler->jobs.head; link; link = link->next)
        ((Job *)link->data)->rank = rank += RANK_GAP;
}

void scheduler_add_job(Scheduler *scheduler, Job *job, void *owner, int64_t queued)
{
    *job = (Job){.scheduler = scheduler, .owner = owner, .queued = queued, .transport = job->transport,
                 .favoured = job->favoured};
    job->link.data = job;
    job->child.data = job;
    g_queue_init(&job->peers);
    g_queue_init(&job->children);
    /* A favoured job overtakes the first of those that are not favoured, if that has not been overtaken too often. */
    GList *others = job->favoured ? scheduler->jobs.head : NULL;
    while (others && ((Job *)others->data)->favoured)
        others = others->next;
    Job *other = others ? others->data : NULL;
    if (other && (other->level > 0 || other->overtaken >= SCHEDULER_FAVOUR * (other->selected + 1)))
        other = NULL;
    if (other)
        other->overtaken++;
    /* Else it goes behind all that are as old or older, and behind favoured ones, which were given their place; those
     * on a stack belong to the one below them. */
    GList *before = other ? NULL : scheduler->jobs.tail;
    for (; before; before = before->prev) {
        const Job *one = before->data;
        if (one->level == 0 && (one->favoured || one->queued <= queued))
            break;
    }
    if (other)
        g_queue_insert_before_link(&scheduler->jobs, &other->link, &job->link);
    else if (before)
        g_queue_insert_after_link(&scheduler->jobs, before, &job->link);
    else
        g_queue_push_head_link(&scheduler->jobs, &job->link);
    give_rank(scheduler, job);
    /* Only SCHEDULER_FAVOUR favoured jobs in a row may overtake another job. Those that stand right before the new one
     * count as such, or it would wait for them and then for as many again. */
    for (const GList *link = job->favoured ? NULL : job->link.prev;
         link && ((const Job *)link->data)->favoured && job->overtaken < SCHEDULER_FAVOUR; link = link->prev)
        job->overtaken++;
    g_hash_table_add(scheduler->alive, job);
}

/* It leaves the stack: unused slots go back to the one it preempted, as long as that is there. */
static void pop_job(Job *job)
{
    Job *parent = job->parent;
    if (parent && !job->adopted)
        parent->available -= job->used * (int64_t)job->scheduler->settings.slot_cost;
    if (parent)
        g_queue_unlink(&parent->children, &job->child);
    GList *link;
    while ((link = g_queue_pop_head_link(&job->children)) != NULL) {
        Job *child = link->data;
        child->parent = parent;
        child->adopted = true;
        if (parent)
            g_queue_push_tail_link(&parent->children, link);
    }
    job->parent = NULL;
    job->adopted = false;
    job->level = 0;
}

void scheduler_retire(Job *job)
{
    g_assert(g_queue_is_empty(&job->peers));
    pop_job(job);
    g_queue_unlink(&job->scheduler->jobs, &job->link);
    g_hash_table_remove(job->scheduler->alive, job);
    job->scheduler = NULL;
}

static size_t most_entries(const Job *job)
{
    return job->read + job->unread;
}

static size_t needed(const Job *job)
{
    size_t most = most_entries(job);
    return most > job->selected ? most - job->selected : 0;
}

static bool selectable(const Job *job)
{
    unsigned looked = 0;
    for (const GList *link = job->peers.head; link && looked < CANDIDATE_PEERS_MAX; link = link->next, looked++)
        if (((const Peer *)link->data)->destination->queue.ready)
            return true;
    return false;
}

/* --- preemption --------------------------------------------------------- */

/* The candidate as it was found within the last second, if it still is one. That there was none holds for a moment
 * only: mail that has just come must not wait a second to be seen. */
static Job *find_candidate(Job *current, int64_t now)
{
    const Scheduler *scheduler = current->scheduler;
    Job *job = current->candidate;
    bool known = current->looked > 0 && now - current->looked < (job ? LOOK_AGAIN : LOOK_SOON);
    if (known && !job)
        return NULL;
    if (known && g_hash_table_contains(scheduler->alive, job) && needed(job) > 0 &&
        g_queue_is_empty(&job->children) && job->rank > current->rank && selectable(job))
        return job;
    int64_t saved = (int64_t)(current->read - current->selected) + current->available;
    size_t most = saved > 0 ? (size_t)saved / scheduler->settings.slot_cost : 0;
    double best_score = 0;
    unsigned looked = 0;
    current->candidate = NULL;
    current->looked = now;
    for (GList *link = most > 0 ? current->link.next : NULL; link && looked < CANDIDATES_MAX;
         link = link->next, looked++) {
        job = link->data;
        if (!g_queue_is_empty(&job->children) || !selectable(job))
            continue;
        double waited = (double)((now - job->queued) / CLOCK_SECOND + 1);
        size_t need = needed(job);
        double score = waited / (double)most_entries(job);
        if (need > 0 && need <= most && score > best_score) {
            current->candidate = job;
            best_score = score;
        }
        if (waited <= best_score && job->level == 0)
            break;
    }
    return current->candidate;
}

/* The job that goes now: current, or the one that preempts it. */
static Job *preempt(Job *current, int64_t now)
{
    const SchedulerSettings *settings = &current->scheduler->settings;
    int64_t cost = settings->slot_cost;
    if (cost < 2 || current->available <= 0 || most_entries(current) < settings->minimum_slots * (size_t)cost)
        return current;
    Job *job = find_candidate(current, now);
    if (!job)
        return current;
    size_t need = needed(job);
    double asked = (double)need * (100 - settings->slot_discount) / 100;
    if ((double)(current->available / cost + settings->slot_loan) < asked)
        return current;
    pop_job(job);
    /* A destination that stands by the rank of its first job must not be among the others while that changes. */
    for (const GList *link = job->peers.head; link; link = link->next)
        unlist(&((const Peer *)link->data)->destination->queue.ready);
    GQueue *jobs = &current->scheduler->jobs;
    g_queue_unlink(jobs, &job->link);
    g_queue_insert_before_link(jobs, &current->link, &job->link);
    give_rank(current->scheduler, job);
    job->parent = current;
    job->level = current->level + 1;
    g_queue_push_tail_link(&current->children, &job->child);
    current->available -= (int64_t)need * cost;
    current->candidate = NULL;
    current->looked = 0;
    job->used = -(int64_t)need;
    for (GList *link = job->peers.head; link; link = link->next) { /* they stand by the new rank now */
        Peer *peer = link->data;
        g_sequence_sort_changed(peer->place, compare_peers, NULL);
        look(job->scheduler, peer->destination, now);
    }
    return job;
}

/* --- batches ------------------------------------------------------------ */

static Peer *find_peer(const Job *job, const Destination *destination)
{
    if (!destination->queue.peers || g_queue_is_empty((GQueue *)&job->peers))
        return NULL;
    Peer like = {.job = (Job *)job};
    GSequenceIter *place = g_sequence_lookup(destination->queue.peers, &like, compare_peers, NULL);
    return place ? g_sequence_get(place) : NULL;
}

void scheduler_add_batch(Job *job, Destination *destination, Batch *batch, bool new, int64_t now)
{
    Peer *peer = find_peer(job, destination);
    bool made = !peer;
    if (made) {
        peer = g_new0(Peer, 1);
        peer->job = job;
        peer->destination = destination;
        peer->link.data = peer;
        g_queue_init(&peer->batches);
        if (!destination->queue.peers)
            destination->queue.peers = g_sequence_new(NULL);
        peer->place = g_sequence_insert_sorted(destination->queue.peers, peer, compare_peers, NULL);
        g_queue_push_tail_link(&job->peers, &peer->link);
    }
    batch->job = job;
    if (new) {
        job->read++;
        g_queue_push_tail_link(&peer->batches, &batch->link);
    } else {
        job->selected -= job->selected > 0;
        g_queue_push_head_link(&peer->batches, &batch->link);
    }
    job->scheduler->waiting++;
    if (destination->waiting++ == 0)
        destination->waited_since = now;
    destination->waiting_recipients += batch->count;
    if (made)
        destination_changed(destination);
}

Batch *scheduler_open_batch(const Job *job, const Destination *destination)
{
    const Peer *peer = find_peer(job, destination);
    Batch *batch = peer ? peer->batches.tail->data : NULL;
    return batch && batch->count < batch->room && !batch->fate_of ? batch : NULL;
}

/* Takes a batch out of its peer, and the peer away with its last. */
static Batch *detach(Peer *peer, GList *link)
{
    Batch *batch = link->data;
    Destination *destination = peer->destination;
    g_queue_unlink(&peer->batches, link);
    peer->job->scheduler->waiting--;
    destination->waiting--;
    destination->waiting_recipients -= batch->count;
    if (g_queue_is_empty(&peer->batches)) {
        unlist(&destination->queue.ready); /* it may stand there by this job, which may end now */
        destination_changed(destination);
        g_sequence_remove(peer->place);
        g_queue_unlink(&peer->job->peers, &peer->link);
        g_free(peer);
    }
    return batch;
}

/* The peer's first batch goes; it earns its job a slot. The rest of one that is too large waits in its place. */
static Batch *select_batch(Peer *peer, int64_t now)
{
    Job *job = peer->job;
    Batch *batch = peer->batches.head->data;
    size_t most = destination_most(peer->destination, batch->count, now);
    if (batch->count > most) {
        Batch *rest = batch_cut(batch, most);
        rest->job = job;
        g_queue_insert_after_link(&peer->batches, &batch->link, &rest->link);
        job->read++;
        job->scheduler->waiting++;
        peer->destination->waiting++;
        if (job->scheduler->was_cut)
            job->scheduler->was_cut(rest);
    }
    job->selected++;
    job->available++;
    job->used++;
    return detach(peer, peer->batches.head);
}

Destination *scheduler_front(Scheduler *scheduler, int64_t now)
{
    look_at_changed(scheduler, now);
    GSequenceIter *front = g_sequence_get_begin_iter(scheduler->ready);
    return g_sequence_iter_is_end(front) ? NULL : g_sequence_get(front);
}

Batch *scheduler_next(Scheduler *scheduler, Destination *from, Destination **destination, int64_t now)
{
    if (!from && !(from = scheduler_front(scheduler, now)))
        return NULL;
    Peer *peer = first_peer(from);
    Job *job = preempt(peer->job, now);
    if (peer->job != job) { /* it has just come to the front: one of its peers at a destination with room goes */
        peer = NULL;
        for (const GList *link = job->peers.head; link; link = link->next) {
            Peer *one = link->data;
            if (one->destination->queue.ready &&
                (!peer || one->destination->queue.turn < peer->destination->queue.turn))
                peer = one;
        }
    }
    *destination = peer->destination;
    Batch *batch = select_batch(peer, now);
    (*destination)->queue.turn = ++scheduler->turns;
    destination_begin(*destination, batch->count);
    return batch;
}

Batch *scheduler_behind(Destination *destination, int64_t now)
{
    if (!destination->queue.peers || g_sequence_is_empty(destination->queue.peers) ||
        !destination_crowded(destination, now))
        return NULL;
    Batch *batch = first_peer(destination)->batches.head->data;
    return batch->count <= destination_most(destination, batch->count, now) ? batch : NULL;
}

void scheduler_take_behind(Destination *destination, Batch *batch, int64_t now)
{
    Peer *peer = first_peer(destination);
    g_assert(peer->batches.head->data == batch);
    select_batch(peer, now);
}

void scheduler_take(Destination *destination, const struct Nexthop *nexthop, GQueue *taken)
{
    GSequenceIter *place = destination->queue.peers ? g_sequence_get_begin_iter(destination->queue.peers) : NULL;
    while (place && !g_sequence_iter_is_end(place)) {
        Peer *peer = g_sequence_get(place);
        place = g_sequence_iter_next(place); /* the peer leaves with its last batch */
        for (GList *link = peer->batches.head, *next; link; link = next) {
            next = link->next;
            if (!nexthop || ((const Batch *)link->data)->nexthop == nexthop)
                g_queue_push_tail_link(taken, &detach(peer, link)->link);
        }
    }
}

Batch *scheduler_take_of(Job *job, Destination **destination)
{
    if (g_queue_is_empty(&job->peers))
        return NULL;
    Peer *peer = job->peers.head->data;
    *destination = peer->destination;
    return detach(peer, peer->batches.head);
}
