/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/runner.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "runners/process.h"
#include "runners/sweep.h"
#include "switchboard/claim.h"
#include "switchboard/fault.h"

#define BACKOFF_MIN CLOCK_SECOND
#define BACKOFF_MAX (300 * CLOCK_SECOND)
/* An entry that waits as long for its next try is told to the operator. */
#define LATE_DELAY (4 * CLOCK_SECOND)
/* So long the last hop's clean-up and the report to the master wait for another hop to do them on the way: the runners
 * behind this one are at work on its children, and their syncs would wait for ours. */
#define SETTLE_DELAY (CLOCK_SECOND / 10)
/* Of the descriptors, entries get one part in so many: what a runner makes of an entry may cost it several more. */
#define ENTRIES_PART 16
/* The first batch of a process; each is twice the one before. Should this process crash soon, as its predecessor may
 * have done, less work is lost. */
#define BATCH_FIRST 16
/* Entries whose delays are remembered; beyond that each waits BACKOFF_MAX. */
#define DELAYS_MAX 100000

/* The fate of one entry of the batch, beyond its Outcome. */
typedef struct EntryFate {
    int64_t wait;   /* not 0: the entry is put back, due then */
    Outcome *taker; /* the outcome of another entry, which takes this one; NULL: none does */
    bool freed;     /* that outcome was not committed, so the entry is not taken */
    bool settled;   /* shunt() has dealt with the entry, which failed for good */
} EntryFate;

/* An entry beyond the batch that handle() asked for. */
typedef struct Found {
    EntryName name;
    Outcome *taker;
} Found;

struct Runner {
    const RunnerSpec *spec;
    const Child *child;
    Slice slice;
    const Config *config;
    Spool *spool;
    Inbox *inbox;
    Hop *hop;
    void *data;
    GHashTable *delays; /* hash of an entry put back -> its last delay, us */
    uint64_t late;      /* entries whose last delay is LATE_DELAY or more */
    size_t batch_limit, batch_size; /* the most entries of a batch; the most of the next one */
    void *need;                   /* runner_need(), as the next two, which may be NULL */
    bool (*away)(void *need);
    bool (*keep)(void *need, GError **error);
    int64_t away_until;           /* monotonic: when away() is asked again; 0: it returned false */
    int64_t heartbeat_us;
    int64_t beat_at, sweep_at, intake_at, settle_at; /* monotonic: when each is due next */
    uint64_t progress, done;                         /* for child_beat() (base/child.h) */
    const char *holding; /* for child_beat(): the text of the entry that is held longest; NULL: none */
    Outcome **batch; /* in hand; NULL: none */
    EntryFate *fates;
    GArray *found;   /* of Found: claimed beyond the batch, not settled yet */
    Entry *looked_at; /* the last entry that runner_find() claimed */
    Entry *alone;    /* the only one in hand, charged with a crash until it is settled; NULL: several are, or none */
    size_t suspects; /* entries to be handled one at a time: one of them may have ended the process before */
    size_t in_batch;
    size_t backlog; /* as counted at counted_at */
    int64_t oldest, counted_at;
};

const char *runner_name(const Runner *runner)
{
    return runner->child->runner;
}

Slice runner_slice(const Runner *runner)
{
    return runner->slice;
}

const Config *runner_config(const Runner *runner)
{
    return runner->config;
}

Spool *runner_spool(Runner *runner)
{
    return runner->spool;
}

const char *runner_queue(const Runner *runner)
{
    return queue_name(inbox_queue(runner->inbox));
}

void runner_set_data(Runner *runner, void *data)
{
    runner->data = data;
}

void *runner_data(const Runner *runner)
{
    return runner->data;
}

void runner_sync_along(Runner *runner, int fd)
{
    hop_sync_along(runner->hop, fd);
}

void runner_need(Runner *runner, void *need, bool (*away)(void *need), bool (*keep)(void *need, GError **error))
{
    runner->need = need;
    runner->away = away;
    runner->keep = keep;
}

/* A pause is no stall: the master is told of progress. */
static bool is_paused(Runner *runner)
{
    int64_t now = clock_monotonic();
    if (runner->away && now >= runner->away_until) {
        runner->away_until = runner->away(runner->need) ? now + CLOCK_SECOND : 0;
        if (runner->away_until != 0)
            runner_progress(runner);
    }
    return now < runner->away_until;
}

/* Counting a long backlog costs a walk over it: once a second is enough. */
static void beat(Runner *runner)
{
    int64_t now = clock_monotonic();
    if (now >= runner->counted_at + CLOCK_SECOND || runner->backlog <= runner->in_batch) {
        runner->backlog = inbox_backlog(runner->inbox, clock_now(), &runner->oldest);
        runner->counted_at = now;
    }
    child_set_late(runner->late);
    child_beat(runner->progress, runner->done, runner->backlog + runner->in_batch, runner->oldest, runner->holding);
    runner->beat_at = now + runner->heartbeat_us;
}

void runner_progress(Runner *runner)
{
    runner->progress++;
    if (clock_monotonic() >= runner->beat_at)
        beat(runner);
}

bool runner_stopping(const Runner *runner)
{
    (void)runner;
    return child_stopping();
}

bool runner_alive(void *runner)
{
    runner_progress(runner);
    return !child_stopping();
}

/* End the process, because it is unknown what is on the disk. Recovery at the next start settles it. */
G_NORETURN static void die(const char *doing, GError *error)
{
    log_fatal(CHILD_EXIT_LATER, "%s: %s", doing, error->message);
}

/* ---- one thing of several entries: those that a handler finds, takes, leaves or lets wait ---- */

/* The place of an entry in the batch; -1 when it is not there. */
static gssize place_of(const Runner *runner, const uint8_t hash[HASH_SIZE])
{
    for (size_t i = 0; i < runner->in_batch; i++)
        if (runner->batch[i]->parent && memcmp(entry_name(runner->batch[i]->parent)->hash, hash, HASH_SIZE) == 0)
            return (gssize)i;
    return -1;
}

static Found *found_of(const Runner *runner, const uint8_t hash[HASH_SIZE])
{
    for (guint i = runner->found->len; i > 0; i--) {
        Found *found = &g_array_index(runner->found, Found, i - 1);
        if (memcmp(found->name.hash, hash, HASH_SIZE) == 0)
            return found;
    }
    return NULL;
}

void runner_wait(Runner *runner, Outcome *outcome, int64_t due)
{
    gssize place = place_of(runner, entry_name(outcome->parent)->hash);
    runner->fates[place].wait = due;
}

bool runner_find(Runner *runner, const uint8_t hash[HASH_SIZE], int64_t due, Entry **entry, GError **error)
{
    gssize place = place_of(runner, hash);
    *entry = place >= 0 ? runner->batch[place]->parent : NULL;
    if (place >= 0 && (runner->fates[place].taker || runner->batch[place]->error))
        return fail(error, FAIL_LATER, "%s is in other hands", entry_text(*entry));
    if (place >= 0)
        return true;
    g_clear_pointer(&runner->looked_at, entry_free);
    g_autoptr(GError) fault = NULL;
    runner->looked_at = inbox_claim_hash(runner->inbox, hash, due, &fault);
    if (fault)
        return fail_with(error, &fault);
    *entry = runner->looked_at;
    if (*entry) {
        Found found = {.name = *entry_name(*entry)};
        g_array_append_val(runner->found, found);
    }
    return true;
}

void runner_take(Runner *runner, Outcome *outcome, const uint8_t hash[HASH_SIZE])
{
    gssize place = place_of(runner, hash);
    Found *found = place < 0 ? found_of(runner, hash) : NULL;
    if (place >= 0)
        runner->fates[place].taker = outcome;
    else if (found)
        found->taker = outcome;
    outcome_take(outcome, place >= 0 ? entry_name(runner->batch[place]->parent) : &found->name);
}

bool runner_leave(Runner *runner, const uint8_t hash[HASH_SIZE], int64_t due, GError **error)
{
    gssize place = place_of(runner, hash);
    if (place >= 0) {
        if (due > 0 && runner->fates[place].wait > 0)
            runner->fates[place].wait = due;
        return true;
    }
    Found *found = found_of(runner, hash);
    g_clear_pointer(&runner->looked_at, entry_free);
    if (!found || !inbox_release_name(runner->inbox, &found->name, due, error))
        return found == NULL;
    g_array_remove_index_fast(runner->found, (guint)(found - (Found *)(void *)runner->found->data));
    return true;
}

/* Let the entries that a failed outcome took be taken or handled again. */
static void take_undo(Runner *runner, Outcome *outcome)
{
    g_clear_pointer(&outcome->taken, g_array_unref);
    for (size_t i = 0; i < runner->in_batch; i++)
        if (runner->fates[i].taker == outcome)
            runner->fates[i].taker = NULL;
    for (guint i = 0; i < runner->found->len; i++) {
        Found *found = &g_array_index(runner->found, Found, i);
        if (found->taker == outcome)
            found->taker = NULL;
    }
}

/* After a commit: put back the entries found beyond the batch, but for those whose taker was committed. */
static void take_settle(Runner *runner)
{
    g_clear_pointer(&runner->looked_at, entry_free);
    for (guint i = 0; i < runner->found->len; i++) {
        const Found *found = &g_array_index(runner->found, Found, i);
        g_autoptr(GError) error = NULL;
        if ((!found->taker || found->taker->error) && !inbox_release_name(runner->inbox, &found->name, 0, &error))
            die("put an entry back", error);
    }
    g_array_set_size(runner->found, 0);
}

/* ---- entries that come again, and those that do not ---- */

static void forget_delay(Runner *runner, const Entry *entry)
{
    if (g_hash_table_size(runner->delays) == 0)
        return;
    char digits[HASH_DIGITS + 1];
    name_hash_format(entry_name(entry)->hash, digits);
    const int64_t *last = g_hash_table_lookup(runner->delays, digits);
    runner->late -= last && *last >= LATE_DELAY;
    g_hash_table_remove(runner->delays, digits);
}

/* Puts an entry back, due then or, with 0, as it was; it is not charged with what happens later. */
static void release(Runner *runner, Outcome *outcome, int64_t due)
{
    g_autoptr(GError) error = NULL;
    Entry *entry = g_steal_pointer(&outcome->parent);
    if (entry == runner->alone && !entry_end_work(entry, &error)) {
        log_warn("%s queue=%s %s", entry_trace(entry), queue_name(entry_queue(entry)), error->message);
        g_clear_error(&error);
    }
    if (!inbox_release(runner->inbox, entry, due, &error))
        die("put an entry back", error);
}

/* Puts an entry back that failed for now; the delay doubles each time. */
static void put_back(Runner *runner, Outcome *outcome)
{
    Entry *entry = outcome->parent;
    char digits[HASH_DIGITS + 1];
    name_hash_format(entry_name(entry)->hash, digits);
    int64_t *last = g_hash_table_lookup(runner->delays, digits), delay = BACKOFF_MAX;
    if (last || g_hash_table_size(runner->delays) < DELAYS_MAX) {
        delay = last ? MIN(*last * 2, BACKOFF_MAX) : BACKOFF_MIN;
        runner->late += delay >= LATE_DELAY && (!last || *last < LATE_DELAY);
        g_hash_table_insert(runner->delays, g_strdup(digits), g_memdup2(&delay, sizeof delay));
    }
    log_error("%s list=%s queue=%s result=later delay=%" G_GINT64_FORMAT "s (%s)", entry_trace(entry),
              entry_list(entry), queue_name(entry_queue(entry)), delay / CLOCK_SECOND, outcome->error->message);
    release(runner, outcome, clock_now() + delay);
}

/* Turns the outcome into one child in shunt that tells why. When even that
 * cannot be written, the entry is preserved where it is; without a shunt it waits. */
static void shunt(Runner *runner, Outcome *outcome)
{
    g_clear_pointer(&outcome->taken, g_array_unref);
    Entry *entry = outcome->parent;
    g_autoptr(GError) gone = NULL;
    if (!spool_target(runner->spool, SHUNT_QUEUE, &gone)) {
        g_prefix_error(&gone, "%s; it cannot be shunted: ", outcome->error->message);
        g_clear_error(&outcome->error);
        outcome->error = g_steal_pointer(&gone);
        put_back(runner, outcome);
        return;
    }
    const char *from = queue_name(entry_queue(entry));
    log_error("%s list=%s queue=%s result=shunt (%s)", entry_trace(entry), entry_list(entry), from,
              outcome->error->message);
    g_ptr_array_set_size(outcome->drafts, 0);
    outcome_shunt(outcome, runner_name(runner), outcome->error->message);
    g_autoptr(GError) why = g_steal_pointer(&outcome->error), error = NULL;
    if (!hop_commit(runner->hop, &outcome, 1, &error))
        die("commit", error);
    forget_delay(runner, entry);
    if (!outcome->error) {
        outcome->error = g_steal_pointer(&why); /* for committed(): what the entry asked for is not done */
        return;
    }
    log_error("%s queue=%s cannot be shunted (%s); it is preserved there", entry_trace(entry), from,
              outcome->error->message);
    if (!inbox_preserve(runner->inbox, g_steal_pointer(&outcome->parent), &error))
        die("preserve an entry", error);
}

typedef bool EntryStep(Runner *runner, Entry *entry, Outcome *outcome, GError **error);

static bool end_work(const Runner *runner, Entry *entry, GError **error)
{
    return entry == runner->alone || entry_end_work(entry, error);
}

/* Takes one step, of handle() or finish(), with one entry, which is charged with the crash should the process die. */
static void step_one(Runner *runner, Outcome *outcome, EntryStep *step)
{
    Entry *entry = outcome->parent;
    runner->holding = entry_text(entry);
    g_autoptr(GError) error = NULL;
    bool handled = entry_begin_work(entry, &error) && step(runner, entry, outcome, &error) &&
                   end_work(runner, entry, &error);
    if (!handled) {
        g_ptr_array_set_size(outcome->drafts, 0);
        outcome->error = error ? g_steal_pointer(&error) : g_error_new(FAIL, FAIL_NEVER, "failed without saying why");
        g_autoptr(GError) fault = NULL;
        if (!end_work(runner, entry, &fault)) /* it is charged a crash that was none */
            log_warn("%s queue=%s %s", entry_trace(entry), queue_name(entry_queue(entry)), fault->message);
        take_undo(runner, outcome);
    }
    runner_progress(runner);
}

/* Whether its batches keep others waiting. */
static bool is_bounded(const RunnerSpec *spec)
{
    return spec->begin_batch || spec->end_batch;
}

static void handle_batch(Runner *runner, Outcome **batch, size_t count)
{
    const RunnerSpec *spec = runner->spec;
    g_autoptr(GError) error = NULL, uncharged = NULL;
    Entry *first = batch[0]->parent;
    bool sound = (!runner->keep || runner->keep(runner->need, &error)) &&
                 (!spec->begin_batch || spec->begin_batch(runner, &error));
    /* From here on what ends the process may be the fault of an entry; begin_batch() has seen none. */
    child_set_charged(true);
    beat(runner);
    if (count == 1)
        runner->alone = first;
    if (count == 1 && !entry_begin_work(first, &uncharged)) /* a disk in that state holds up no mail */
        log_warn("%s queue=%s %s", entry_trace(first), queue_name(entry_queue(first)), uncharged->message);
    int64_t until = is_bounded(spec) ? clock_monotonic() + RUNNER_BATCH_US : INT64_MAX;
    size_t handled = 0;
    for (; sound && handled < count && !child_stopping() && (handled == 0 || clock_monotonic() < until); handled++)
        if (!runner->fates[handled].taker)
            step_one(runner, batch[handled], spec->handle);
    if (sound && spec->end_batch)
        sound = spec->end_batch(runner, &error);
    for (size_t i = 0; sound && spec->finish && i < handled; i++)
        if (!runner->fates[i].taker && runner->fates[i].wait == 0 && !batch[i]->error)
            step_one(runner, batch[i], spec->finish);
    /* Everything of a batch whose database transaction failed is put back. */
    for (size_t i = 0; !sound && i < count; i++)
        if (!batch[i]->error) {
            g_ptr_array_set_size(batch[i]->drafts, 0);
            batch[i]->error = g_error_copy(error);
            batch[i]->error->code = FAIL_LATER;
        }
    /* Stopping, or others have waited long enough: the rest goes back as it was. */
    for (size_t i = handled; sound && i < count; i++) {
        if (!runner->fates[i].taker)
            release(runner, batch[i], 0);
    }
}

/* Move the entries without fault together in one commit, and the others one by one. */
static void commit_batch(Runner *runner, Outcome **batch, size_t count)
{
    g_autofree Outcome **sound = g_new(Outcome *, count);
    size_t used = 0, waiting = 0;
    for (size_t i = 0; i < count; i++) {
        bool decided = batch[i]->parent && !batch[i]->error && !runner->fates[i].taker;
        if (decided && runner->fates[i].wait == 0)
            sound[used++] = batch[i];
        else
            waiting += decided;
    }
    g_autoptr(GError) error = NULL;
    if (used + waiting > 0 && !hop_commit(runner->hop, sound, used, &error))
        die("commit", error);
    runner->holding = NULL; /* it may be freed now */
    take_settle(runner);
    for (size_t i = 0; i < count; i++) {
        EntryFate *fate = &runner->fates[i];
        fate->freed = fate->taker && fate->taker->error;
        if (fate->freed)
            fate->taker = NULL;
    }
    for (size_t i = 0; i < count; i++) { /* those that are done, or failed for good; the others stay in hand */
        EntryFate *fate = &runner->fates[i];
        if (!batch[i]->parent)
            continue;
        if (batch[i]->error && !g_error_matches(batch[i]->error, FAIL, FAIL_LATER) &&
            !g_error_matches(batch[i]->error, FAIL, FAIL_RACE)) {
            shunt(runner, batch[i]);
            fate->settled = true;
        }
        if (batch[i]->error)
            continue;
        forget_delay(runner, batch[i]->parent);
        runner->done += fate->wait == 0 && !fate->freed;
    }
    if (runner->spec->committed)
        runner->spec->committed(runner);
    /* At last those that wait or failed for now go back. Until then a process that dies leaves them claimed, so that
     * the next one knows what was in hand. */
    for (size_t i = 0; i < count; i++) {
        const EntryFate *fate = &runner->fates[i];
        if (!batch[i]->parent || fate->settled)
            continue;
        if (batch[i]->error)
            put_back(runner, batch[i]);
        else if ((fate->wait != 0 || fate->freed) && !fate->taker)
            release(runner, batch[i], fate->wait);
    }
    runner->alone = NULL;
    child_set_charged(false);
}

/* Handles and commits the next count entries of what was claimed. */
static void work_on(Runner *runner, size_t count)
{
    runner->holding = entry_text(runner->batch[0]->parent);
    handle_batch(runner, runner->batch, count);
    commit_batch(runner, runner->batch, count);
    runner->batch += count;
    runner->fates += count;
    runner->in_batch -= count;
    runner->progress++;
}

/* Appends to batch those of the claimed entries that crashed a runner, or those that did not; returns how many. */
static size_t pick(const GPtrArray *entries, bool crashed, GPtrArray *batch)
{
    guint before = batch->len;
    for (guint i = 0; i < entries->len; i++)
        if ((entry_crashes(entries->pdata[i]) > 0) == crashed)
            g_ptr_array_add(batch, outcome_new(entries->pdata[i]));
    return batch->len - before;
}

/* An entry that crashed a runner is handled alone, when the others are committed: should it do so again, it takes
 * nobody's work with it. Where the process before died with several in hand, and nobody is charged, as many entries are
 * handled one at a time: the one that does it again is then named. */
static void work(Runner *runner)
{
    g_autoptr(GPtrArray) entries = g_ptr_array_new();
    g_autoptr(GError) error = NULL;
    if (!inbox_claim(runner->inbox, runner->batch_size, runner->spec->durable_claim, entries, &error))
        die("claim", error);
    if (entries->len == 0)
        return;
    g_autoptr(GPtrArray) batch = g_ptr_array_new_with_free_func((GDestroyNotify)outcome_free);
    size_t together = pick(entries, false, batch);
    pick(entries, true, batch);
    if (runner->suspects > 0)
        together = 0;
    runner->suspects -= MIN(runner->suspects, batch->len);
    g_autofree EntryFate *fates = g_new0(EntryFate, batch->len);
    runner->in_batch = batch->len;
    runner->batch = (Outcome **)batch->pdata;
    runner->fates = fates;
    if (together > 0)
        work_on(runner, together);
    while (runner->in_batch > 0)
        work_on(runner, 1);
    runner->batch = NULL;
    runner->fates = NULL;
    runner->batch_size = MIN(2 * runner->batch_size, runner->batch_limit);
    runner->settle_at = clock_monotonic() + SETTLE_DELAY;
    runner->beat_at = MIN(runner->beat_at, runner->settle_at);
}

/* Sleeps until there is a reason not to. */
static void wait(Runner *runner)
{
    bool paused = is_paused(runner);
    int64_t until = runner->beat_at - clock_monotonic();
    int64_t due = paused ? runner->away_until - clock_monotonic() : inbox_wait(runner->inbox, clock_now());
    if (due >= 0 || paused)
        until = MIN(until, due);
    if (hop_owes(runner->hop))
        until = MIN(until, runner->settle_at - clock_monotonic());
    if (runner->spec->idle && !paused) {
        int64_t wanted = runner->spec->idle(runner);
        if (wanted >= 0)
            until = MIN(until, wanted);
    }
    struct pollfd fds[] = {{.fd = inbox_fd(runner->inbox), .events = POLLIN},
                           {.fd = runner->child->wake_fd, .events = POLLIN},
                           {.fd = runner->child->status_fd, .events = 0}};
    struct timespec timeout = {.tv_sec = MAX(until, 0) / CLOCK_SECOND, .tv_nsec = MAX(until, 0) % CLOCK_SECOND * 1000};
    if (ppoll(fds, G_N_ELEMENTS(fds), &timeout, NULL) > 0) {
        if (fds[2].revents & (POLLERR | POLLHUP))
            child_stop();
        if (fds[1].revents)
            child_reopen();
    }
    if (clock_monotonic() >= runner->beat_at)
        beat(runner);
}

static void loop(void *data)
{
    Runner *runner = data;
    g_autoptr(GError) error = NULL;
    beat(runner);
    while (!child_stopping()) {
        if (!inbox_refresh(runner->inbox, &error))
            die("list the queue", error);
        if (inbox_needs_start(runner->inbox)) {
            child_stop();
            break;
        }
        if (inbox_wait(runner->inbox, clock_now()) == 0 && !is_paused(runner)) {
            work(runner);
            continue;
        }
        bool sweeps = clock_monotonic() >= runner->sweep_at; /* it finds nothing half done */
        if (hop_owes(runner->hop) && (sweeps || clock_monotonic() >= runner->settle_at)) {
            if (!hop_settle(runner->hop, &error))
                die("settle", error);
            runner_progress(runner); /* it may take many turns */
            continue;
        }
        if (sweeps) {
            beat(runner); /* it may be long, or end us: no entry is to blame */
            sweep_slice(inbox_queue(runner->inbox), runner->slice,
                        config_duration(runner->config, "spool", "tmp_lifetime"));
            g_hash_table_remove_all(runner->delays); /* entries that an operator took away are among them */
            runner->late = 0;
            runner->sweep_at = clock_monotonic() + SWEEP_INTERVAL;
        }
        if (clock_monotonic() >= runner->intake_at) { /* perhaps some seconds late: no wake-up of its own is worth it */
            sweep_intake(inbox_queue(runner->inbox), runner->slice);
            runner->intake_at = clock_monotonic() + RECOVER_INTAKE_INTERVAL;
        }
        wait(runner);
    }
    beat(runner);
    if (!hop_settle_all(runner->hop, &error))
        die("settle", error);
}

static bool start(void *data, const Process *process, GError **error)
{
    Runner *runner = data;
    const RunnerSpec *spec = runner->spec;
    const Config *config = process->config;
    runner->child = process->child;
    runner->config = config;
    runner->slice = (Slice){runner->child->instance, runner->child->instances};
    size_t wanted = (size_t)config_integer(config, "spool", "batch_limit");
    runner->batch_limit = fs_files_allowed(wanted, ENTRIES_PART); /* an entry that is claimed has its file open */
    if (runner->batch_limit < wanted)
        log_info("at most %zu entries are taken at a time, not %zu: the system allows too few open files",
                 runner->batch_limit, wanted);
    runner->batch_size = MIN(BATCH_FIRST, runner->batch_limit);
    runner->heartbeat_us = config_duration(config, "master", "heartbeat_interval");
    runner->spool = spool_open(config_string(config, "spool", "directory"), error);
    if (!runner->spool)
        return false;
    g_autofree char *section = g_strdup_printf("runner.%s", runner->child->runner);
    const char *queue = spec->queue ? spec->queue : config_string(config, section, "queue");
    runner->inbox = inbox_open(runner->spool, queue ? queue : runner->child->runner, runner->slice,
                               wakeup_configured(config), error);
    if (!runner->inbox)
        return false;
    if (spec->longest_wait > 0)
        inbox_bound_wait(runner->inbox, spec->longest_wait);
    runner->suspects = inbox_left_in_hand(runner->inbox);
    if (is_bounded(spec))
        inbox_bound_octets(runner->inbox, RUNNER_BATCH_OCTETS);
    runner->hop = hop_new(runner->spool);
    runner->delays = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    runner->found = g_array_new(FALSE, FALSE, sizeof(Found));
    return !spec->start || spec->start(runner, error);
}

static void stop(void *data)
{
    Runner *runner = data;
    if (runner->hop && runner->spec->stop)
        runner->spec->stop(runner);
    g_clear_pointer(&runner->delays, g_hash_table_unref);
    g_clear_pointer(&runner->found, g_array_unref);
    g_clear_pointer(&runner->hop, hop_free);
    g_clear_pointer(&runner->inbox, inbox_free);
    g_clear_pointer(&runner->spool, spool_free);
}

int runner_main(const RunnerSpec *spec, int argc, char **argv)
{
    const ProcessSpec process = {.name = spec->name, .start = start, .work = loop, .stop = stop};
    Runner runner = {.spec = spec};
    return process_main(&process, &runner, argc, argv);
}
