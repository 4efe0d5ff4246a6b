/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The proof that nothing is lost and nothing done twice, by every state that a power cut can leave (crashlog.h) of
 * scripted runs that make every transition of switchboard/INTERNALS.md: recover, drain, compare with what was promised.
 * Then the proof of the proof: leave out any one sync, or let any sync and its neighbour change places, and a violation
 * must be found.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "switchboard/intake.h"
#include "switchboard/recover.h"
#include "t/switchboard/crashexcuses.h"
#include "t/switchboard/crashworld.h"

#define VALGRIND_SAMPLE 97 /* of the distinct states, every so many is drained there */

#define HALF_0 ((Slice){0, 2})
#define HALF_1 ((Slice){1, 2})

static CrashWorld *world;

static void store(int first, int second)
{
    int messages[] = {first, second};
    crashworld_store(world, messages, second < 0 ? 1 : 2);
}

/* One batch of one slice; the process dies before its call number die_in. */
static void work_until(const char *queue, Slice slice, int die_in)
{
    g_autoptr(Inbox) inbox = crashworld_inbox(world, queue, slice);
    g_autoptr(Hop) hop = hop_new(world->spool);
    unsigned worked = 0;
    world->log->die_in = die_in;
    bool ended = crashworld_work(world, inbox, hop, &worked) && hop_settle(hop, NULL);
    g_assert_cmpuint(worked, >, 0);
    g_assert_true(ended == (die_in < 0));
    world->log->die_in = -1;
}

static void work(const char *queue, Slice slice)
{
    work_until(queue, slice, -1);
}

/* Number of the call after `from` that text names. */
static guint calls_until(guint from, const char *text)
{
    guint calls = 0;
    for (guint i = from; i < world->log->ops->len; i++) {
        const CrashOp *op = &g_array_index(world->log->ops, CrashOp, i);
        if (strcmp(crashlog_text(op), text) == 0)
            return calls;
        calls += op->call != CRASH_NOTE;
    }
    g_error("the script never did: %s", text);
}

static void script_intake(void)
{
    store(1, 2);
    store(4, -1);
}

/* Two slices at once, and two batches of one, so that clean-up is owed
 * from one to the next. */
static void script_hops(void)
{
    store(0, 1);
    store(2, -1);
    crashlog_begin(world->log);
    g_autoptr(Inbox) first = crashworld_inbox(world, "in", HALF_0);
    g_autoptr(Inbox) second = crashworld_inbox(world, "in", HALF_1);
    g_autoptr(Hop) hop_first = hop_new(world->spool);
    g_autoptr(Hop) hop_second = hop_new(world->spool);
    unsigned worked = 0;
    g_assert_true(crashworld_work(world, first, hop_first, &worked));
    g_assert_true(crashworld_work(world, second, hop_second, &worked));
    store(3, -1);
    g_usleep(2000); /* polled */
    g_assert_true(crashworld_work(world, second, hop_second, &worked));
    g_assert_cmpuint(worked, ==, 4);
    g_assert_true(hop_settle(hop_second, NULL));
    g_assert_true(hop_settle(hop_first, NULL));
}

/* So many parents at once that they are committed in their directory. */
static void script_together(void)
{
    store(1, 5);
    store(7, -1);
    crashlog_begin(world->log);
    work("in", (Slice){0, 1});
}

/* Each runner works on what the one before has published and not yet synced:
 * intake, in, out, retry. */
static void script_chain(void)
{
    static const char *const queues[] = {"in", "out", "out", "retry", "retry"};
    static const Slice slices[] = {HALF_1, HALF_0, HALF_1, HALF_0, HALF_1};
    Hop *hops[G_N_ELEMENTS(queues)];
    Inbox *inboxes[G_N_ELEMENTS(queues)];
    unsigned worked = 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(queues); i++) {
        inboxes[i] = crashworld_inbox(world, queues[i], slices[i]);
        hops[i] = hop_new(world->spool);
    }
    store(3, -1);
    g_usleep(2000); /* polled */
    for (unsigned i = 0; i < G_N_ELEMENTS(queues); i++) {
        g_usleep(2000);
        g_assert_true(crashworld_work(world, inboxes[i], hops[i], &worked));
    }
    g_assert_cmpuint(worked, ==, 4);
    for (unsigned i = 0; i < G_N_ELEMENTS(queues); i++) {
        g_assert_true(hop_settle(hops[i], NULL));
        hop_free(hops[i]);
        inbox_free(inboxes[i]);
    }
}

/* Marks, bounces, an entry put off into retry, and there once more. */
static void script_deliver(void)
{
    store(1, 2);
    work("in", HALF_0);
    work("in", HALF_1);
    crashlog_begin(world->log);
    /* The bounce of the first goes on at once, and must not come again. */
    static const char *const queues[] = {"out", "bounces", "bounces", "out"};
    const Slice slices[] = {HALF_0, HALF_0, HALF_1, HALF_1};
    for (unsigned i = 0; i < G_N_ELEMENTS(queues); i++) {
        g_autoptr(Inbox) inbox = crashworld_inbox(world, queues[i], slices[i]);
        g_autoptr(Hop) hop = hop_new(world->spool);
        unsigned worked = 0;
        g_assert_true(crashworld_work(world, inbox, hop, &worked) && hop_settle(hop, NULL));
    }
    for (unsigned i = 0; i < 2; i++) {
        g_autoptr(Inbox) inbox = crashworld_inbox(world, "retry", (Slice){i, 2});
        g_autoptr(GPtrArray) entries = g_ptr_array_new();
        g_assert_true(inbox_claim(inbox, 1, true, entries, NULL));
        if (entries->len == 1) {
            int64_t due = entry_name(entries->pdata[0])->due + INT64_C(300000000);
            g_assert_true(inbox_release(inbox, entries->pdata[0], due, NULL));
            work("retry", (Slice){i, 2});
        }
    }
}

static void script_preserve(void)
{
    store(4, -1);
    crashlog_begin(world->log);
    work("in", HALF_0);
}

/* An intake that died, swept beside one that lives. */
static void script_sweep(void)
{
    world->log->die_in = 2;
    Intake intake = {.draft = draft_new("in", json_object())};
    g_autoptr(GBytes) octets = g_bytes_new_static("half", 4);
    draft_add_message(intake.draft, octets);
    g_assert_false(intake_store(world->spool, &intake, 1, false));
    g_clear_error(&intake.error);
    draft_free(intake.draft);
    world->log->die_in = -1;
    store(1, -1);
    crashlog_begin(world->log);
    unsigned swept = 0, total = 0;
    for (unsigned i = 0; i < 2; i++, total += swept)
        g_assert_true(recover_sweep(spool_queue(world->spool, "in", NULL), (Slice){i, 2}, -INT64_C(3600000000), &swept,
                                    NULL));
    g_assert_cmpuint(total, ==, 1);
    work("in", HALF_0);
}

/* One octet of a message that waits goes bad. */
static void script_damage(void)
{
    store(5, -1);
    crashworld_damage(world);
    crashlog_begin(world->log);
    unsigned worked = 0;
    g_autoptr(Inbox) inbox = crashworld_inbox(world, "in", HALF_1);
    g_autoptr(Hop) hop = hop_new(world->spool);
    g_assert_true(crashworld_work(world, inbox, hop, &worked));
    g_assert_cmpuint(worked, ==, 0);
}

#define THREE (-1) /* messages, which are committed together */
#define TAKER 10   /* and the one that it takes */
#define TAKEN 11

static void store_one_or(int message)
{
    if (world->ledger)
        close(crashledger_open(world));
    store(message == THREE ? 1 : message, message == TAKER ? TAKEN : -1);
    if (message == THREE)
        store(5, 7);
}

/* How many calls of the hop of message come before the one that text names: the hop is made once, and forgotten. */
static int calls_before(int message, Slice slice, const char *text)
{
    g_autoptr(CrashLog) log = crashlog_new();
    CrashLog *real = world->log;
    world->log = log;
    crashlog_record(log);
    store_one_or(message);
    guint from = log->ops->len;
    work("in", slice);
    int calls = (int)calls_until(from, text);
    world->log = real;
    crashworld_wipe(world);
    crashlog_record(real);
    return calls;
}

/* Dies at that call, recovers, and works on. */
static void die_and_go_on(int message, Slice slice, const char *text, int further)
{
    int calls = calls_before(message, slice, text) + further;
    store_one_or(message);
    crashlog_begin(world->log);
    work_until("in", slice, calls);
    world->other_outcome = false;
    crashlog_begin_changes(world->log);
    g_autoptr(Inbox) inbox = crashworld_inbox(world, "in", slice); /* recovers */
    g_assert_nonnull(inbox);
    unsigned worked = 0;
    g_autoptr(Hop) hop = hop_new(world->spool);
    g_assert_true(crashworld_work(world, inbox, hop, &worked) && hop_settle(hop, NULL));
}

static void script_killed_deciding(void)
{
    die_and_go_on(6, HALF_0, "decide in .bak", 1);
}

static void script_killed_together(void)
{
    die_and_go_on(THREE, (Slice){0, 1}, "rename in .bak .done", 3);
}

/* Intake that dies before it syncs leaves something whole, which R8 takes in; then it is as good as acknowledged. */
static void script_killed_intake(void)
{
    world->log->die_in = 4; /* created, written in three pieces */
    g_assert_false(crashworld_try_store(world, 1));
    world->log->die_in = -1;
    g_autoptr(Inbox) inbox = crashworld_inbox(world, "in", HALF_0);
    crashlog_note(world->log, (CrashNotes){.acknowledged = 1 << 1});
    unsigned worked = 0;
    g_autoptr(Hop) hop = hop_new(world->spool);
    g_assert_true(crashworld_work(world, inbox, hop, &worked) && hop_settle(hop, NULL));
    g_assert_cmpuint(worked, ==, 1);
}

static void script_killed_publishing(void)
{
    die_and_go_on(9, HALF_1, "rename out child.tmp .msg", 1);
}

/* One message takes another, which is in its children then (T8a); the ledger knows before the commit. */
static void script_takes(void)
{
    world->ledger = true;
    store_one_or(TAKER);
    crashlog_begin(world->log);
    work("in", HALF_0);
}

/* The same, and it dies while it publishes: the one that was taken comes back (R4), and is known. */
static void script_takes_and_dies(void)
{
    world->ledger = true;
    die_and_go_on(TAKER, HALF_0, "rename out child.tmp .msg", 1);
}

static void script_killed_before(void)
{
    world->other_outcome = true;
    die_and_go_on(7, HALF_0, "decide in .bak", 0);
}

/* A child's sync fails; the next try has another outcome. */
static void script_failed(void)
{
    store(8, -1);
    crashlog_begin(world->log);
    g_autoptr(Inbox) inbox = crashworld_inbox(world, "in", HALF_1);
    g_autoptr(Hop) hop = hop_new(world->spool);
    unsigned worked = 0;
    world->other_outcome = true;
    world->log->fail_call = FS_SYNC_FILE;
    world->log->fail_in = 1;
    g_assert_true(crashworld_work(world, inbox, hop, &worked));
    world->other_outcome = false;
    g_usleep(2000);
    g_assert_true(crashworld_work(world, inbox, hop, &worked) && hop_settle(hop, NULL));
    g_assert_cmpuint(worked, ==, 2);
}

typedef struct Script {
    const char *name;
    void (*run)(void);
    void (*elsewhere)(CrashWorld *world); /* in place of run */
    unsigned deep; /* of the distinct states, every so many has its recovery cut short as well */
} Script;

static const Script scripts[] = {
    {"intake", script_intake, NULL, 100},
    {"hops", script_hops, NULL, 400},
    {"together", script_together, NULL, 100},
    {"chain", script_chain, NULL, 100},
    {"deliver", script_deliver, NULL, 20},
    {"ledger", NULL, crashledger_script, 20},
    {"preserve", script_preserve, NULL, 1},
    {"sweep", script_sweep, NULL, 1},
    {"damage", script_damage, NULL, 1},
    {"killed deciding", script_killed_deciding, NULL, 10},
    {"killed together", script_killed_together, NULL, 50},
    {"killed intake", script_killed_intake, NULL, 20},
    {"killed publishing", script_killed_publishing, NULL, 10},
    {"killed before", script_killed_before, NULL, 5},
    {"failed", script_failed, NULL, 5},
    {"takes", script_takes, NULL, 20},
    {"takes and dies", script_takes_and_dies, NULL, 20},
    {"operator holds", NULL, crashoperator_hold, 600},
    {"operator requeues", NULL, crashoperator_again, 20},
    {"operator deletes", NULL, crashoperator_delete, 20},
    {"operator and preserved", NULL, crashoperator_preserved, 5},
    {"operator and damage", NULL, crashoperator_corrupt, 5},
    {"operator killed", NULL, crashoperator_killed, 20},
};

/* The drains made so far, by state. */
typedef struct Proof {
    const Script *script;
    GHashTable *results; /* of CrashResult */
    unsigned deep, second; /* states that had a second cut; those after it */
    CrashLog *log;
    int quiet;           /* where the log of the drains goes */
    bool used[G_N_ELEMENTS(harmless)];
    char *violation;
    unsigned states;     /* with what was promised then */
} Proof;

static void count_state(Proof *proof, const CrashState *state, CrashResult *result)
{
    proof->states++;
    char *fault = crashworld_judge(result, &state->notes);
    if (fault)
        proof->violation = g_strdup_printf("power cut after operation %u: %s", state->after, fault);
    g_free(fault);
}

static CrashResult *result_of(Proof *proof, const CrashState *state)
{
    CrashResult *result = g_hash_table_lookup(proof->results, &state->hash);
    if (!result) {
        result = crashworld_drain(world, state);
        g_hash_table_insert(proof->results, g_memdup2(&state->hash, sizeof state->hash), result);
    }
    return result;
}

static bool try_state(void *data, const CrashState *state)
{
    Proof *proof = data;
    count_state(proof, state, result_of(proof, state));
    return proof->violation == NULL;
}

/* As try_state, and the power goes once more, anywhere in the recovery from the first cut or in the work after it. */
static bool try_twice(void *data, const CrashState *state)
{
    Proof *proof = data;
    bool known = g_hash_table_contains(proof->results, &state->hash);
    if (!try_state(data, state) || known || proof->deep++ % proof->script->deep != 0)
        return proof->violation == NULL;
    g_autoptr(CrashLog) log = crashlog_new();
    crashlog_load(log, state);
    world->log = log;
    crashlog_record(log);
    CrashResult *result = crashworld_drain(world, state);
    crashlog_stop();
    world->log = NULL;
    crashresult_free(result);
    unsigned before = proof->states;
    crashlog_states(log, (CrashMutation){CRASH_AS_IS, 0}, try_state, proof);
    proof->second += proof->states - before;
    proof->states = before;
    return proof->violation == NULL;
}

/* Runs with the log of the switchboard put aside: it tells of each damage. */
static void quietly(Proof *proof, void (*run)(Proof *proof))
{
    int loud = dup(STDERR_FILENO);
    dup2(proof->quiet, STDERR_FILENO);
    run(proof);
    dup2(loud, STDERR_FILENO);
    close(loud);
}

static bool ignore(void *data, const CrashState *state)
{
    return true;
}

/* Under valgrind: what is looked for are faults of memory; violations are found without it. */
static bool try_sampled(void *data, const CrashState *state)
{
    return state->hash % VALGRIND_SAMPLE != 0 || try_state(data, state);
}

static void print_steps(const CrashLog *log)
{
    for (guint i = log->first; i < log->ops->len; i++)
        g_test_message("%u %s", i, crashlog_text(&g_array_index(log->ops, CrashOp, i)));
}

static bool is_sync(const CrashLog *log, guint i)
{
    FsCall call = g_array_index(log->ops, CrashOp, i).call;
    return call == FS_SYNC_FILE || call == FS_SYNC_DIR;
}

typedef struct Tally {
    unsigned caught, vacuous, harmless;
} Tally;

static bool used_anywhere[G_N_ELEMENTS(harmless)];
static unsigned proved; /* scripts */

static bool is_harmless(Proof *proof, const char *change)
{
    for (size_t i = 0; i < G_N_ELEMENTS(harmless); i++)
        if ((!harmless[i].script || strcmp(harmless[i].script, proof->script->name) == 0) &&
            g_pattern_match_simple(harmless[i].change, change)) {
            proof->used[i] = used_anywhere[i] = true;
            return true;
        }
    return false;
}

/* What is excused and does not happen any more hides the next fault. */
static void check_excuses(const Proof *proof)
{
    for (size_t i = 0; i < G_N_ELEMENTS(harmless); i++)
        if (harmless[i].script && strcmp(harmless[i].script, proof->script->name) == 0 && !proof->used[i]) {
            g_test_message("not needed in the table of harmless changes: %s", harmless[i].change);
            g_test_fail();
        }
}

/* The same of those that hold for every script, when all were run. */
static void test_excuses(void)
{
    if (proved < G_N_ELEMENTS(scripts) || g_getenv("LISTRUNNER_VALGRIND")) {
        g_test_skip("for all scripts only, and all their changes");
        return;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(harmless); i++)
        if (!used_anywhere[i]) {
            g_test_message("not needed in the table of harmless changes: %s", harmless[i].change);
            g_test_fail();
        }
}

/* "no sync dir in", "sync dir in, unlink in .done": the steps as they are after the change. */
static char *change_text(const CrashOp *op, CrashMutation mutation)
{
    g_autofree char *first = g_strdup(crashlog_text(op));
    if (mutation.change == CRASH_DROP)
        return g_strconcat("no ", first, NULL);
    return g_strdup_printf("%s, %s%s", crashlog_text(op + 1), first,
                           crashlog_apart(op, op + 1) ? " of another file" : "");
}

/* Plays the changed log; a violation must be found. */
static void mutate(Proof *proof, CrashMutation mutation, Tally *tally)
{
    const CrashOp *op = &g_array_index(proof->log->ops, CrashOp, mutation.at);
    g_autofree char *change = change_text(op, mutation);
    bool differs = crashlog_states(proof->log, mutation, try_state, proof);
    if (proof->violation) {
        if (g_test_verbose())
            g_test_message("%u %s: caught: %s", mutation.at, change, proof->violation);
        tally->caught++;
    } else if (!differs) {
        tally->vacuous++;
    } else {
        tally->harmless++;
        bool known = is_harmless(proof, change);
        if (!known || g_test_verbose())
            g_test_message("%u %s: %s", mutation.at, change, known ? "harmless" : "NOT CAUGHT");
        if (!known)
            g_test_fail();
    }
    g_clear_pointer(&proof->violation, g_free);
}

/* True when the sync at that place has nothing to do. */
static bool is_vacuous(const Proof *proof, guint at)
{
    return is_sync(proof->log, at) && !crashlog_states(proof->log, (CrashMutation){CRASH_DROP, at}, ignore, NULL);
}

/* Whether the order of this step and the next can matter: one is a sync, or something felt outside, or both change one
 * file. Steps of different files with no sync between have no order on the disk that anybody may count on. */
static bool matters(const CrashLog *log, guint i)
{
    const CrashOp *op = &g_array_index(log->ops, CrashOp, i), *next = op + 1;
    if (is_sync(log, i) || is_sync(log, i + 1))
        return is_sync(log, i) != is_sync(log, i + 1);
    if (op->call == CRASH_NOTE || next->call == CRASH_NOTE)
        return true;
    return !crashlog_apart(op, next) && op->call != FS_CREATE && next->call != FS_WRITE;
}

static void mutate_all(Proof *proof)
{
    Tally dropped = {0}, swapped = {0};
    for (guint i = proof->log->changes; i < proof->log->ops->len; i++) {
        if (is_sync(proof->log, i))
            mutate(proof, (CrashMutation){CRASH_DROP, i}, &dropped);
        if (i + 1 < proof->log->ops->len && matters(proof->log, i) && !is_vacuous(proof, i) &&
            !is_vacuous(proof, i + 1))
            mutate(proof, (CrashMutation){CRASH_SWAP, i}, &swapped);
    }
    check_excuses(proof);
    g_test_message("syncs left out: %u caught, %u harmless (and %u that had nothing to sync)", dropped.caught,
                   dropped.harmless, dropped.vacuous);
    g_test_message("steps changed about: %u caught, %u harmless", swapped.caught, swapped.harmless);
}

static void prove(Proof *proof)
{
    bool valgrind = g_getenv("LISTRUNNER_VALGRIND") != NULL;
    crashlog_states(proof->log, (CrashMutation){CRASH_AS_IS, 0}, valgrind ? try_sampled : try_twice, proof);
    g_test_message("%s: %u steps, %u states, after a second cut %u; %u distinct on the disk; %s", proof->script->name,
                   proof->log->ops->len - proof->log->first, proof->states, proof->second,
                   g_hash_table_size(proof->results), proof->violation ? proof->violation : "no violation");
    if (proof->violation)
        g_test_fail();
    else if (!valgrind)
        mutate_all(proof);
    g_clear_pointer(&proof->violation, g_free);
}

static void test_script(gconstpointer data)
{
    const Script *script = data;
    CrashWorld one;
    crashworld_init(&one);
    world = &one;
    g_autoptr(CrashLog) log = crashlog_new();
    g_autoptr(GHashTable) results = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                                          (GDestroyNotify)crashresult_free);
    auto_fd quiet = memfd_create("log", MFD_CLOEXEC);
    Proof proof = {.script = script, .results = results, .log = log, .quiet = quiet};
    one.log = log;
    crashlog_record(log);
    if (script->run)
        script->run();
    else
        script->elsewhere(&one);
    crashlog_stop();
    one.log = NULL; /* the drains note nothing */
    if (g_test_verbose())
        print_steps(log);
    quietly(&proof, prove);
    proved++;
    crashworld_clear(&one);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(scripts); i++) {
        g_autofree char *path = g_strdup_printf("/crash states/%s", scripts[i].name);
        g_test_add_data_func(path, &scripts[i], test_script);
    }
    g_test_add_func("/crash states/excuses", test_excuses);
    return g_test_run();
}
